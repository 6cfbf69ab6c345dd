import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type DeliveryDetail, type Endpoint, resend } from '../../data/webhooks.ts'
import { t } from '../../text/index.ts'
import { Chip } from '../../ui/Chip.tsx'
import { CodeBlock } from '../../ui/CodeBlock.tsx'
import { formatDateTimeSeconds } from '../../ui/format/time.ts'
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { Facts } from '../../ui/page/Facts.tsx'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { useLiveDelivery } from '../use-live-updates.ts'
import { deliveryTones, formatMs, stateName } from '../webhook-texts.ts'
import styles from './DeliveryPanel.module.css'

interface DeliveryPanelProps {
  endpoint: Endpoint
  eventId: string
  close(): void
  /** Called on changes that the list should show. */
  onChanged(): void
}

/** Delivery of an event to an endpoint: payload and attempts. */
export function DeliveryPanel({ endpoint, eventId, close, onChanged }: DeliveryPanelProps) {
  const workspaceId = useWorkspaceId()
  const query = useLiveDelivery(workspaceId, endpoint.id, eventId, onChanged)
  const again = useMutation({
    mutationFn: () => resend(workspaceId, endpoint.id, eventId),
    onSuccess: () => {
      showToast(t.webhooks.resent)
      void query.refetch()
    },
    onError: showError,
  })
  return (
    <SidePanel
      title={query.data === undefined ? t.webhooks.delivery : t.webhooks.eventNames[query.data.event]}
      close={close}
      size={640}
      footer={
        endpoint.state === 'active' && (
          <Button variant="default" loading={again.isPending} onClick={() => again.mutate()}>
            {t.webhooks.resend}
          </Button>
        )
      }
    >
      <QueryBoundary query={query}>{(delivery) => <Detail delivery={delivery} />}</QueryBoundary>
    </SidePanel>
  )
}

function Detail({ delivery }: { delivery: DeliveryDetail }) {
  const { request, attemptList, nextAttemptAt } = delivery
  const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`)
  return (
    <>
      <Facts
        facts={[
          [
            t.webhooks.state,
            <span key="state" className={styles.state}>
              <Chip tone={deliveryTones[delivery.state]}>{stateName(delivery)}</Chip>
              {nextAttemptAt !== null && t.webhooks.nextTry({ at: formatDateTimeSeconds(nextAttemptAt) })}
            </span>,
          ],
          [t.webhooks.occurred, formatDateTimeSeconds(delivery.occurredAt)],
          [t.webhooks.eventId, <code key="id">{delivery.eventId}</code>],
          [t.webhooks.subjectId, <code key="subject">{delivery.subjectId}</code>],
        ]}
      />
      <section>
        <h2 className={styles.heading}>{t.webhooks.attempts}</h2>
        <Attempts attempts={attemptList} />
      </section>
      <section>
        <h2 className={styles.heading}>{t.webhooks.request}</h2>
        <p className={styles.note}>{t.webhooks.requestNote}</p>
        <h3 className={styles.small}>{t.webhooks.requestHeaders}</h3>
        <CodeBlock label={t.webhooks.requestHeaders} value={headers.join('\n')} />
        <h3 className={styles.small}>{t.webhooks.requestBody}</h3>
        <CodeBlock label={t.webhooks.requestBody} value={pretty(request.body)} />
      </section>
    </>
  )
}

function pretty(json: string): string {
  return JSON.stringify(JSON.parse(json), null, 2)
}

/** Delivery attempts with their responses, newest first. */
export function Attempts({ attempts }: { attempts: DeliveryDetail['attemptList'] }) {
  if (attempts.length === 0) return <p className={styles.note}>{t.webhooks.noAttempts}</p>
  return (
    <ul className={styles.attempts}>
      {attempts.toReversed().map((attempt) => (
        <li key={attempt.number} className={styles.attempt}>
          <Attempt attempt={attempt} />
        </li>
      ))}
    </ul>
  )
}

function Attempt({ attempt }: { attempt: DeliveryDetail['attemptList'][number] }) {
  const { number: count, at, status, ms, explanation, answer } = attempt
  const isTaken = status !== null && status >= 200 && status < 300
  return (
    <>
      <div className={styles.line}>
        <strong>{t.webhooks.attempt({ number: count })}</strong>
        <Chip tone={isTaken ? 'good' : 'bad'}>
          {status === null ? t.webhooks.noResponse : t.webhooks.response({ status })}
        </Chip>
        <span>{formatMs(ms)}</span>
        <time dateTime={at}>{formatDateTimeSeconds(at)}</time>
      </div>
      {explanation !== null && <p className={styles.why}>{explanation}</p>}
      {status !== null && (
        <>
          <h3 className={styles.small}>{t.webhooks.answer}</h3>
          {answer ? (
            <CodeBlock label={t.webhooks.answer} value={answer} isLow />
          ) : (
            <p className={styles.note}>{t.webhooks.emptyResponse}</p>
          )}
        </>
      )}
    </>
  )
}
