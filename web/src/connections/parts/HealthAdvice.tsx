import { type Connection, useHealth } from '../../data/connections.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from '../detail/detail.module.css'
import { adviceText } from './state-texts.ts'

/** Advice about a connection; renders nothing if it is healthy. */
export function HealthAdvice({ connection: { id } }: { connection: Connection }) {
  const { data } = useHealth(useWorkspaceId(), id)
  if (data === undefined || data.advice.length === 0) return null
  return (
    <ul className={styles.advice}>
      {data.advice.map((one) => (
        <li key={one.code}>{adviceText(one)}</li>
      ))}
    </ul>
  )
}
