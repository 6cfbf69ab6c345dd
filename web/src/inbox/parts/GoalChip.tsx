import { IconFlag, IconTargetArrow } from '@tabler/icons-react'
import type { Goal, Priority } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { formatDateTime, formatSpan } from '../../ui/format/time.ts'
import styles from './GoalChip.module.css'
import { Mark } from './Mark.tsx'

/** Time that is left for a service-level goal, or since it was missed. */
export function GoalChip({ goal: { goal, dueAt, warnAt, isMissed }, now }: { goal: Goal; now: number }) {
  const texts = t.inbox.goals
  const leftMs = Date.parse(dueAt) - now
  // The server records it a moment later.
  const isOver = isMissed || leftMs <= 0
  const state = isOver ? 'missed' : now >= Date.parse(warnAt) ? 'warned' : 'running'
  const span = formatSpan(leftMs)
  const title = texts.due({ goal: texts.names[goal], moment: formatDateTime(dueAt) })
  return (
    <Mark icon={IconTargetArrow} className={styles.chip} data-state={state} title={title}>
      {isOver ? texts.overdue({ span }) : texts.left({ span })}
    </Mark>
  )
}

export function PriorityChip({ priority }: { priority: Priority }) {
  return (
    <Mark icon={IconFlag} className={styles.chip} data-priority={priority} title={t.inbox.priority}>
      {t.inbox.priorities[priority]}
    </Mark>
  )
}
