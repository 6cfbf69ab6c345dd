import { forEach } from '../../base/async/for-each.ts'
import type { Clock } from '../../base/clock.ts'
import type { Db, Tx } from '../../base/db.ts'
import { ApiError, conflict } from '../../base/errors.ts'
import { firstIdAt, newId } from '../../base/id.ts'
import { type DueWatch, watchDueWork } from '../../base/pubsub.ts'
import { type ChangeTx, inWorkspace } from '../conversation/conversation.ts'
import { sendMessage } from '../send/send.ts'
import type { QuickReply } from '../send/send-command.ts'
import { type LockedCheck, type SendDeps, systemSender } from '../send/send-deps.ts'
import { parseSendOutcome } from '../send/settle-parts.ts'
import { choicesOf, findQuickReplies } from './question.ts'
import { channelsWithQuestions, readSatisfactionSettings, type SatisfactionSettings } from './satisfaction-settings.ts'

const everyMs = 60_000
/** Closings that are looked at in one transaction, and transactions for a workspace in a run. */
const [maxClosings, maxRounds] = [200, 25]
/** Questions that are claimed at once, and how many workspaces, and questions of one, are worked on at once. */
const batchSize = 40
const [workspacesAtOnce, questionsAtOnce] = [8, 4]
/** Longer than almost every batch. A second process that takes over can do no harm: the send has an idempotency key. */
const leaseMs = 120_000
/** How long a run asks the customers of a workspace: a slow platform keeps no other workspace waiting. */
const askForMs = 30_000
/** After an outage, a customer whose conversation was closed longer ago than this beyond the wait is not asked. */
const maxDelayMs = 24 * 3_600_000

/** Reports once a minute that there is work if a workspace asks its customers: closing a conversation does nothing for it. */
export function watchSatisfaction({ db, clock }: { db: Db; clock: Clock }): DueWatch {
  const nextAt = async (now: Date) => {
    const [row] = await db.sql<{ isUsed: boolean }[]>`
      select exists (select 1 from satisfaction_settings where is_enabled) as "isUsed"`
    return row?.isUsed ? now : null
  }
  return watchDueWork({ db, clock }, { nextAt, pollEveryMs: everyMs })
}

/**
 * Asks customers whose conversations were closed long enough ago, and are still closed, how satisfied they are. The
 * ordinary send judges the question again under the lock of the conversation; its idempotency key names the row, so that
 * it is sent once, whichever process dies when. Returns the number asked.
 */
export async function askForRatings(deps: SendDeps): Promise<number> {
  const rows = await deps.db.sql<{ id: string }[]>`
    select s.workspace_id as id
    from satisfaction_settings s
    join workspaces w
      on w.id = s.workspace_id
    where s.is_enabled
      and w.inbox_enabled
      and w.inbox_available`
  let asked = 0
  await forEach(rows, workspacesAtOnce, async ({ id }) => {
    try {
      for (let round = 0; round < maxRounds; round++) {
        if ((await inWorkspace(deps, id, planNext)) < maxClosings) break
      }
      asked += await askDue(deps, id)
    } catch (error) {
      // What was planned waits, and the position moves only with a plan.
      deps.log.warn('failed to ask customers how satisfied they are; retrying in 1 min', { workspaceId: id }, error)
    }
  })
  return asked
}

interface Closing {
  id: string
  conversationId: string
  connectionId: string
  /** Whether the customer can be asked; the other fields say about what. */
  isWanted: boolean
  /** Digest of the phone, the same on every connection; null while it is hidden. */
  customer: string | null
  answeredBy: 'agent' | 'user' | 'token' | 'system' | null
  answererId: string | null
}

/** Plans questions about the next closings, and returns how many it has looked at. */
async function planNext({ tx, workspaceId, now }: ChangeTx): Promise<number> {
  const [locked] = await tx<{ position: string }[]>`
    select position
    from satisfaction_settings
    where workspace_id = ${workspaceId}
      and is_enabled
    for update skip locked`
  if (locked === undefined) return 0
  const settings = await readSatisfactionSettings(tx, workspaceId)
  const dueBefore = new Date(now.getTime() - settings.waitMinutes * 60_000)
  const upTo = firstIdAt(dueBefore)
  if (upTo <= locked.position) return 0
  const oldest = firstIdAt(new Date(dueBefore.getTime() - maxDelayMs))
  const from = oldest > locked.position ? oldest : locked.position
  const closings = await readClosings(tx, workspaceId, { from, upTo }, settings, now)
  const position = closings.length === maxClosings ? (closings.at(-1)?.id ?? upTo) : upTo
  await tx`
    update satisfaction_settings
    set position = ${position}
    where workspace_id = ${workspaceId}`
  const wanted = closings.filter(({ isWanted, answeredBy }) => isWanted && answeredBy !== null)
  const planned = new Map(wanted.map((one) => [one.customer ?? one.conversationId, one]))
  for (const one of planned.values()) {
    await tx`
      insert into satisfaction_ratings (
        workspace_id, id, conversation_id, connection_id, closing_id, status, answered_by, answerer_id, scale, created_at,
        next_at
      )
      values (
        ${workspaceId}, ${newId(now)}, ${one.conversationId}, ${one.connectionId}, ${one.id}, 'waiting',
        ${one.answeredBy}, ${one.answererId}, ${settings.scale}, ${now}, ${now}
      )
      on conflict do nothing`
  }
  return closings.length
}

/**
 * Reads closings in a range of ids, with who had answered last. An agent that has closed what it answered itself does not
 * decide by that whether it is judged; a customer who was asked in the last days, on any connection, is not asked again.
 */
async function readClosings(
  tx: Tx,
  workspaceId: string,
  { from, upTo }: { from: string; upTo: string },
  { connectionIds, everyDays }: SatisfactionSettings,
  now: Date,
): Promise<Closing[]> {
  const askedSince = new Date(now.getTime() - everyDays * 86_400_000)
  return tx<Closing[]>`
    select a.id, c.id as "conversationId", c.connection_id as "connectionId", encode(c.phone_index, 'hex') as customer,
      case when m.origin = 'echo' then 'user' else m.actor_type end as "answeredBy", m.actor_id as "answererId",
      c.status in ('resolved', 'closed')
        and c.newest_inbound_id is not null
        and c.channel = any (${[...channelsWithQuestions]}::text[])
        and (${connectionIds.length === 0} or c.connection_id = any (${connectionIds}::uuid[]))
        and not (a.actor_type = 'agent' and m.actor_type = 'agent' and a.actor_id = m.actor_id)
        and not exists (
          select 1 from conversation_activities later
          where later.workspace_id = ${workspaceId}
            and later.conversation_id = a.conversation_id
            and later.created_at >= a.created_at
            and later.id > a.id
            and later.kind = 'status'
            and later.detail ->> 'to' not in ('resolved', 'closed')
        )
        and not exists (
          select 1 from conversations o
          join satisfaction_ratings r
            on r.workspace_id = ${workspaceId}
            and r.conversation_id = o.id
          where o.workspace_id = ${workspaceId}
            and (o.id = c.id or o.phone_index = c.phone_index)
            and r.created_at > ${askedSince}
            and r.status in ('waiting', 'asked', 'rated')
        ) as "isWanted"
    from conversation_activities a
    join conversations c
      on c.workspace_id = ${workspaceId}
      and c.id = a.conversation_id
    left join lateral (
      select m.origin, m.actor_type, m.actor_id
      from messages m
      where m.workspace_id = ${workspaceId}
        and m.conversation_id = a.conversation_id
        and m.direction = 'outbound'
        and m.occurred_at <= a.created_at
        and m.status <> 'failed'
        and (m.origin = 'echo' or m.actor_id is not null)
        -- Those of broadcasts and sequences answer nothing.
        and not (
          m.actor_type = 'system'
          and (
            exists (select 1 from broadcasts b where b.workspace_id = ${workspaceId} and b.id = m.actor_id)
            or exists (select 1 from sequences q where q.workspace_id = ${workspaceId} and q.id = m.actor_id)
          )
        )
      order by m.occurred_at desc
      limit 1
    ) as m on true
    where a.workspace_id = ${workspaceId}
      and a.id > ${from}
      and a.id < ${upTo}
      and a.kind = 'status'
      and a.detail ->> 'to' in ('resolved', 'closed')
      and a.detail ->> 'from' not in ('resolved', 'closed')
    order by a.id
    limit ${maxClosings}`
}

interface DueRating {
  id: string
  conversationId: string
  connectionId: string
}

async function askDue(deps: SendDeps, workspaceId: string): Promise<number> {
  const settings = await readSatisfactionSettings(deps.db.sql, workspaceId)
  const endsAt = performance.now() + askForMs
  let asked = 0
  for (;;) {
    const due = await inWorkspace(deps, workspaceId, ({ tx, now }) => claimDue(tx, workspaceId, now))
    await forEach(due, questionsAtOnce, async (one) => {
      try {
        if (await ask(deps, workspaceId, one, settings)) asked++
      } catch (error) {
        deps.log.warn('failed to send a question about satisfaction; retrying in 2 min', { workspaceId }, error)
      }
    })
    if (due.length < batchSize || performance.now() >= endsAt) return asked
  }
}

/** Takes the lease of the next questions of a workspace; other processes skip them. */
async function claimDue(tx: Tx, workspaceId: string, now: Date): Promise<DueRating[]> {
  return tx<DueRating[]>`
    with due as (
      select id
      from satisfaction_ratings
      where workspace_id = ${workspaceId}
        and next_at <= ${now}
      order by next_at
      limit ${batchSize}
      for update skip locked
    )
    update satisfaction_ratings r
    set next_at = ${new Date(now.getTime() + leaseMs)}
    from due
    where r.workspace_id = ${workspaceId}
      and r.id = due.id
    returning r.id, r.conversation_id as "conversationId", r.connection_id as "connectionId"`
}

/** The row, or the conversation, has changed since the question was planned. */
const notWanted = () => conflict('The conversation is no longer closed', { code: 'OPENED_AGAIN' })

/** Returns the check under the lock of the conversation: cancelled, erased and answered rows are not asked about. */
const stillWanted =
  ({ id }: DueRating): LockedCheck =>
  async ({ tx, workspaceId }, { status }) => {
    const [row] = await tx`
      select id
      from satisfaction_ratings
      where workspace_id = ${workspaceId}
        and id = ${id}
        and status = 'waiting'
      for update`
    if (row === undefined || (status !== 'resolved' && status !== 'closed')) throw notWanted()
  }

async function ask(
  deps: SendDeps,
  workspaceId: string,
  rating: DueRating,
  settings: SatisfactionSettings,
): Promise<boolean> {
  const { id, conversationId } = rating
  const common = {
    conversationId,
    idempotencyKey: `rating:${id}`,
    identity: { rating: id },
    check: stillWanted(rating),
  }
  const send = (rest: { body: object; quickReplies?: readonly QuickReply[] }) =>
    sendMessage(deps, systemSender(workspaceId), { ...common, syntax: 'whole', ...rest })
  try {
    const sent = await send({ body: choicesOf(id, settings) }).catch(async (error) => {
      if (codeOf(error) !== 'WINDOW_CLOSED') throw error
      const quickReplies = await findQuickReplies(deps.db.sql, workspaceId, rating, settings)
      if (quickReplies === null) throw error
      return send({ body: { kind: 'template', template: settings.template }, quickReplies })
    })
    const { status, message_id } = parseSendOutcome(sent)
    const isFailed = status === 'failed'
    await settle(deps, workspaceId, rating, isFailed ? ['skipped', 'DELIVERY_FAILED'] : ['asked', null], message_id)
    return !isFailed
  } catch (error) {
    const code = codeOf(error)
    // Nobody knows yet whether the customer has it: a later run repeats the key.
    if (code === null || code === 'NOT_RETRYABLE') throw error
    await settle(deps, workspaceId, rating, [code === 'OPENED_AGAIN' ? 'cancelled' : 'skipped', code], null)
    return false
  }
}

/** Returns why a send was refused; null for failures of our own. */
const codeOf = (error: unknown): string | null =>
  error instanceof ApiError && error.statusCode < 500 ? String(error.data?.code ?? 'INVALID_MESSAGE') : null

/** The customer may have answered before this: then nothing changes. */
async function settle(
  deps: SendDeps,
  workspaceId: string,
  { id }: DueRating,
  [status, reason]: ['asked' | 'skipped' | 'cancelled', string | null],
  messageId: string | null,
): Promise<void> {
  await inWorkspace(deps, workspaceId, async ({ tx, now }) => {
    await tx`
      update satisfaction_ratings
      set status = case when status = 'waiting' then ${status} else status end,
        reason = ${reason},
        message_id = coalesce(${messageId}::uuid, message_id),
        asked_at = case when ${status === 'asked'} then coalesce(asked_at, ${now}) else asked_at end,
        next_at = null
      where workspace_id = ${workspaceId}
        and id = ${id}
        and status in ('waiting', 'rated')`
  })
}
