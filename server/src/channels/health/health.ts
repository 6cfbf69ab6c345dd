import type { Clock } from '../../base/clock.ts'
import type { Db, Sql, Tx } from '../../base/db.ts'
import { newId } from '../../base/id.ts'
import { unnested } from '../../base/postgres/rows.ts'
import { type DueWatch, watchDueWork } from '../../base/pubsub.ts'
import { recordNotifications } from '../../notifications/record-notifications.ts'
import { connectionUpdates, liveUpdatesTopic } from '../../team/live-updates.ts'
import type { StoredConnection } from '../connection/connection.ts'
import { activityIntervalMs } from './activity.ts'
import { adviceFor } from './advice.ts'
import { holdsOf } from './availability.ts'
import { activeHolds } from './holds.ts'
import { numberProblems } from './number-status.ts'

export interface Advice {
  code: string
  text: string
}

/** Silent: `silentSends` messages were sent more than `silentMs` ago and nothing has arrived since. */
export const silentSends = 3
export const silentMs = 30 * 60_000

/** Returns the time since which nothing has arrived for a connection, not even a status of a send. */
export function silentSince({ lastEventInAt, createdAt }: StoredConnection): Date {
  // `lastEventInAt` is updated at most once per `activityIntervalMs`.
  return lastEventInAt === null ? createdAt : new Date(lastEventInAt.getTime() + activityIntervalMs)
}

/**
 * Returns advice for a connection, most urgent first. `isMuted`: messages are sent and nothing arrives. `unusedAgent`:
 * name of the key that receives new conversations, if it was never used.
 */
export function listAdvice(
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
  for (const code of numberProblems(one.numberStatus, now)) codes.push(code)
  const advice = codes.map((code) => ({ code, text: adviceFor(code, one.channel) }))
  // Visitors who have left report nothing until they are back.
  if (isSilent && one.channel !== 'website')
    advice.push({ code: 'nothing_arrives', text: silenceText(one, webhookUrl) })
  if (unusedAgent !== null) advice.push({ code: unusedAgentCode, text: unusedAgentText(unusedAgent) })
  return advice
}

export const unusedAgentCode = 'agent_never_used'

const unusedAgentText = (name: string) =>
  `New conversations go to the API key "${name}", which has never been used, so they get no reply. Start its agent, or choose another API key for new conversations on the API keys page.`

// Before pairing there is nothing to confirm: pairing would void the confirmation.
const isPaired = (one: StoredConnection) => one.numberId !== one.id || acknowledgedUntil(one) !== null

function silenceText({ channel }: StoredConnection, webhookUrl: string | null): string {
  if (channel === 'unofficial' || webhookUrl === null) {
    return 'Messages are sent, but WhatsApp reports nothing about them. Check that the phone is on and still lists this device.'
  }
  const who = channel === 'partner' ? 'partner' : 'platform'
  return `Messages are sent, but the ${who} reports nothing, not even their status. Check there that the webhook URL is ${webhookUrl} and that messages are subscribed. Check that this URL is reachable from the internet.`
}

const confirmationMs = 90 * 86_400_000

type RiskConfirmation = Pick<StoredConnection, 'channel' | 'acknowledgedAt'>

/** Returns when the confirmation of the unofficial channel's risk expires; null if there is none or none is needed. */
export function acknowledgedUntil({ channel, acknowledgedAt }: RiskConfirmation): Date | null {
  if (channel !== 'unofficial' || acknowledgedAt === null) return null
  return new Date(acknowledgedAt.getTime() + confirmationMs)
}

/** Returns whether a member must confirm the risk of the unofficial channel before a send. */
export function needsAcknowledgement(connection: RiskConfirmation, now: Date): boolean {
  if (connection.channel !== 'unofficial') return false
  const until = acknowledgedUntil(connection)
  return until === null || until <= now
}

/** Outages shorter than this are not notified: linked devices reconnect often. */
const minOutageMs = 60_000
/** Shorter than `minOutageMs`, so that an outage is detected within the following minute. */
const pollEveryMs = 55_000
/** Live updates of a connection are not always about its state, so checks are at least this far apart. */
const minPauseMs = 15_000

/** Watches for outages to notify and for notified outages that have ended. */
export function watchOutages({ db, clock }: { db: Db; clock: Clock }): DueWatch {
  const nextAt = async () => {
    const [row] = await db.sql<{ lostAt: Date | null; hasEnded: boolean }[]>`
      select
        (select min(c.state_changed_at) from connections c where ${isUnnotified(db.sql)}) as "lostAt",
        exists (select 1 from told_outages t join connections c on ${hasRecovered(db.sql)}) as "hasEnded"`
    if (row?.hasEnded) return new Date(0)
    return row?.lostAt ? new Date(row.lostAt.getTime() + minOutageMs) : null
  }
  return watchDueWork(
    { db, clock },
    { nextAt, pollEveryMs, minPauseMs, watchedTopics: [{ topic: liveUpdatesTopic, isRelevant: connectionUpdates }] },
  )
}

/**
 * Notifies every member, once per outage, of a connection that worked before and no longer does. Called by a timer, on
 * any node. Returns the number of outages notified.
 */
export function notifyOutages(db: Db, clock: Clock): Promise<number> {
  return db.tx(async (tx) => {
    const now = clock.now()
    await deleteEndedOutages(tx)
    const down = await tx<{ workspaceId: string; connectionId: string }[]>`
      select c.workspace_id as "workspaceId", c.id as "connectionId"
      from connections c
      where c.state_changed_at <= ${new Date(now.getTime() - minOutageMs)}
        and ${isUnnotified(tx)}`
    if (down.length === 0) return 0
    const outages = await tx<{ workspaceId: string; connectionId: string }[]>`
      insert into told_outages (workspace_id, connection_id)
      select n.workspace_id, n.connection_id
      from ${unnested(down, { uuid: ['workspaceId', 'connectionId'] })}
      on conflict do nothing
      returning workspace_id as "workspaceId", connection_id as "connectionId"`
    for (const { workspaceId, connectionId } of outages) {
      const notification = { kind: 'connection', cause: newId(now), userId: null, connectionId } as const
      await recordNotifications(tx, workspaceId, [{ ...notification, actor: { type: 'system', id: null } }], now)
    }
    return outages.length
  })
}

async function deleteEndedOutages(tx: Tx): Promise<void> {
  await tx`
    delete from told_outages t
    using connections c
    where ${hasRecovered(tx)}`
}

const isUnnotified = (sql: Sql) => sql`
  c.state = 'unavailable'
    and c.removed_at is null
    and coalesce(c.last_event_in_at, c.last_event_out_at) is not null
    and c.state_reason is distinct from 'pairing'
    and (c.workspace_id, c.id) not in (select workspace_id, connection_id from told_outages)`

const hasRecovered = (sql: Sql) => sql`
  c.workspace_id = t.workspace_id
    and c.id = t.connection_id
    and c.state <> 'unavailable'`
