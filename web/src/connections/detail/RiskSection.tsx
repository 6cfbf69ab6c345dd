import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type Connection, useConnectionActs } from '../../data/connections.ts'
import { me } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { fullMoment } from '../../ui/format/time.ts'
import { complain } from '../../ui/overlay/notices.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { RiskWords } from '../parts/RiskWords.tsx'
import styles from './detail.module.css'
import { Section } from './Section.tsx'

/** Who confirmed the risk and until when that counts; the words of it where somebody has to. */
export function RiskSection({ connection }: { connection: Connection }) {
  const workspaceId = useWorkspaceId()
  const { acknowledge } = useConnectionActs(workspaceId)
  const confirm = useMutation({ mutationFn: () => acknowledge(connection.id), onError: complain })
  const { acknowledgement, id, numberId } = connection
  const { risk } = t.connections
  const isPaired = numberId !== id
  if (!isPaired) return null
  const counts = acknowledgement !== null && Date.parse(acknowledgement.until) > Date.now()
  return (
    <Section title={risk.section}>
      {counts && (
        <p className={styles.line}>
          {acknowledgement.by === me().id
            ? risk.byYou({ at: fullMoment(acknowledgement.at) })
            : risk.byOther({ at: fullMoment(acknowledgement.at) })}{' '}
          {risk.until({ at: fullMoment(acknowledgement.until) })}
        </p>
      )}
      {!counts && <RiskWords />}
      <div className={styles.actions}>
        <Button variant={counts ? 'default' : 'filled'} onClick={() => confirm.mutate()} loading={confirm.isPending}>
          {counts ? risk.renew : risk.confirm}
        </Button>
      </div>
    </Section>
  )
}
