import { UnstyledButton } from '@mantine/core'
import type { Channel } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { Chip } from '../../ui/Chip.tsx'
import styles from './ChannelChoice.module.css'

const order: readonly Channel[] = ['waba', 'partner', 'unofficial']

/** The three ways to connect a number, each with what speaks for it and against it. */
export function ChannelChoice({ choose }: { choose(channel: Channel): void }) {
  return (
    <>
      {order.map((channel) => {
        const { name, about, needs } = t.connections.channels[channel]
        return (
          <UnstyledButton key={channel} className={styles.card} onClick={() => choose(channel)}>
            <span className={styles.head}>
              <strong>{name}</strong>
              {channel === 'unofficial' && <Chip tone="attention">{t.connections.risky}</Chip>}
            </span>
            <span>{about}</span>
            <span className={styles.needs}>{needs}</span>
          </UnstyledButton>
        )
      })}
    </>
  )
}
