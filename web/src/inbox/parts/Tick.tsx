import { IconAlertCircle, IconCheck, IconChecks, IconClock } from '@tabler/icons-react'
import type { Message } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import styles from '../thread/Thread.module.css'

const icons = { pending: IconClock, sent: IconCheck, delivered: IconChecks, read: IconChecks, failed: IconAlertCircle }

/** Delivery status of a message. */
export function Tick({ status }: Pick<Message, 'status'>) {
  const Icon = icons[status]
  const word = t.inbox.ticks[status]
  return (
    <span className={styles.tick} data-status={status} role="img" aria-label={word} title={word}>
      <Icon size={15} stroke={2} aria-hidden="true" />
    </span>
  )
}
