import { andWorkspace } from '../../base/citus/distributed-sql.ts'
import type { Fragment, Tx } from '../../base/db.ts'
import { unnested } from '../../base/postgres/rows.ts'
import type { Conversation, WorkspaceTx } from '../conversation/conversation.ts'
import { callLeaseMs, leaseMs, takeoverWaitMs } from '../conversation/dispatches.ts'
import { type ConversationRow, decryptConversation } from '../conversation/encrypted-conversation.ts'
import { conversationColumns, matchesConversationId, opaqueWorkspaceId } from '../conversation/queries.ts'
import type { ParsedSend } from './send-deps.ts'
import type { SendRates } from './send-rate.ts'

/** A locked conversation. */
export interface LockedConversation {
  conversation: Conversation
  /** Whether a change of owner waits for calls in progress. */
  isHeld: boolean
  /** Whether its workspace has budgets, so that others need no query for them. */
  hasBudgets: boolean
}

/**
 * Locks the conversations of sends. Skips those locked by others, so that these delay only their own sends. With
 * `isSingle` it waits for the lock and follows merges of the conversation, also those during the wait.
 */
export async function lockForSends(
  { tx, keyring, workspaceId }: WorkspaceTx,
  sends: readonly ParsedSend[],
  isSingle: boolean,
): Promise<LockedConversation[]> {
  for (let attempt = 1; ; attempt++) {
    const rows = await tx<(ConversationRow & { is_held: boolean; has_budgets: boolean })[]>`
      select ${conversationColumns(tx)}, coalesce(c.starts_held_until > clock_timestamp(), false) as is_held,
        exists (select 1 from budget_counts where workspace_id = ${opaqueWorkspaceId(tx, workspaceId)}) as has_budgets
      from conversations c
      where ${matchesSends(tx, workspaceId, sends, isSingle)}
      order by c.id
      for update of c ${isSingle ? tx`` : tx`skip locked`}`
    if (rows.length > 0 || !isSingle || attempt === 2) {
      return rows.map((row) => ({
        conversation: decryptConversation(keyring, row),
        isHeld: row.is_held,
        hasBudgets: row.has_budgets,
      }))
    }
  }
}

/** SQL: ids of the connections of the sends' conversations. */
export const connectionsOf = (
  tx: Tx,
  workspaceId: string,
  sends: readonly ParsedSend[],
  isAlone: boolean,
): Fragment => tx`
  select c.connection_id
  from conversations c
  where ${matchesSends(tx, workspaceId, sends, isAlone)}`

function matchesSends(tx: Tx, workspaceId: string, sends: readonly ParsedSend[], isAlone: boolean): Fragment {
  const [first] = sends
  if (isAlone && first !== undefined) return matchesConversationId(tx, first.sender, first.conversationId)
  const ids = [...new Set(sends.map(({ conversationId }) => conversationId))]
  return tx`c.workspace_id = ${opaqueWorkspaceId(tx, workspaceId)} and c.id = any (${ids}::uuid[])`
}

/** An Idempotency-Key with its sender. */
export interface SenderKey {
  senderId: string
  key: string
}

/**
 * Returns the positions of keys that were used before. Compares each with the first key not below it, because only the
 * index of keys has that order: for an equality search the planner may choose another index while the table is small,
 * read all sends of the workspace, and keep that plan while the table grows.
 */
export async function findUsedKeys(tx: Tx, workspaceId: string, keys: readonly SenderKey[]): Promise<number[]> {
  const workspace = opaqueWorkspaceId(tx, workspaceId)
  const rows = await tx<{ place: number }[]>`
    select n.place::integer - 1 as place
    from unnest(
      ${keys.map(({ senderId }) => senderId)}::uuid[],
      ${keys.map(({ key }) => key)}::text[]
    ) with ordinality as n (sender_id, idempotency_key, place)
    cross join lateral (
      select workspace_id, sender_id, idempotency_key from sends
      where (workspace_id, sender_id, idempotency_key) >= (${workspace}, n.sender_id, n.idempotency_key)
        ${andWorkspace(tx, workspaceId, 'sends')}
      order by workspace_id, sender_id, idempotency_key
      limit 1
    ) as s
    where s.workspace_id = ${workspace}
      and s.sender_id = n.sender_id
      and s.idempotency_key = n.idempotency_key`
  return rows.map(({ place }) => place)
}

export interface NewSend extends SenderKey {
  conversationId: string
  connectionId: string
  messageId: string
  fingerprint: Buffer
  parts: number
}

export async function insertSends(tx: Tx, workspaceId: string, sends: readonly NewSend[], now: Date): Promise<void> {
  await Promise.all([
    tx`
      insert into sends (
        workspace_id, sender_id, conversation_id, message_id, idempotency_key, fingerprint, created_at
      )
      select ${workspaceId}::uuid, n.*, ${now}::timestamptz
      from ${unnested(sends, {
        uuid: ['senderId', 'conversationId', 'messageId'],
        text: ['key'],
        bytea: ['fingerprint'],
      })}`.execute(),
    tx`
      insert into message_parts (workspace_id, message_id, part, connection_id, status)
      select ${workspaceId}::uuid, n.message_id, part, n.connection_id, 'pending'
      from ${unnested(sends, { uuid: ['messageId', 'connectionId'], integer: ['parts'] })}
      cross join generate_series(1, n.parts) as part`.execute(),
  ])
}

/** A dispatch to create. */
export interface DispatchStart {
  messageId: string
  conversationId: string
  connectionId: string
  /** Null if a change of owner does not stop the send. */
  ownerEpoch: number | null
  /** Whether the send rate limiter assigns a slot with the reservation. */
  takesPlace: boolean
  /** Whether the call can start as soon as its slot is due, without asking for permission. */
  mayStart: boolean
  rates: SendRates
}

export interface StartedDispatch {
  messageId: string
  turn: number
  /** Time until its slot; null if it has none yet, for example behind an earlier send. */
  waitMs: number | null
  /** Whether the first call may start, as by `allowStart`. */
  isAllowed: boolean
}

/**
 * Creates the dispatches of sends, each after all others of its conversation, under the conversations' locks. The first
 * send of a conversation takes a slot in the rate limits of connection and customer, as by `reserveSlot`, and may start
 * when it is due. `now` is database time, shared by all processes.
 */
export async function startDispatches(
  tx: Tx,
  workspaceId: string,
  sends: readonly DispatchStart[],
  now: Fragment,
): Promise<StartedDispatch[]> {
  const workspace = opaqueWorkspaceId(tx, workspaceId)
  const rows = sends.map(({ rates: { connection, pair }, ...send }, place) => {
    return { ...send, ...connection, pairEveryMs: pair.everyMs, pairBurst: pair.burst, place }
  })
  return tx<StartedDispatch[]>`
    with asked as (
      select n.*, coalesce(last.turn, 0) + row_number() over (partition by n.conversation_id order by n.place) as turn
      from ${unnested(rows, {
        uuid: ['messageId', 'conversationId', 'connectionId'],
        integer: ['ownerEpoch', 'place'],
        boolean: ['takesPlace', 'mayStart'],
        float8: ['everyMs', 'burst', 'pairEveryMs', 'pairBurst'],
      })}
      cross join lateral (
        select max(turn) as turn from dispatches
        where workspace_id = ${workspace} and conversation_id = n.conversation_id
      ) as last
    ),
    step as (
      select s.*, sum(every_ms) over (partition by id) as line_ms,
        sum(every_ms) over (partition by id order by place) as place_ms
      from (
        select connection_id as id, message_id, every_ms, burst, place from asked where turn = 1 and takes_place
        union all
        select conversation_id as id, message_id, pair_every_ms, pair_burst, place from asked where turn = 1 and takes_place
      ) as s
    ),
    taken as (
      insert into send_paces as p (workspace_id, id, next_at)
      select ${workspaceId}::uuid, id, ${now} + max(line_ms) * interval '1 millisecond'
      from step
      group by id
      order by id
      on conflict (workspace_id, id) do update
      -- In UTC, as in reserveSlot.
      set next_at = (greatest(p.next_at, ${now}) at time zone 'UTC' + (excluded.next_at - ${now})) at time zone 'UTC'
      returning p.id, p.next_at
    ),
    wait as (
      select step.message_id, max(
        extract(epoch from taken.next_at - clock_timestamp()) * 1000 - (line_ms - place_ms) - every_ms * burst
      )::float8 as ms
      from step
      join taken on taken.id = step.id
      group by step.message_id
    ),
    begun as (
      insert into dispatches (
        workspace_id, message_id, conversation_id, turn, owner_epoch, alive_until, starting_until
      )
      select ${workspaceId}::uuid, a.message_id, a.conversation_id, a.turn, a.owner_epoch,
        clock_timestamp()
          + case when starts then ${callLeaseMs}::float8 else ${leaseMs}::float8 end * interval '1 millisecond',
        case when starts then clock_timestamp() + ${takeoverWaitMs}::float8 * interval '1 millisecond' end
      from asked a
      left join wait on wait.message_id = a.message_id
      cross join lateral (select coalesce(wait.ms <= 0, false) and a.may_start as starts) as m
      order by a.place
      returning message_id, turn, starting_until is not null as is_allowed
    )
    select begun.message_id as "messageId", begun.turn, case when wait.ms is not null then greatest(wait.ms, 0) end as "waitMs",
      begun.is_allowed as "isAllowed"
    from begun
    left join wait on wait.message_id = begun.message_id`.execute()
}
