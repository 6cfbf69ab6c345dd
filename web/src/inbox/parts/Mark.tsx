import type { TablerIcon } from '@tabler/icons-react'
import type { ComponentProps } from 'react'

interface MarkProps extends ComponentProps<'span'> {
  icon: TablerIcon
  iconSize?: number
}

/** A word or two beside a small icon. */
export function Mark({ icon: Icon, iconSize = 13, children, ...span }: MarkProps) {
  return (
    <span {...span}>
      <Icon size={iconSize} aria-hidden="true" />
      {children}
    </span>
  )
}
