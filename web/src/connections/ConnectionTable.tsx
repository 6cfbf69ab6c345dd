import { IconBuildingStore, IconDeviceMobile, IconPlugConnected } from '@tabler/icons-react'
import type { Channel, Connection } from '../data/connections.ts'
import { t } from '../text/index.ts'
import { Chip } from '../ui/Chip.tsx'
import { ago, fullMoment } from '../ui/format/time.ts'
import { type Column, Table } from '../ui/page/Table.tsx'
import styles from './ConnectionTable.module.css'
import { numberOf, stateWords } from './parts/state-words.ts'

const icons = { waba: IconPlugConnected, partner: IconBuildingStore, unofficial: IconDeviceMobile }

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

export function ChannelName({ channel }: { channel: Channel }) {
  const Icon = icons[channel]
  return (
    <span className={styles.channel}>
      <Icon size={16} stroke={1.6} aria-hidden="true" />
      {t.connections.channels[channel].name}
    </span>
  )
}

export function StateChip({ connection, withReason }: { connection: Connection; withReason?: boolean }) {
  const { tone, word, reason } = stateWords(connection)
  return (
    <span className={styles.state}>
      <Chip tone={tone}>{word}</Chip>
      {withReason && reason !== null && <span className={styles.reason}>{reason}</span>}
    </span>
  )
}

export function When({ at }: { at: string | null }) {
  if (at === null) return <span className={styles.quiet}>{t.connections.never}</span>
  return <span title={fullMoment(at)}>{ago(at)}</span>
}
