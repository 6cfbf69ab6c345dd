import { type Connection, useHealth } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { fullMoment } from '../../ui/format/time.ts'
import { StateChip } from '../parts/facts.tsx'
import { HealthAdvice } from '../parts/HealthAdvice.tsx'
import styles from './detail.module.css'
import { Section } from './Section.tsx'

/** How it is, since when, and what to do next. */
export function StateSection({ workspaceId, connection }: { workspaceId: string; connection: Connection }) {
  const { data } = useHealth(workspaceId, connection.id)
  const { stateTitle, since, allWell } = t.connections
  return (
    <Section title={stateTitle} action={<StateChip connection={connection} />}>
      <p className={styles.quiet}>{since(fullMoment(connection.stateChangedAt))}</p>
      <HealthAdvice connection={connection} />
      {data?.advice.length === 0 && <p className={styles.line}>{allWell}</p>}
    </Section>
  )
}
