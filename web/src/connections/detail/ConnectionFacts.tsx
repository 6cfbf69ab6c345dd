import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type Connection, useHealth } from '../../data/connections.ts'
import { useVersions } from '../../data/team/instructions.ts'
import { t } from '../../text/index.ts'
import { Chip, type Tone } from '../../ui/Chip.tsx'
import { Copyable } from '../../ui/Copyable.tsx'
import { formatDateTime, formatNumber, formatSpan, timeAgo } from '../../ui/format/time.ts'
import { Facts } from '../../ui/page/Facts.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { ChannelName, TimeAgo } from '../parts/facts.tsx'
import { Section } from '../parts/Section.tsx'
import { numberOf } from '../parts/state-texts.ts'
import styles from './detail.module.css'

/** Settings that rarely change, and the time of the last message in each direction. */
export function ConnectionFacts({ connection }: { connection: Connection }) {
  const { data: health } = useHealth(useWorkspaceId(), connection.id)
  const { facts, fields, channel, number: numberTitle, lastIn, lastOut } = t.connections
  const secret = (name: string, last4: string | null) => known(name, last4 === null ? null : facts.endsIn({ last4 }))
  const lag = health?.lagMs == null ? null : delayText(health.lagMs)
  const list: [string, ReactNode][] = [
    [channel, <ChannelName key="channel" channel={connection.channel} />],
    ...known(numberTitle, numberOf(connection)),
    ...known(
      fields.numberId,
      connection.channel === 'unofficial' || connection.channel === 'website' ? null : chosenNumberOf(connection),
    ),
    ...known(fields.accountId, connection.accountId),
    ...known(fields.appId, connection.appId),
    [lastIn, <TimeAgo key="in" at={connection.lastEventInAt} />],
    [lastOut, <TimeAgo key="out" at={connection.lastEventOutAt} />],
    ...known(facts.lag, lag),
    ...(health === undefined ? [] : known(facts.newConversationsTo, health.newConversationsGoTo?.name ?? facts.team)),
    ...secret(fields.accessToken, connection.accessTokenLast4),
    ...secret(fields.appSecret, connection.appSecretLast4),
    ...secret(fields.apiKey, connection.apiKeyLast4),
    ...secret(fields.signingSecret, connection.signingSecretLast4),
    ...known(fields.baseUrl, connection.baseUrl),
    ...known(fields.version, versionOf(connection)),
    ...known(
      facts.webhook,
      connection.webhookUrl && <Copyable key="hook" value={connection.webhookUrl} label={facts.webhook} />,
    ),
    [facts.since, formatDateTime(connection.createdAt)],
    [t.settings.agents.instructions, <InstructionsLink key="instructions" connectionId={connection.id} />],
  ]
  return (
    <Section title={facts.title}>
      <Facts facts={list} />
    </Section>
  )
}

/** Returns a fact, or none for null. */
const known = (name: string, value: ReactNode): [string, ReactNode][] => (value === null ? [] : [[name, value]])

/** Instructions of agents for its conversations, which have a section of their own. */
function InstructionsLink({ connectionId }: { connectionId: string }) {
  const workspaceId = useWorkspaceId()
  const { data } = useVersions(workspaceId, { keyId: null, connectionId })
  const newest = data?.versions[0]
  return (
    <Link
      to="/w/$workspaceId/settings/$section"
      params={{ workspaceId, section: 'instructions' }}
      search={{ connection: connectionId }}
    >
      {newest?.text == null ? t.common.none : t.instructions.version({ n: formatNumber(newest.version) })}
    </Link>
  )
}

/** Until a number is chosen, the connection's own id takes its place. */
const chosenNumberOf = ({ id, numberId }: Connection): string | null => (numberId === id ? null : numberId)

const minuteMs = 60_000

const delayText = (ms: number): string =>
  ms >= minuteMs
    ? formatSpan(ms)
    : t.connections.facts.seconds({ n: formatNumber(ms / 1000, { maximumFractionDigits: 1 }) })

function versionOf({ version, versionEndsOn }: Connection): string | null {
  return version === null || versionEndsOn === null
    ? version
    : t.connections.versionUntil({ version, day: versionEndsOn })
}

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
  return [
    ...known(texts.sending, canSend && <Chip tone={sendingTones[canSend]}>{texts.sendingStates[canSend]}</Chip>),
    ...known(texts.quality, quality && <Chip tone={qualityTones[quality]}>{texts.qualities[quality]}</Chip>),
    ...known(texts.limit, messagingLimit && limitText(messagingLimit)),
    ...known(texts.throughput, throughput && texts.throughputs[throughput]({ n: formatNumber(speeds[throughput]) })),
    ...known(texts.name, nameStatus && <Chip tone={nameTones[nameStatus]}>{texts.names[nameStatus]}</Chip>),
    ...known(texts.newChats, newChats && <NewChats newChats={newChats} />),
    ...known(texts.locked, newChatsLockedUntil && lockText(newChatsLockedUntil)),
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
