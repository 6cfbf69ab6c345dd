import { Menu, type MenuProps } from '@mantine/core'
import { type ReactNode, type Ref, useEffect, useImperativeHandle, useState } from 'react'
import type { Drop } from './drop.tsx'
import { isNobodys, useEscape } from './escape.ts'
import { useFocusBack } from './focus-back.ts'

interface DropMenuProps
  extends Pick<MenuProps, 'position' | 'width' | 'withInitialFocusPlaceholder' | 'closeOnItemClick'> {
  drop: Drop
  children: ReactNode
}

/** A menu that drops from a button drawn long before it. */
export function DropMenu({ drop, children, ...look }: DropMenuProps) {
  const { isOpen, ...rest } = useOpening(drop)
  return (
    <Menu {...rest} {...look} opened={isOpen}>
      <Menu.Target>
        <ButtonOf drop={drop} />
      </Menu.Target>
      <Menu.Dropdown mah="min(480px, 80vh)" style={{ overflowY: 'auto' }}>
        {children}
      </Menu.Dropdown>
    </Menu>
  )
}

/** Open a moment after it was made: only then it knows where its button is. Once closed it gives the focus back. */
export function useOpening({ id, button, isOpen, setOpen }: Drop, isToButton = false) {
  const [isMade, setMade] = useState(false)
  useEffect(() => setMade(true), [])
  useFocusBack(isOpen, button, isToButton)
  useEscape(isOpen, () => setOpen(false), isNobodys)
  return { id, isOpen: isMade && isOpen, onChange: setOpen }
}

/** Stands for the button where the library wants its own target. */
export function ButtonOf({ drop, ref }: { drop: Drop; ref?: Ref<HTMLElement> }) {
  useImperativeHandle(ref, () => drop.button.current as HTMLElement, [drop.button])
  return null
}
