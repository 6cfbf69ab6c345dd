import { Popover } from '@mantine/core'
import { type Ref, type RefObject, useEffect, useImperativeHandle, useState } from 'react'

interface ParsedValueProps {
  hint: string
  /** It was not taken. */
  isWrong: boolean
  input: RefObject<HTMLInputElement | null>
}

/** Says below an input what was read in it, or what is wrong with it. */
export default function ParsedValue({ hint, isWrong, input }: ParsedValueProps) {
  // Open once it is there: only then it knows where the input is.
  const [isOpen, setOpen] = useState(false)
  useEffect(() => setOpen(true), [])
  return (
    <Popover opened={isOpen} position="bottom-end" shadow="md" withRoles={false}>
      <Popover.Target>
        <InputOf input={input} />
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

/** Stands for the input where the library wants its own target. */
function InputOf({ input, ref }: Pick<ParsedValueProps, 'input'> & { ref?: Ref<HTMLElement> }) {
  useImperativeHandle(ref, () => input.current as HTMLElement, [input])
  return null
}
