import type { ReactNode } from 'react'
import { type Endpoint, useReplays } from '../../data/webhooks.ts'
import { t } from '../../text/index.ts'
import { formatShortTime } from '../../ui/format/time.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { EndpointStatusChip } from '../EndpointTable.tsx'
import { dueNow } from '../status.ts'
import { useAfterDeliveries, useWhenDue } from '../use-live-updates.ts'
import { endpointStatusSentence } from '../webhook-texts.ts'
import styles from './EndpointPage.module.css'

/** Status of the endpoint as a sentence, above its page. */
export function StatusLine(props: { endpoint: Endpoint; children: ReactNode }) {
  const { endpoint, children } = props
  const { waiting, nextAttemptAt } = endpoint.health
  return (
    <div className={styles.status}>
      <div className={styles.text}>
        <EndpointStatusChip endpoint={endpoint} />
        <span>{endpointStatusSentence(endpoint)}</span>
        {waiting > 0 && <span>{t.webhooks.pendingCount({ count: waiting })}</span>}
        {nextAttemptAt !== null && <span>{t.webhooks.nextTry({ at: formatShortTime(nextAttemptAt) })}</span>}
        <OpenReplays endpointId={endpoint.id} />
      </div>
      {children}
    </div>
  )
}

function OpenReplays({ endpointId }: { endpointId: string }) {
  const workspaceId = useWorkspaceId()
  const { data = [], refetch } = useReplays(workspaceId, endpointId)
  const open = data.filter(({ finishedAt }) => finishedAt === null)
  useWhenDue(open.length > 0 ? dueNow : null, () => void refetch())
  useAfterDeliveries(5000, () => void (open.length > 0 && refetch()))
  return open.map(({ id, queued }) => (
    <span key={id} className={styles.replay} role="status">
      {t.webhooks.replayOpen({ count: queued })}
    </span>
  ))
}
