import { Menu, type MenuProps } from '@mantine/core'
import { type ReactNode, type Ref, useEffect, useImperativeHandle, useState } from 'react'
import type { Dropdown } from './dropdown.tsx'
import { isOutsideFocus, useEscape } from './escape.ts'
import { useRestoreFocus } from './restore-focus.ts'

interface DropdownMenuProps
  extends Pick<MenuProps, 'position' | 'width' | 'withInitialFocusPlaceholder' | 'closeOnItemClick'> {
  dropdown: Dropdown
  children: ReactNode
}

/** A menu that drops from a button drawn long before it. */
export function DropdownMenu({ dropdown, children, ...menuProps }: DropdownMenuProps) {
  const { isOpen, ...rest } = useDropdownState(dropdown)
  return (
    <Menu {...rest} {...menuProps} opened={isOpen}>
      <Menu.Target>
        <DropdownTarget dropdown={dropdown} />
      </Menu.Target>
      <Menu.Dropdown mah="min(480px, 80vh)" style={{ overflowY: 'auto' }}>
        {children}
      </Menu.Dropdown>
    </Menu>
  )
}

/** Open a moment after it was made: only then it knows where its button is. Once closed it gives the focus back. */
export function useDropdownState({ id, button, isOpen, setOpen }: Dropdown, isToButton = false) {
  const [isMounted, setMounted] = useState(false)
  useEffect(() => setMounted(true), [])
  useRestoreFocus(isOpen, button, isToButton)
  useEscape(isOpen, () => setOpen(false), isOutsideFocus)
  return { id, isOpen: isMounted && isOpen, onChange: setOpen }
}

/** Stands for the button where the library wants its own target. */
export function DropdownTarget({ dropdown, ref }: { dropdown: Dropdown; ref?: Ref<HTMLElement> }) {
  useImperativeHandle(ref, () => dropdown.button.current as HTMLElement, [dropdown.button])
  return null
}
