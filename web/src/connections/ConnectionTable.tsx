import type { Connection } from '../data/connections.ts'
import { t } from '../text/index.ts'
import { type Column, Table } from '../ui/page/Table.tsx'
import styles from './parts/facts.module.css'
import { ChannelName, StateChip, When } from './parts/facts.tsx'
import { numberOf } from './parts/state-words.ts'

export function ConnectionTable({ connections, open }: { connections: Connection[]; open(one: Connection): void }) {
  return <Table label={t.connections.title} columns={columns()} rows={connections} keyOf={({ id }) => id} open={open} />
}

const columns = (): Column<Connection>[] => [
  { key: 'name', title: t.connections.name, cell: (one) => one.name },
  { key: 'channel', title: t.connections.channel, cell: ({ channel }) => <ChannelName channel={channel} /> },
  {
    key: 'number',
    title: t.connections.number,
    cell: (one) => numberOf(one) ?? <span className={styles.quiet}>{t.common.none}</span>,
    optional: true,
  },
  { key: 'state', title: t.connections.state, cell: (one) => <StateChip connection={one} withReason /> },
  { key: 'in', title: t.connections.lastIn, cell: ({ lastEventInAt }) => <When at={lastEventInAt} />, optional: true },
  {
    key: 'out',
    title: t.connections.lastOut,
    cell: ({ lastEventOutAt }) => <When at={lastEventOutAt} />,
    optional: true,
  },
]
