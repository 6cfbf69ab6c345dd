import type { ReactNode } from 'react'
import type { Connection } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { Chip, type Tone } from '../../ui/Chip.tsx'
import { formatDateTime, formatNumber, timeAgo } from '../../ui/format/time.ts'
import { Facts } from '../../ui/page/Facts.tsx'
import { Section } from '../parts/Section.tsx'
import styles from './detail.module.css'

type NumberStatus = NonNullable<Connection['numberStatus']>

const qualityTones = { green: 'good', yellow: 'attention', red: 'bad' } as const satisfies Record<string, Tone>
const sendingTones = { available: 'good', limited: 'attention', blocked: 'bad' } as const satisfies Record<string, Tone>
const nameTones = { approved: 'good', pending: 'plain', declined: 'bad', expired: 'bad' } as const satisfies Record<
  string,
  Tone
>
/** Messages per second. */
const speeds = { standard: 80, high: 1000 }

/** What the platform reports about the number. Renders nothing until it has reported something. */
export function NumberSection({ connection: { numberStatus } }: { connection: Connection }) {
  const facts = numberStatus === null ? [] : factsOf(numberStatus)
  if (numberStatus === null || facts.length === 0) return null
  const { title, checked } = t.connections.numberStatus
  return (
    <Section title={title}>
      <Facts facts={facts} />
      {numberStatus.problems.length > 0 && (
        <ul className={styles.advice}>
          {numberStatus.problems.map(({ code, text }) => (
            <li key={`${code} ${text}`}>
              {text} {code !== '' && <code>{code}</code>}
            </li>
          ))}
        </ul>
      )}
      <p className={styles.muted} title={formatDateTime(numberStatus.checkedAt)}>
        {checked({ when: timeAgo(numberStatus.checkedAt) })}
      </p>
    </Section>
  )
}

function factsOf(status: NumberStatus): [string, ReactNode][] {
  const { quality, messagingLimit, throughput, nameStatus, canSend, newChats, newChatsLockedUntil } = status
  const texts = t.connections.numberStatus
  const fact = (name: string, value: ReactNode): [string, ReactNode][] => (value === null ? [] : [[name, value]])
  return [
    ...fact(texts.sending, canSend && <Chip tone={sendingTones[canSend]}>{texts.sendingStates[canSend]}</Chip>),
    ...fact(texts.quality, quality && <Chip tone={qualityTones[quality]}>{texts.qualities[quality]}</Chip>),
    ...fact(texts.limit, messagingLimit && limitText(messagingLimit)),
    ...fact(texts.throughput, throughput && texts.throughputs[throughput]({ n: formatNumber(speeds[throughput]) })),
    ...fact(texts.name, nameStatus && <Chip tone={nameTones[nameStatus]}>{texts.names[nameStatus]}</Chip>),
    ...fact(texts.newChats, newChats && <NewChats newChats={newChats} />),
    ...fact(texts.locked, newChatsLockedUntil && lockText(newChatsLockedUntil)),
  ]
}

function limitText(limit: NonNullable<NumberStatus['messagingLimit']>): string {
  const { customers, unlimited } = t.connections.numberStatus
  return limit === 'unlimited' ? unlimited : customers({ n: formatNumber(limit) })
}

const lockText = (until: string): string | null => (new Date(until) > new Date() ? formatDateTime(until) : null)

function NewChats({ newChats: { level, used, total, endsAt } }: { newChats: NonNullable<NumberStatus['newChats']> }) {
  const { newChatLevels, newChatsUsed, countsAgain } = t.connections.numberStatus
  const tone: Tone = level === 'normal' ? 'good' : level === 'capped' ? 'bad' : 'attention'
  return (
    <>
      <Chip tone={tone}>{newChatLevels[level]}</Chip>{' '}
      {used !== null && total !== null && newChatsUsed({ used: formatNumber(used), total: formatNumber(total) })}
      {endsAt !== null && <p className={styles.muted}>{countsAgain({ at: formatDateTime(endsAt) })}</p>}
    </>
  )
}
