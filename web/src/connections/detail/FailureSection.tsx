import { type Connection, useHealth } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { ago, fullMoment } from '../../ui/format/time.ts'
import { adviceWords } from '../parts/state-words.ts'
import styles from './detail.module.css'
import { Section } from './Section.tsx'

/** What failed within a day, by its code, with what to do about each. Not there when nothing did. */
export function FailureSection({ workspaceId, connection }: { workspaceId: string; connection: Connection }) {
  const { data } = useHealth(workspaceId, connection.id)
  if (data === undefined || data.failures.length === 0) return null
  const { failures } = t.connections
  return (
    <Section title={failures.title}>
      <ul className={styles.failures}>
        {data.failures.map(({ code, count, lastAt, advice }) => (
          <li key={code}>
            <strong>{failures.count(count)}</strong>
            <div>
              <code>{code}</code> <span title={fullMoment(lastAt)}>{ago(lastAt)}</span>
            </div>
            <p>{adviceWords({ code, text: advice })}</p>
          </li>
        ))}
      </ul>
    </Section>
  )
}
