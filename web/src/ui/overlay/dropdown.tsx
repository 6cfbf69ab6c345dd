import { type ReactNode, type RefObject, Suspense, useId, useRef } from 'react'
import { ShortcutsBlocked } from './shortcuts-blocked.ts'

/** A button and what drops from it, a menu or a panel, whose code may come later than the button. */
export interface Dropdown {
  id: string
  button: RefObject<HTMLButtonElement | null>
  isOpen: boolean
  setOpen(isOpen: boolean): void
}

export function useDropdown(isOpen: boolean, setOpen: (isOpen: boolean) => void): Dropdown {
  return { id: useId(), button: useRef(null), isOpen, setOpen }
}

/** Makes a button that of a drop. */
export function dropdownButtonProps({ id, button, isOpen, setOpen }: Dropdown, popup: 'menu' | 'dialog') {
  return {
    id,
    ref: button,
    'aria-haspopup': popup,
    'aria-expanded': isOpen,
    'aria-controls': isOpen ? `${id}-dropdown` : undefined,
    onClick: () => setOpen(!isOpen),
  }
}

/** What drops: not there until it is first opened, and from then on, so that it can close as well. */
export function DropdownContent({ dropdown: { isOpen }, children }: { dropdown: Dropdown; children: ReactNode }) {
  const wasOpen = useRef(false)
  wasOpen.current ||= isOpen
  return wasOpen.current && <Suspense fallback={<ShortcutsBlocked />}>{children}</Suspense>
}
