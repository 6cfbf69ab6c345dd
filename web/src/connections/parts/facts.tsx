import { IconBuildingStore, IconDeviceMobile, IconPlugConnected, IconWorld } from '@tabler/icons-react'
import type { Channel, Connection } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { Chip } from '../../ui/Chip.tsx'
import { formatDateTime, timeAgo } from '../../ui/format/time.ts'
import styles from './facts.module.css'
import { stateText } from './state-texts.ts'

const icons = { waba: IconPlugConnected, partner: IconBuildingStore, unofficial: IconDeviceMobile, website: IconWorld }

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
  const { tone, label, reason } = stateText(connection)
  return (
    <span className={styles.state}>
      <Chip tone={tone}>{label}</Chip>
      {withReason && reason !== null && <span className={styles.reason}>{reason}</span>}
    </span>
  )
}

export function TimeAgo({ at }: { at: string | null }) {
  if (at === null) return <span className={styles.muted}>{t.connections.never}</span>
  return <span title={formatDateTime(at)}>{timeAgo(at)}</span>
}
