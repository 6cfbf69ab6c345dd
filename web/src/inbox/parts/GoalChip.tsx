import { IconFlag, IconTargetArrow } from '@tabler/icons-react'
import type { Goal, Priority } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { formatDateTime, formatSpan } from '../../ui/format/time.ts'
import styles from './GoalChip.module.css'

/** Time that is left for a service-level goal, or since it was missed. */
export function GoalChip({ goal: { goal, dueAt, warnAt, isMissed }, now }: { goal: Goal; now: number }) {
  const texts = t.inbox.goals
  const leftMs = Date.parse(dueAt) - now
  // The server records it a moment later.
  const isOver = isMissed || leftMs <= 0
  const state = isOver ? 'missed' : now >= Date.parse(warnAt) ? 'warned' : 'running'
  const span = formatSpan(leftMs)
  const name = texts.names[goal]
  return (
    <span className={styles.chip} data-state={state} title={texts.due({ goal: name, moment: formatDateTime(dueAt) })}>
      <IconTargetArrow size={13} aria-hidden="true" />
      {isOver ? texts.overdue({ span }) : texts.left({ span })}
    </span>
  )
}

export function PriorityChip({ priority }: { priority: Priority }) {
  return (
    <span className={styles.chip} data-priority={priority} title={t.inbox.priority}>
      <IconFlag size={13} aria-hidden="true" />
      {t.inbox.priorities[priority]}
    </span>
  )
}
