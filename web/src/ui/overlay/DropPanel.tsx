import { Popover, type PopoverProps } from '@mantine/core'
import type { ReactNode } from 'react'
import { ButtonOf, useOpening } from './DropMenu.tsx'
import type { Drop } from './drop.tsx'

interface DropPanelProps extends Pick<PopoverProps, 'position' | 'width'> {
  drop: Drop
  label: string
  /** However it was opened, its button has the focus after it. */
  isToButton?: boolean
  children: ReactNode
}

/** Something to read that drops from a button drawn long before it. */
export function DropPanel({ drop, label, isToButton, children, ...look }: DropPanelProps) {
  const { isOpen, ...rest } = useOpening(drop, isToButton)
  return (
    <Popover {...rest} {...look} opened={isOpen} trapFocus shadow="md">
      <Popover.Target>
        <ButtonOf drop={drop} />
      </Popover.Target>
      <Popover.Dropdown aria-label={label} mah="min(420px, 70vh)" style={{ overflowY: 'auto' }} tabIndex={-1}>
        {children}
      </Popover.Dropdown>
    </Popover>
  )
}
