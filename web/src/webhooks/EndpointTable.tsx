import type { Endpoint } from '../data/webhooks.ts'
import { t } from '../text/index.ts'
import { Chip } from '../ui/Chip.tsx'
import { formatDateTime, formatNumber, timeAgo } from '../ui/format/time.ts'
import { type Column, Table } from '../ui/page/Table.tsx'
import styles from './Endpoint.module.css'
import { endpointStatus } from './status.ts'
import {
  endpointStatusName,
  endpointStatusSentence,
  endpointStatusTones,
  hostOf,
  nameOf,
  patternName,
} from './webhook-texts.ts'

export function EndpointTable({ endpoints, open }: { endpoints: Endpoint[]; open: (endpoint: Endpoint) => void }) {
  return <Table label={t.webhooks.title} columns={columns()} rows={endpoints} keyOf={({ id }) => id} open={open} />
}

const columns = (): Column<Endpoint>[] => [
  { key: 'name', title: t.webhooks.endpoint, cell: (endpoint) => <Name endpoint={endpoint} /> },
  { key: 'state', title: t.webhooks.state, cell: (endpoint) => <EndpointStatusChip endpoint={endpoint} /> },
  {
    key: 'events',
    title: t.webhooks.events,
    cell: ({ events }) => events.map(patternName).join(', '),
    optional: true,
  },
  {
    key: 'waiting',
    title: t.webhooks.pending,
    cell: ({ health: { waiting } }) =>
      waiting === 0 ? '–' : waiting >= cappedCount ? `${formatNumber(waiting)}+` : formatNumber(waiting),
    optional: true,
    numeric: true,
  },
  {
    key: 'success',
    title: t.webhooks.lastSuccess,
    cell: ({ health: { lastSuccessAt: at } }) =>
      at === null ? t.webhooks.never : <span title={formatDateTime(at)}>{timeAgo(at)}</span>,
    optional: true,
  },
]

// The list counts up to this number.
const cappedCount = 1000

function Name({ endpoint }: { endpoint: Endpoint }) {
  const host = hostOf(endpoint.url)
  return (
    <>
      {nameOf(endpoint)}
      {nameOf(endpoint) !== host && <span className={styles.host}>{host}</span>}
    </>
  )
}

export function EndpointStatusChip({ endpoint }: { endpoint: Endpoint }) {
  const status = endpointStatus(endpoint)
  return (
    <Chip tone={endpointStatusTones[status]} title={endpointStatusSentence(endpoint)}>
      {endpointStatusName(status)}
    </Chip>
  )
}
