import { ActionIcon, type ActionIconProps, Button } from '@mantine/core'
import { IconArrowDown, IconArrowUp, type TablerIcon } from '@tabler/icons-react'
import type { DOMAttributes } from 'react'

interface RowButtonProps extends Pick<ActionIconProps, 'disabled' | 'mt'>, DOMAttributes<HTMLElement> {
  /** Accessible name. */
  label: string
  icon: TablerIcon
  /** Shows the name as a tooltip too. */
  hasTitle?: true
  'aria-disabled'?: boolean
  run(): void
}

/** Small button in a row of a list. */
export const RowButton = ({ label, icon: Icon, hasTitle, run, ...props }: RowButtonProps) => (
  <ActionIcon variant="subtle" color="gray" aria-label={label} title={hasTitle && label} onClick={run} {...props}>
    <Icon size={16} />
  </ActionIcon>
)

interface RowActionProps {
  text: string
  /** Accessible name, which also names the row. */
  label: string
  isDanger?: true
  run(): void
}

/** Small button with a text in a row of a list. */
export const RowAction = ({ text, label, isDanger, run }: RowActionProps) => (
  <Button size="compact-sm" variant="subtle" {...(isDanger && { color: 'red' })} aria-label={label} onClick={run}>
    {text}
  </Button>
)

interface MoveButtonsProps {
  /** Accessible names. */
  up: string
  down: string
  /** Place in the list. */
  at: number
  last: number
  /** Moves the row up (-1) or down (1). */
  move(by: -1 | 1): void
}

/** Buttons that move a row. They are not `disabled` at the ends: that would drop the focus after a click. */
export const MoveButtons = ({ up, down, at, last, move }: MoveButtonsProps) => (
  <>
    <RowButton label={up} icon={IconArrowUp} aria-disabled={at === 0} run={() => at > 0 && move(-1)} />
    <RowButton label={down} icon={IconArrowDown} aria-disabled={at === last} run={() => at < last && move(1)} />
  </>
)
