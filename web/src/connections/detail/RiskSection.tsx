import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type Connection, useConnectionActions } from '../../data/connections.ts'
import { currentUser } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { formatDateTime } from '../../ui/format/time.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { RiskText } from '../parts/RiskText.tsx'
import { Section } from '../parts/Section.tsx'
import styles from './detail.module.css'

/** Who acknowledged the risk and until when; the form to acknowledge it if that is needed. */
export function RiskSection({ connection }: { connection: Connection }) {
  const workspaceId = useWorkspaceId()
  const { acknowledge } = useConnectionActions(workspaceId)
  const confirm = useMutation({ mutationFn: () => acknowledge(connection.id), onError: showError })
  const { acknowledgement, id, numberId } = connection
  const { risk } = t.connections
  const isPaired = numberId !== id
  if (!isPaired) return null
  const counts = acknowledgement !== null && Date.parse(acknowledgement.until) > Date.now()
  return (
    <Section title={risk.section}>
      {counts && (
        <p className={styles.line}>
          {acknowledgement.by === currentUser().id
            ? risk.byYou({ at: formatDateTime(acknowledgement.at) })
            : risk.byOther({ at: formatDateTime(acknowledgement.at) })}{' '}
          {risk.until({ at: formatDateTime(acknowledgement.until) })}
        </p>
      )}
      {!counts && <RiskText />}
      <div className={styles.actions}>
        <Button variant={counts ? 'default' : 'filled'} onClick={() => confirm.mutate()} loading={confirm.isPending}>
          {counts ? risk.renew : risk.confirm}
        </Button>
      </div>
    </Section>
  )
}
