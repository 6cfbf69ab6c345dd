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

/** Menu that drops from a button rendered before. */
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

/** Opens after mounting, since its button's position is known only then. Restores the focus when closed. */
export function useDropdownState({ id, button, isOpen, setOpen }: Dropdown, isToButton = false) {
  const [isMounted, setMounted] = useState(false)
  useEffect(() => setMounted(true), [])
  useRestoreFocus(isOpen, button, isToButton)
  useEscape(isOpen, () => setOpen(false), isOutsideFocus)
  return { id, isOpen: isMounted && isOpen, onChange: setOpen }
}

/** Passes the button where the library expects its own target. */
export function DropdownTarget({ dropdown, ref }: { dropdown: Dropdown; ref?: Ref<HTMLElement> }) {
  useImperativeHandle(ref, () => dropdown.button.current as HTMLElement, [dropdown.button])
  return null
}
