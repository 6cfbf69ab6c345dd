import { type ReactNode, type RefObject, Suspense, useId, useRef } from 'react'
import { ShortcutsBlocked } from './shortcuts-blocked.ts'

/** A button and its menu or panel, whose code may load later than the button. */
export interface Dropdown {
  id: string
  button: RefObject<HTMLButtonElement | null>
  isOpen: boolean
  setOpen(isOpen: boolean): void
}

export function useDropdown(isOpen: boolean, setOpen: (isOpen: boolean) => void): Dropdown {
  return { id: useId(), button: useRef(null), isOpen, setOpen }
}

/** Returns the props of the button. */
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

/** The dropdown: mounted when first opened, and kept to animate closing. */
export function DropdownContent({ dropdown: { isOpen }, children }: { dropdown: Dropdown; children: ReactNode }) {
  const wasOpen = useRef(false)
  wasOpen.current ||= isOpen
  return wasOpen.current && <Suspense fallback={<ShortcutsBlocked />}>{children}</Suspense>
}
