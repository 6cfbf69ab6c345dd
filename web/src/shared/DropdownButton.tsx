import { Button, type ButtonProps } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { type Dropdown, DropdownContent, dropdownButtonProps, useDropdown } from '../ui/overlay/dropdown.tsx'

interface DropdownButtonProps extends ButtonProps {
  popup: 'menu' | 'dialog'
  /** The menu or panel, rendered when it is first opened. */
  content(dropdown: Dropdown): ReactNode
  'aria-label'?: string
  children: string
}

/** Small button that opens a menu or a panel. */
export function DropdownButton({ popup, content, ...button }: DropdownButtonProps) {
  const dropdown = useDropdown(...useState(false))
  return (
    <>
      <Button {...dropdownButtonProps(dropdown, popup)} variant="subtle" color="gray" size="compact-sm" {...button} />
      <DropdownContent dropdown={dropdown}>{content(dropdown)}</DropdownContent>
    </>
  )
}
