import { Select, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { type EventName, sendTest, useEventCatalog } from '../../data/webhooks.ts'
import { t } from '../../text/index.ts'
import { Chip } from '../../ui/Chip.tsx'
import { CodeBlock } from '../../ui/CodeBlock.tsx'
import { showError } from '../../ui/overlay/toasts.tsx'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { PanelButtons } from '../../ui/page/PanelButtons.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from '../deliveries/DeliveryPanel.module.css'
import { Attempts } from '../deliveries/DeliveryPanel.tsx'
import { allEvents } from '../event-choice.ts'
import { useLiveDelivery } from '../use-live-updates.ts'
import { deliveryTones, stateName } from '../webhook-texts.ts'

interface TestPanelProps {
  endpointId: string
  close(): void
  /** Called on changes that the page should show. */
  onChanged(): void
}

/** Sends a test event and shows the response. */
export function TestPanel({ endpointId, close, onChanged }: TestPanelProps) {
  const workspaceId = useWorkspaceId()
  const { data: catalog = [] } = useEventCatalog(workspaceId)
  const [event, setEvent] = useState<EventName>('lead.created')
  const chosen = catalog.find(({ name }) => name === event)
  const send = useMutation({ mutationFn: () => sendTest(workspaceId, endpointId, event), onError: showError })
  return (
    <SidePanel
      title={t.webhooks.test}
      close={close}
      submit={() => send.mutate()}
      size={560}
      footer={
        <PanelButtons close={close} leave={t.common.close} action={t.webhooks.testSend} isBusy={send.isPending} />
      }
    >
      <Text size="sm">{t.webhooks.testHelp}</Text>
      <Select
        label={t.webhooks.testEvent}
        description={chosen?.fires}
        data={allEvents.map((name) => ({ value: name, label: t.webhooks.eventNames[name] }))}
        value={event}
        onChange={(name) => setEvent((name ?? event) as EventName)}
        allowDeselect={false}
      />
      {send.data !== undefined && (
        <TestResult key={send.data} endpointId={endpointId} eventId={send.data} onChanged={onChanged} />
      )}
      <div>
        <h3 className={styles.small}>{t.webhooks.testBody}</h3>
        <CodeBlock label={t.webhooks.testBody} value={JSON.stringify(chosen?.sample, null, 2) ?? ''} />
      </div>
    </SidePanel>
  )
}

function TestResult(props: { endpointId: string; eventId: string; onChanged(): void }) {
  const workspaceId = useWorkspaceId()
  const query = useLiveDelivery(workspaceId, props.endpointId, props.eventId, props.onChanged)
  return (
    <section aria-live="polite">
      <QueryBoundary query={query} rows={2}>
        {(delivery) =>
          delivery.attemptList.length === 0 ? (
            <p className={styles.waiting}>{t.webhooks.testWaiting}</p>
          ) : (
            <>
              <h2 className={styles.heading}>
                <Chip tone={deliveryTones[delivery.state]}>{stateName(delivery)}</Chip>
              </h2>
              <Attempts attempts={delivery.attemptList} />
            </>
          )
        }
      </QueryBoundary>
    </section>
  )
}
