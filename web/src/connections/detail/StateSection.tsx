import { type Connection, useHealth } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { formatDateTime, timeAgo } from '../../ui/format/time.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { StateChip } from '../parts/facts.tsx'
import { HealthAdvice } from '../parts/HealthAdvice.tsx'
import { Section } from '../parts/Section.tsx'
import { adviceText } from '../parts/state-texts.ts'
import styles from './detail.module.css'

/** State of the connection, since when, and what to do next. */
export function StateSection({ connection }: { connection: Connection }) {
  const workspaceId = useWorkspaceId()
  const { data } = useHealth(workspaceId, connection.id)
  const { stateTitle, since, healthy } = t.connections
  return (
    <Section title={stateTitle} action={<StateChip connection={connection} />}>
      <p className={styles.muted}>{since({ at: formatDateTime(connection.stateChangedAt) })}</p>
      <HealthAdvice connection={connection} />
      {data?.advice.length === 0 && <p className={styles.line}>{healthy}</p>}
    </Section>
  )
}

/** Failures of the last 24 hours by code, with advice for each. Renders nothing without failures. */
export function FailureSection({ connection }: { connection: Connection }) {
  const workspaceId = useWorkspaceId()
  const { data } = useHealth(workspaceId, connection.id)
  if (data === undefined || data.failures.length === 0) return null
  const { failures } = t.connections
  return (
    <Section title={failures.title}>
      <ul className={styles.failures}>
        {data.failures.map(({ code, count, lastAt, advice }) => (
          <li key={code}>
            <strong>{failures.count({ n: count })}</strong>
            <div>
              <code>{code}</code> <span title={formatDateTime(lastAt)}>{timeAgo(lastAt)}</span>
            </div>
            <p>{adviceText({ code, text: advice })}</p>
          </li>
        ))}
      </ul>
    </Section>
  )
}
