import type { Sql, Tx } from '../../base/db.ts'
import { firstIdAt } from '../../base/id.ts'
import { secondsToNextUtcDay, startOfUtcDay } from '../../base/time.ts'
import type { PlainTx } from '../conversation/conversation.ts'
import { outcomeUnknown } from '../conversation/message.ts'
import { opaqueWorkspaceId } from '../conversation/queries.ts'
import type { Sender } from './send-deps.ts'
import { dailySendsReached, unansweredLimit } from './send-errors.ts'

/** A send with its conversation, for limits of its key. */
export interface LimitedSend {
  sender: Sender
  conversationId: string
}

/** Remaining limits of several sends, under their conversations' locks. */
export interface Allowance {
  /** Throws 409 `UNANSWERED_LIMIT` or 429 `DAILY_SENDS_REACHED` if the send exceeds a limit. */
  check(send: LimitedSend): void
  consume(send: LimitedSend): void
  /** Gives sends that were counted but not made back to the daily limit. */
  release(): Promise<void>
}

const unlimited: Allowance = { check: () => {}, consume: () => {}, release: async () => {} }

/**
 * Counts earlier sends of these keys and adds these to the day's count, which stays locked until the transaction ends.
 * Sends without limits cost nothing. Call it after locking the conversations.
 */
export async function countSends(work: PlainTx, sends: readonly LimitedSend[]): Promise<Allowance> {
  const { tx, workspaceId, now } = work
  const inConversation = sends.filter(({ sender }) => unansweredOf(sender) !== null)
  const inDay = sends.filter(({ sender }) => dailyOf(sender) !== null)
  if (inConversation.length + inDay.length === 0) return unlimited
  const [unanswered, usage] = await Promise.all([
    inConversation.length === 0 ? new Map<string, number>() : countUnanswered(tx, workspaceId, inConversation),
    inDay.length === 0 ? new Map<string, DailyUsage>() : countForDay(work, inDay),
  ])
  return {
    check: (send) => {
      const [limit, dayLimit] = [unansweredOf(send.sender), dailyOf(send.sender)]
      if (limit !== null && (unanswered.get(threadOf(send)) ?? 0) >= limit) throw unansweredLimit(limit)
      const used = usage.get(send.sender.actor.id)?.used ?? 0
      if (dayLimit !== null && used >= dayLimit) throw dailySendsReached(dayLimit, secondsToNextUtcDay(now))
    },
    consume: (send) => {
      unanswered.set(threadOf(send), (unanswered.get(threadOf(send)) ?? 0) + 1)
      const ofKey = usage.get(send.sender.actor.id)
      if (ofKey !== undefined) ofKey.used++
    },
    release: () => releaseUnused(tx, workspaceId, usage),
  }
}

const unansweredOf = ({ limits }: Sender): number | null => limits?.unanswered ?? null
const dailyOf = ({ limits }: Sender): number | null => limits?.daily ?? null
const threadOf = ({ sender, conversationId }: LimitedSend): string => `${conversationId} ${sender.actor.id}`

// Limits the scan: messages older than this many are not counted.
const maxDepth = 1000

/**
 * Counts the messages of each key in its conversation since the customer's last one arrived, by `threadOf`. Ids decide
 * which came first, because the platform's clock, which sorts threads, may differ from ours. Definitely failed messages
 * do not count.
 */
async function countUnanswered(tx: Tx, workspaceId: string, sends: readonly LimitedSend[]) {
  const workspace = opaqueWorkspaceId(tx, workspaceId)
  const distinctSends = [...new Map(sends.map((send) => [threadOf(send), send])).values()]
  const thread = tx`
    select id, occurred_at, direction = 'inbound' and kind <> 'system' as is_customers, actor_type, actor_id, status, error_code
    from messages
    where workspace_id = ${workspace} and conversation_id = n.conversation_id`
  const newestFirst = tx`order by workspace_id desc, conversation_id desc, occurred_at desc limit ${maxDepth}`
  const rows = await tx<{ conversation_id: string; key_id: string; sends: number }[]>`
    select n.conversation_id, n.key_id, own.sends
    from unnest(
      ${distinctSends.map(({ conversationId }) => conversationId)}::uuid[],
      ${distinctSends.map(({ sender }) => sender.actor.id)}::uuid[]
    ) as n (conversation_id, key_id)
    left join lateral (
      select occurred_at - interval '10 minutes' as at
      from (${thread} ${newestFirst}) as t
      where is_customers
      limit 1
    ) as since on true
    cross join lateral (
      with recent as materialized (
        ${thread} and occurred_at >= coalesce(since.at, '-infinity') ${newestFirst}
      )
      select count(*)::integer as sends
      from recent
      where actor_type = 'agent' and actor_id = n.key_id
        and (status <> 'failed' or error_code = ${outcomeUnknown})
        and id > coalesce((select id from recent where is_customers order by id desc limit 1), ${firstIdAt(new Date(0))})
    ) as own`
  return new Map(rows.map((row) => [`${row.conversation_id} ${row.key_id}`, row.sends]))
}

/** Usage of a key's daily limit: total, before this transaction, and counted by it. */
interface DailyUsage {
  used: number
  before: number
  counted: number
}

// Sorted by key to prevent deadlocks. A node whose clock is behind counts for the stored, later day.
async function countForDay({ tx, workspaceId, now }: PlainTx, sends: readonly LimitedSend[]) {
  const counts = new Map<string, number>()
  for (const { sender } of sends) counts.set(sender.actor.id, (counts.get(sender.actor.id) ?? 0) + 1)
  const rows = await tx<{ key_id: string; sends: number }[]>`
    insert into key_sends as k (workspace_id, key_id, day, sends)
    select ${workspaceId}::uuid, n.key_id, ${startOfUtcDay(now)}::date, n.sends
    from unnest(${[...counts.keys()]}::uuid[], ${[...counts.values()]}::integer[]) as n (key_id, sends)
    order by n.key_id
    on conflict (workspace_id, key_id) do update
    set sends = case when excluded.day > k.day then 0 else k.sends end + excluded.sends,
      day = greatest(k.day, excluded.day)
    returning key_id, sends`
  return new Map(
    rows.map(({ key_id, sends: all }) => {
      const counted = counts.get(key_id) ?? 0
      return [key_id, { used: all - counted, before: all - counted, counted }]
    }),
  )
}

/** Returns how many messages the key has sent in the UTC day, if they are counted. */
export async function countSentToday(sql: Sql, workspaceId: string, keyId: string, now: Date): Promise<number> {
  const [row] = await sql<{ sends: number }[]>`
    select sends
    from key_sends
    where workspace_id = ${workspaceId}
      and key_id = ${keyId}
      and day >= ${startOfUtcDay(now)}::date`
  return row?.sends ?? 0
}

async function releaseUnused(tx: Tx, workspaceId: string, dailyUsage: ReadonlyMap<string, DailyUsage>): Promise<void> {
  const unused = [...dailyUsage].map(([id, { used, before, counted }]) => ({ id, count: counted - (used - before) }))
  const some = unused.filter(({ count }) => count > 0)
  if (some.length === 0) return
  await tx`
    update key_sends k
    set sends = k.sends - n.sends
    from unnest(
      ${some.map(({ id }) => id)}::uuid[],
      ${some.map(({ count }) => count)}::integer[]
    ) as n (key_id, sends)
    where k.workspace_id = ${workspaceId}
      and k.key_id = n.key_id`.execute()
}
