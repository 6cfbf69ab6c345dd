import { Popover } from '@mantine/core'
import { type Ref, type RefObject, useEffect, useImperativeHandle, useState } from 'react'

interface ParsedValueProps {
  hint: string
  /** Whether the input was rejected. */
  isWrong: boolean
  input: RefObject<HTMLInputElement | null>
}

/** Shows below an input how it was understood, or its error. */
export default function ParsedValue({ hint, isWrong, input }: ParsedValueProps) {
  // Opens after mounting: its target is known only then.
  const [isOpen, setOpen] = useState(false)
  useEffect(() => setOpen(true), [])
  return (
    <Popover opened={isOpen} position="bottom-end" shadow="md" withRoles={false}>
      <Popover.Target>
        <InputTarget input={input} />
      </Popover.Target>
      <Popover.Dropdown
        p={6}
        fz={12}
        maw={320}
        role={isWrong ? 'alert' : 'status'}
        {...(isWrong && { c: 'var(--bad)' })}
      >
        {hint}
      </Popover.Dropdown>
    </Popover>
  )
}

/** Passes the input where the library expects its own target. */
function InputTarget({ input, ref }: Pick<ParsedValueProps, 'input'> & { ref?: Ref<HTMLElement> }) {
  useImperativeHandle(ref, () => input.current as HTMLElement, [input])
  return null
}
