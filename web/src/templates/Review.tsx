import type { Template } from '../data/connections.ts'
import { t } from '../text/index.ts'
import styles from './TemplatesPage.module.css'

/** Why the platform has rejected or stopped it, and what to do. */
export function Review({ template: { status, rejectedReason, reviewNote, quality } }: { template: Template }) {
  const { reasons, advice, reasonTitle } = t.templates
  const known: Record<string, string> = reasons
  const next: Record<string, string> = advice
  const reason = rejectedReason === null ? null : (known[rejectedReason] ?? rejectedReason)
  const todo = next[status] ?? (quality === 'RED' ? advice.RED : undefined)
  if (reason === null && reviewNote === null && todo === undefined) return null
  return (
    <div className={styles.review} role="note">
      {reason !== null && <p>{reasonTitle({ reason })}</p>}
      {reviewNote !== null && <p dir="auto">{reviewNote}</p>}
      {todo !== undefined && <p>{todo}</p>}
    </div>
  )
}
