import { Popover, type PopoverProps } from '@mantine/core'
import type { ReactNode } from 'react'
import { DropdownTarget, useDropdownState } from './DropdownMenu.tsx'
import type { Dropdown } from './dropdown.tsx'

interface DropdownPanelProps extends Pick<PopoverProps, 'position' | 'width'> {
  dropdown: Dropdown
  label: string
  /** Whether the focus goes to the button on close, however it was opened. */
  isToButton?: boolean
  children: ReactNode
}

/** Panel that drops from a button rendered before. */
export function DropdownPanel({ dropdown, label, isToButton, children, ...popoverProps }: DropdownPanelProps) {
  const { isOpen, ...rest } = useDropdownState(dropdown, isToButton)
  return (
    <Popover {...rest} {...popoverProps} opened={isOpen} trapFocus shadow="md">
      <Popover.Target>
        <DropdownTarget dropdown={dropdown} />
      </Popover.Target>
      <Popover.Dropdown aria-label={label} mah="min(420px, 70vh)" style={{ overflowY: 'auto' }} tabIndex={-1}>
        {children}
      </Popover.Dropdown>
    </Popover>
  )
}
