import { Select, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { type FormEvent, useState } from 'react'
import { type Endpoint, useDeliveries } from '../../data/webhooks.ts'
import { t } from '../../text/index.ts'
import { EmptyState } from '../../ui/page/EmptyState.tsx'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { Segments } from '../../ui/page/Segments.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { deliveriesOf } from '../delivery-pages.ts'
import styles from '../endpoint/EndpointPage.module.css'
import { allEvents } from '../event-choice.ts'
import { deliveryStates, type EndpointSearch, parseDeliverySearch } from '../search.ts'
import { useLiveDeliveries } from '../use-live-updates.ts'
import { DeliveryList } from './DeliveryList.tsx'
import { DeliveryPanel } from './DeliveryPanel.tsx'

interface DeliveriesViewProps {
  endpoint: Endpoint
  search: EndpointSearch
  go(next: (before: EndpointSearch) => EndpointSearch): void
  /** Payloads are visible to admins only. */
  mayOpen: boolean
}

export function DeliveriesView({ endpoint, search, go, mayOpen }: DeliveriesViewProps) {
  const workspaceId = useWorkspaceId()
  const filter = {
    state: search.state ?? null,
    event: search.event ?? null,
    about: null,
    response: null,
    ...parseDeliverySearch(search.find ?? ''),
  }
  const query = useDeliveries(workspaceId, endpoint.id, filter)
  const refresh = useLiveDeliveries(workspaceId, endpoint.id, filter, query.data)
  const more = () => void (query.hasNextPage && !query.isFetching && query.fetchNextPage())
  return (
    <>
      <Filters search={search} go={go} />
      {!mayOpen && <p className={styles.note}>{t.webhooks.membersOnly}</p>}
      <QueryBoundary query={query}>
        {(pages) => {
          const deliveries = deliveriesOf(pages)
          // A page may be empty without being the last one.
          if (deliveries.length === 0 && !query.hasNextPage) {
            const isNarrowed = Object.values(filter).some((one) => one !== null)
            return <EmptyState title={isNarrowed ? t.webhooks.noMatches : t.webhooks.noDeliveries} />
          }
          const open = (eventId: string) => go((before) => ({ ...before, delivery: eventId }))
          return <DeliveryList deliveries={deliveries} more={more} {...(mayOpen && { open })} />
        }}
      </QueryBoundary>
      {search.delivery !== undefined && mayOpen && (
        <DeliveryPanel
          endpoint={endpoint}
          eventId={search.delivery}
          close={() => go(({ delivery: _, ...before }) => before)}
          onChanged={() => void refresh()}
        />
      )}
    </>
  )
}

const any = 'any'

function Filters({ search, go }: Pick<DeliveriesViewProps, 'search' | 'go'>) {
  // A new filter closes the open delivery.
  const narrow = (field: 'state' | 'event', chosen: string | null) =>
    go(({ delivery: _, [field]: __, ...before }) =>
      chosen === null || chosen === any ? before : { ...before, [field]: chosen },
    )
  return (
    <div className={styles.filters}>
      <div className={styles.states}>
        <Segments
          label={t.webhooks.deliveryStateOf}
          data={[
            { value: any, label: t.webhooks.anyState },
            ...deliveryStates.map((state) => ({ value: state, label: t.webhooks.deliveryStates[state] })),
          ]}
          value={search.state ?? any}
          onChange={(state) => narrow('state', state)}
        />
      </div>
      <Select
        className={styles.event ?? ''}
        size="xs"
        aria-label={t.webhooks.testEvent}
        data={[
          { value: any, label: t.webhooks.anyEvent },
          ...allEvents.map((value) => ({ value, label: t.webhooks.eventNames[value] })),
        ]}
        value={search.event ?? any}
        onChange={(event) => narrow('event', event)}
        allowDeselect={false}
      />
      <DeliverySearch key={search.find ?? ''} search={search} go={go} />
    </div>
  )
}

/** Searches for an id or a response status once it is complete; shows an error for other text. */
function DeliverySearch({ search, go }: Pick<DeliveriesViewProps, 'search' | 'go'>) {
  const { find: before = '' } = search
  const [text, setText] = useState(before)
  const [isWrong, setWrong] = useState(false)
  const find = (typed: string) => {
    setWrong(typed.trim() !== '' && parseDeliverySearch(typed) === null)
    if (typed.trim() !== '' && parseDeliverySearch(typed) === null) return
    go(({ delivery: _, find: __, ...others }) => (typed.trim() === '' ? others : { ...others, find: typed.trim() }))
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    find(text)
  }
  return (
    <form onSubmit={submit} className={styles.find ?? ''} noValidate>
      <TextInput
        size="xs"
        type="search"
        aria-label={t.webhooks.find}
        placeholder={t.webhooks.findHelp}
        leftSection={<IconSearch size={14} />}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value)
          setWrong(false)
        }}
        onBlur={() => text.trim() !== before && find(text)}
        error={isWrong && t.webhooks.findInvalid}
      />
    </form>
  )
}
