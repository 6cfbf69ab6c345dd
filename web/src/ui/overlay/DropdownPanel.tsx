import { Popover, type PopoverProps } from '@mantine/core'
import type { ReactNode } from 'react'
import { DropdownTarget, useDropdownState } from './DropdownMenu.tsx'
import type { Dropdown } from './dropdown.tsx'

interface DropdownPanelProps extends Pick<PopoverProps, 'position' | 'width'> {
  dropdown: Dropdown
  label: string
  /** However it was opened, its button has the focus after it. */
  isToButton?: boolean
  children: ReactNode
}

/** Something to read that drops from a button drawn long before it. */
export function DropdownPanel({ dropdown, label, isToButton, children, ...look }: DropdownPanelProps) {
  const { isOpen, ...rest } = useDropdownState(dropdown, isToButton)
  return (
    <Popover {...rest} {...look} opened={isOpen} trapFocus shadow="md">
      <Popover.Target>
        <DropdownTarget dropdown={dropdown} />
      </Popover.Target>
      <Popover.Dropdown aria-label={label} mah="min(420px, 70vh)" style={{ overflowY: 'auto' }} tabIndex={-1}>
        {children}
      </Popover.Dropdown>
    </Popover>
  )
}
