import type { Clock } from '../../base/clock.ts'
import type { Db, Sql, Tx } from '../../base/db.ts'
import { newId } from '../../base/id.ts'
import { type DueWatch, watchDue } from '../../base/pubsub.ts'
import { recordNotifications } from '../../notifications/record-notifications.ts'
import { connectionUpdates, liveUpdatesTopic } from '../../team/live-updates.ts'
import type { Channel, StoredConnection } from '../connection/connection.ts'
import { noteEveryMs } from './activity.ts'
import { adviceOn } from './advice.ts'
import { holdsOf } from './availability.ts'
import { activeHolds } from './holds.ts'

export interface Advice {
  code: string
  text: string
}

/** The sends that a platform which tells nothing is judged by: so many of them, each so long ago. */
export const silentSends = 3
export const silentMs = 30 * 60_000

/** Since when nothing has arrived for a connection, not even a status of what it sent. */
export function silentSince({ lastEventInAt, createdAt }: StoredConnection): Date {
  // The note of it may be that old.
  return lastEventInAt === null ? createdAt : new Date(lastEventInAt.getTime() + noteEveryMs)
}

/**
 * What its team should do about a connection, the most urgent first. `isSilent`: messages go out and nothing arrives.
 * `unusedAgent`: the name of the key that gets new conversations, when nobody has ever come in with it.
 */
export function adviseOn(
  one: StoredConnection,
  isSilent: boolean,
  unusedAgent: string | null,
  webhookUrl: string | null,
  now: Date,
): Advice[] {
  const codes: string[] = []
  if (one.state === 'paused') codes.push('paused')
  if (one.state === 'unavailable') codes.push(one.stateReason ?? 'unreachable')
  for (const { reason } of activeHolds(holdsOf(one), now)) if (!codes.includes(reason)) codes.push(reason)
  if (needsAcknowledgement(one, now) && isPaired(one)) codes.push('acknowledgement_required')
  const advice = codes.map((code) => ({ code, text: adviceOn(code, one.channel) }))
  if (isSilent) advice.push({ code: 'nothing_arrives', text: silenceText(one, webhookUrl) })
  if (unusedAgent !== null) advice.push({ code: unusedAgentCode, text: unusedText(unusedAgent) })
  return advice
}

export const unusedAgentCode = 'agent_never_used'

const unusedText = (name: string) =>
  `New conversations go to the key "${name}", which has never been used: nobody answers them. Start its agent, or change on the page of API keys which key answers new conversations.`

// Before a phone is linked there is nothing to confirm: a pairing would void it.
const isPaired = (one: StoredConnection) => one.numberId !== one.id || acknowledgedUntil(one) !== null

function silenceText({ channel }: StoredConnection, webhookUrl: string | null): string {
  if (channel === 'unofficial' || webhookUrl === null) {
    return 'Messages go out, but the network tells nothing of them. Look whether the phone is on and still lists this device.'
  }
  const who = channel === 'partner' ? 'partner' : 'platform'
  return `Messages go out, but the ${who} tells nothing, not even of these. Look there whether the webhook address is ${webhookUrl}, whether messages are subscribed, and whether that address is reached from the internet.`
}

const currentMs = 90 * 86_400_000

interface Acknowledged {
  channel: Channel
  acknowledgedAt: Date | null
}

/** When the confirmation of the unofficial channel's risk ends; null when there is none or none is needed. */
export function acknowledgedUntil({ channel, acknowledgedAt }: Acknowledged): Date | null {
  if (channel !== 'unofficial' || acknowledgedAt === null) return null
  return new Date(acknowledgedAt.getTime() + currentMs)
}

/** Whether a send must wait for a member to confirm the risk of the unofficial channel. */
export function needsAcknowledgement(connection: Acknowledged, now: Date): boolean {
  if (connection.channel !== 'unofficial') return false
  const until = acknowledgedUntil(connection)
  return until === null || until <= now
}

/** What is back within this is worth nobody's attention: linked devices come and go. */
const minOutageMs = 60_000
/** Within the minute after which an outage is one. */
const pollEveryMs = 55_000
/** What is told anew of a connection is not always how it stands. */
const minPauseMs = 15_000

/** Whether there is an outage to be told of, or one of those is over. */
export function watchOutages({ db, clock }: { db: Db; clock: Clock }): DueWatch {
  const nextAt = async () => {
    const [row] = await db.sql<{ lostAt: Date | null; hasEnded: boolean }[]>`
      select
        (select min(c.state_changed_at) from connections c where ${isUntold(db.sql)}) as "lostAt",
        exists (select from told_outages t join connections c on ${isOver(db.sql)}) as "hasEnded"`
    if (row?.hasEnded) return new Date(0)
    return row?.lostAt ? new Date(row.lostAt.getTime() + minOutageMs) : null
  }
  return watchDue(
    { db, clock },
    { nextAt, pollEveryMs, minPauseMs, watchedTopics: [{ topic: liveUpdatesTopic, isRelevant: connectionUpdates }] },
  )
}

/**
 * Tells every member of a connection that worked and does not any more, once for each outage. For a timer; any node may. Returns
 * how many outages were told of.
 */
export function tellOutages(db: Db, clock: Clock): Promise<number> {
  return db.tx(async (tx) => {
    const now = clock.now()
    await endTold(tx)
    const down = await tx<{ workspaceId: string; connectionId: string }[]>`
      select c.workspace_id as "workspaceId", c.id as "connectionId"
      from connections c
      where c.state_changed_at <= ${new Date(now.getTime() - minOutageMs)}
        and ${isUntold(tx)}`
    if (down.length === 0) return 0
    const lost = await tx<{ workspaceId: string; connectionId: string }[]>`
      insert into told_outages (workspace_id, connection_id)
      select d.workspace_id, d.connection_id
      from unnest(
        ${down.map(({ workspaceId }) => workspaceId)}::uuid[],
        ${down.map(({ connectionId }) => connectionId)}::uuid[]
      ) as d (workspace_id, connection_id)
      on conflict do nothing
      returning workspace_id as "workspaceId", connection_id as "connectionId"`
    for (const { workspaceId, connectionId } of lost) {
      const notice = { kind: 'connection', cause: newId(now), userId: null, connectionId } as const
      await recordNotifications(tx, workspaceId, [{ ...notice, actor: { type: 'system', id: null } }], now)
    }
    return lost.length
  })
}

async function endTold(tx: Tx): Promise<void> {
  await tx`
    delete from told_outages t
    using connections c
    where ${isOver(tx)}`
}

const isUntold = (sql: Sql) => sql`
  c.state = 'unavailable'
    and c.removed_at is null
    and coalesce(c.last_event_in_at, c.last_event_out_at) is not null
    and c.state_reason is distinct from 'pairing'
    and (c.workspace_id, c.id) not in (select workspace_id, connection_id from told_outages)`

const isOver = (sql: Sql) => sql`
  c.workspace_id = t.workspace_id
    and c.id = t.connection_id
    and c.state <> 'unavailable'`
