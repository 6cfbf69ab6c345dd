import { ActionIcon, type ActionIconProps, type ElementProps } from '@mantine/core'
import type { TablerIcon } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { type Dropdown, DropdownContent, dropdownButtonProps, useDropdown } from '../../ui/overlay/dropdown.tsx'
import { Tip } from '../../ui/overlay/Tip.tsx'

interface IconButtonProps extends ActionIconProps, ElementProps<'button', keyof ActionIconProps> {
  icon: TablerIcon
  label: string
  iconSize?: number
  stroke?: number
  /** Shown by the app; otherwise, the browser shows the label. */
  tip?: string
}

/** Gray button with an icon. */
export function IconButton(props: IconButtonProps) {
  const { icon: Icon, label, iconSize = 18, stroke = 2, tip, children, ...button } = props
  const rendered = (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={label}
      title={tip === undefined ? label : undefined}
      {...button}
    >
      <Icon size={iconSize} stroke={stroke} />
      {children}
    </ActionIcon>
  )
  return tip === undefined ? rendered : <Tip label={tip}>{rendered}</Tip>
}

/** Whether a dropdown is open, and what opens and closes it. */
export type DropdownControl = [isOpen: boolean, setOpen: (isOpen: boolean) => void]

interface IconDropdownProps extends Omit<IconButtonProps, 'content'> {
  popup?: 'menu' | 'dialog'
  /** Without one, only its button opens it. */
  control?: DropdownControl
  content(dropdown: Dropdown): ReactNode
}

/** Gray button with an icon that opens a dropdown. */
export function IconDropdown({ popup = 'dialog', control, content, ...button }: IconDropdownProps) {
  const own = useState(false)
  const dropdown = useDropdown(...(control ?? own))
  return (
    <>
      <IconButton {...dropdownButtonProps(dropdown, popup)} {...button} />
      <DropdownContent dropdown={dropdown}>{content(dropdown)}</DropdownContent>
    </>
  )
}

/** Returns the controls of several dropdowns, of which one is open at a time. */
export function useDropdowns<Name extends string>() {
  const [openName, open] = useState<Name | null>(null)
  const controlOf = (name: Name): DropdownControl => [
    openName === name,
    // Closing one must not close another that it has opened.
    (isOpen) => open((now) => (isOpen ? name : now === name ? null : now)),
  ]
  return { open, controlOf }
}
