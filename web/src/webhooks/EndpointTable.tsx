import type { Endpoint } from '../data/webhooks.ts'
import { t } from '../text/index.ts'
import { Chip } from '../ui/Chip.tsx'
import { ago, fullMoment, number } from '../ui/format/time.ts'
import { type Column, Table } from '../ui/page/Table.tsx'
import styles from './Endpoint.module.css'
import { standingOf } from './standing.ts'
import { hostOf, nameOf, patternName, standingName, standingSentence, standingTones } from './words.ts'

export function EndpointTable({ endpoints, open }: { endpoints: Endpoint[]; open: (endpoint: Endpoint) => void }) {
  return <Table label={t.webhooks.title} columns={columns()} rows={endpoints} keyOf={({ id }) => id} open={open} />
}

const columns = (): Column<Endpoint>[] => [
  { key: 'name', title: t.webhooks.endpoint, cell: (endpoint) => <Name endpoint={endpoint} /> },
  { key: 'state', title: t.webhooks.state, cell: (endpoint) => <StandingChip endpoint={endpoint} /> },
  {
    key: 'events',
    title: t.webhooks.events,
    cell: ({ events }) => events.map(patternName).join(', '),
    optional: true,
  },
  {
    key: 'waiting',
    title: t.webhooks.waiting,
    cell: ({ health: { waiting } }) =>
      waiting === 0 ? '–' : waiting >= countedUpTo ? `${number(waiting)}+` : number(waiting),
    optional: true,
    numeric: true,
  },
  {
    key: 'success',
    title: t.webhooks.lastSuccess,
    cell: ({ health: { lastSuccessAt: at } }) =>
      at === null ? t.webhooks.never : <span title={fullMoment(at)}>{ago(at)}</span>,
    optional: true,
  },
]

// The list counts no further.
const countedUpTo = 1000

function Name({ endpoint }: { endpoint: Endpoint }) {
  const host = hostOf(endpoint.url)
  return (
    <>
      {nameOf(endpoint)}
      {nameOf(endpoint) !== host && <span className={styles.host}>{host}</span>}
    </>
  )
}

export function StandingChip({ endpoint }: { endpoint: Endpoint }) {
  const standing = standingOf(endpoint)
  return (
    <Chip tone={standingTones[standing]} title={standingSentence(endpoint)}>
      {standingName(standing)}
    </Chip>
  )
}
