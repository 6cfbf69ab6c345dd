import { setTimeout as sleep } from 'node:timers/promises'
import { sharedTime } from '../../base/citus/distributed-sql.ts'
import { type Db, type Fragment, RetryTransaction, type Sql, type Tx } from '../../base/db.ts'
import type { Channel } from '../../channels/connection/connection.ts'

// SQL of dispatches: sends in progress, deleted when the send is settled. Their times are database times.

/** A process that has not renewed its lease for this long counts as dead. */
export const leaseMs = 15_000
/** Covers the longest call and the settling after it. */
export const callLeaseMs = 35_000

export interface DispatchKey {
  workspaceId: string
  conversationId: string
  messageId: string
}

export interface DispatchState {
  /** Whether an earlier send of the conversation is still in progress. */
  waits: boolean
  /** Whether an earlier send is still uploading its file to the platform. */
  isBehindFile: boolean
}

/** Renews the lease of the send. Returns undefined if the lease has expired. */
export async function renewDispatch(tx: Tx, dispatch: DispatchKey): Promise<DispatchState | undefined> {
  const { workspaceId, messageId } = dispatch
  const [row] = await tx<DispatchState[]>`
    with alive as (
      update dispatches d
      set alive_until = statement_timestamp() + ${leaseMs}::float8 * interval '1 millisecond'
      where d.workspace_id = ${workspaceId}
        and d.message_id = ${messageId}
        and d.alive_until > statement_timestamp()
      returning d.conversation_id, d.turn
    )
    select exists (
      select 1
      from dispatches earlier
      where earlier.workspace_id = ${workspaceId}
        and earlier.conversation_id = d.conversation_id
        and earlier.turn < d.turn
        and earlier.alive_until > clock_timestamp()
    ) as waits,
    exists (
      select 1
      from dispatches earlier
      join media f
        on f.workspace_id = earlier.workspace_id
        and f.message_id = earlier.message_id
      where earlier.workspace_id = ${workspaceId}
        and earlier.conversation_id = d.conversation_id
        and earlier.turn < d.turn
        and earlier.alive_until > clock_timestamp()
        and f.platform_id is null
    ) as "isBehindFile"
    from alive d`
  return row
}

/** SQL: whether a process is working on the send. */
export const isInProgress = (sql: Sql, workspaceId: string, messageId: Fragment) => sql`
  exists (
    select 1
    from dispatches d
    where d.workspace_id = ${workspaceId}
      and d.message_id = ${messageId}
      and d.alive_until > clock_timestamp()
  )`

/** SQL: whether the send is settled. */
export const isSendSettled = (sql: Sql, workspaceId: string, messageId: Fragment) => sql`
  not exists (
    select 1
    from dispatches d
    where d.workspace_id = ${workspaceId}
      and d.message_id = ${messageId}
  )`

/** `held`: a change of owner waits for calls in progress. */
export type StartPermission = 'allowed' | 'held' | 'refused'

/**
 * Allows one platform call to start within `takeoverWaitMs`. The share lock orders this before or after every change of
 * owner: before, the change sees the mark and waits; after, the epoch no longer matches and the call is refused.
 */
export async function allowStart(tx: Tx, dispatch: DispatchKey, takeoverWaitMs: number): Promise<StartPermission> {
  const { workspaceId, messageId } = dispatch
  const [row] = await tx<{ is_held: boolean; is_allowed: boolean }[]>`
    with conversation as (
      select c.id, d.owner_epoch is not null and coalesce(c.starts_held_until > clock_timestamp(), false) as is_held
      from dispatches d
      join conversations c
        on c.workspace_id = d.workspace_id
        and c.id = d.conversation_id
      where d.workspace_id = ${workspaceId}
        and d.message_id = ${messageId}
        and (d.owner_epoch is null or d.owner_epoch = c.owner_epoch)
      for share of c
    ),
    start as (
      select
        id,
        is_held,
        clock_timestamp() as asked_at,
        clock_timestamp() + ${takeoverWaitMs}::float8 * interval '1 millisecond' as starting_until,
        clock_timestamp() + ${callLeaseMs}::float8 * interval '1 millisecond' as alive_until
      from conversation
    ),
    started as (
      update dispatches d
      set starting_until = start.starting_until,
        alive_until = start.alive_until
      from start
      where d.workspace_id = ${workspaceId}
        and d.message_id = ${messageId}
        and d.conversation_id = start.id
        and not start.is_held
        and d.alive_until > start.asked_at
      returning d.message_id
    )
    select is_held, exists (select 1 from started) as is_allowed
    from start`
  if (row?.is_held) return 'held'
  return row?.is_allowed ? 'allowed' : 'refused'
}

/** Returns whether the owner has changed since the send was reserved. */
export async function hasOwnerChanged(sql: Sql, { workspaceId, messageId }: DispatchKey): Promise<boolean> {
  const [row] = await sql<{ has_changed: boolean }[]>`
    select d.owner_epoch <> c.owner_epoch as has_changed
    from dispatches d
    join conversations c
      on c.workspace_id = d.workspace_id
      and c.id = d.conversation_id
    where d.workspace_id = ${workspaceId}
      and d.message_id = ${messageId}`
  return row?.has_changed ?? false
}

/** SQL: whether a platform call of an agent's send, allowed under another owner's epoch, can still start. */
export const canStartCall = (sql: Sql, workspaceId: string, conversationId: string, ownerEpoch: number) => sql`
  exists (
    select 1
    from dispatches d
    where d.workspace_id = ${workspaceId}
      and d.conversation_id = ${conversationId}
      and d.owner_epoch <> ${ownerEpoch}
      and d.starting_until > statement_timestamp()
  )`

/** Returns whether a platform call of an agent's send in these conversations can still start. */
export async function hasStartingCalls(
  sql: Sql,
  workspaceId: string,
  conversationIds: readonly string[],
): Promise<boolean> {
  const { now } = await sharedTime(sql)
  const starting = await sql`
    select d.message_id
    from dispatches d
    where d.workspace_id = ${workspaceId}
      and d.conversation_id = any (${[...conversationIds]}::uuid[])
      and d.owner_epoch is not null
      and d.starting_until > ${now}
    limit 1`
  return starting.length > 0
}

export type Verdict = 'accepted' | 'refused' | 'undelivered' | 'stopped'

/** Records the result of the last attempted part and that no call is about to start. */
export async function recordVerdict(
  tx: Tx,
  { workspaceId, messageId }: DispatchKey,
  verdict: Verdict,
  externalId: Buffer | null,
): Promise<void> {
  await tx`
    update dispatches d
    set starting_until = null,
      verdict = ${verdict},
      external_id = coalesce(d.external_id, ${externalId}::bytea)
    where d.workspace_id = ${workspaceId}
      and d.message_id = ${messageId}`.execute()
}

export interface Dispatch {
  verdict: Verdict | null
  external_id: Buffer | null
  /** Whether its process counts as dead: no more calls are allowed. */
  is_dead: boolean
  /** Whether a call was allowed whose result is not recorded. */
  is_calling: boolean
  /** Whether the send has reserved something of a budget. */
  has_reservations: boolean
}

export async function lockDispatch(tx: Tx, workspaceId: string, messageId: string): Promise<Dispatch | undefined> {
  const { now } = await sharedTime(tx)
  const [row] = await tx<Dispatch[]>`
    select
      verdict,
      external_id,
      alive_until <= ${now} as is_dead,
      starting_until is not null as is_calling,
      exists (
        select 1
        from budget_reservations r
        where r.workspace_id = ${workspaceId}
          and r.message_id = ${messageId}
      ) as has_reservations
    from dispatches
    where workspace_id = ${workspaceId}
      and message_id = ${messageId}
    for update`
  return row
}

/** Deletes the dispatch of a settled send, so that the next one can start. */
export async function removeDispatch(tx: Tx, workspaceId: string, messageId: string): Promise<void> {
  await tx`
    delete from dispatches
    where workspace_id = ${workspaceId}
      and message_id = ${messageId}`
}

export interface StrandedSend extends DispatchKey {
  isOverdue: boolean
}

/**
 * Returns sends whose process has died, oldest first. Those not yet overdue are included only if they can be settled:
 * no call in progress, no pending part, a failed part, or a channel that can tell that nothing was sent.
 */
export async function listStrandedSends(
  sql: Sql,
  now: Date,
  channels: readonly Channel[],
  limit: number,
): Promise<StrandedSend[]> {
  return sql<StrandedSend[]>`
    select
      d.workspace_id as "workspaceId",
      m.conversation_id as "conversationId",
      d.message_id as "messageId",
      coalesce(m.settle_by <= ${now}, false) as "isOverdue"
    from dispatches d
    join messages m
      on m.workspace_id = d.workspace_id
      and m.id = d.message_id
    where d.alive_until < clock_timestamp()
      and (
        m.settle_by <= ${now}
        or d.starting_until is null
        or exists (
          select 1
          from conversations c
          where c.workspace_id = d.workspace_id
            and c.id = d.conversation_id
            and c.channel = any (${[...channels]}::text[])
        )
        or exists (
          select 1
          from message_parts p
          where p.workspace_id = d.workspace_id
            and p.message_id = d.message_id
            and p.status = 'failed'
        )
        or not exists (
          select 1
          from message_parts p
          where p.workspace_id = d.workspace_id
            and p.message_id = d.message_id
            and p.status = 'pending'
        )
      )
    order by d.alive_until
    limit ${limit}`
}

/** Moves dispatches to another conversation, behind its own. Cancels sends of agents: the owner may differ. */
export async function moveDispatches(tx: Tx, workspaceId: string, fromId: string, toId: string): Promise<void> {
  await tx`
    update dispatches d
    set conversation_id = ${toId},
      owner_epoch = case when d.owner_epoch is not null then -1 end,
      turn = d.turn + (
        select coalesce(max(other.turn), 0)
        from dispatches other
        where other.workspace_id = ${workspaceId}
          and other.conversation_id = ${toId}
      )
    where d.workspace_id = ${workspaceId}
      and d.conversation_id = ${fromId}`
}

/**
 * Maximum time between the permission of a platform call and its start (`send/call-platform.ts`), and thus the longest
 * that a change of owner waits.
 */
export const takeoverWaitMs = 3_000
/** Longer than any allowed call can take to start, so that none starts between the last check and the change. */
const blockMs = takeoverWaitMs + 2_000
const checkEveryMs = 20

/**
 * Aborts a change of owner while a platform call of an agent in these conversations can still start: the transaction is
 * rolled back, waits without a connection, and is retried. Call it under the conversations' locks, which prevent new
 * permissions. `storeConversation` calls it for every change that it stores.
 */
export async function retryWhileCallsStart(
  tx: Tx,
  workspaceId: string,
  conversationIds: readonly string[],
): Promise<void> {
  if (await hasStartingCalls(tx, workspaceId, conversationIds))
    throw retryAfterCallsStarted(workspaceId, conversationIds)
}

/** Returns the error to throw in the transaction that found calls which may still start. */
export const retryAfterCallsStarted = (workspaceId: string, conversationIds: readonly string[]): RetryTransaction =>
  new RetryTransaction((db) => waitForStartingCalls(db, workspaceId, conversationIds))

/** Waits for calls in progress, at most `takeoverWaitMs`, while no others can start. */
async function waitForStartingCalls(db: Db, workspaceId: string, conversationIds: readonly string[]): Promise<void> {
  await db.tx((tx) => blockCallStarts(tx, workspaceId, conversationIds))
  while (await hasStartingCalls(db.sql, workspaceId, conversationIds)) await sleep(checkEveryMs)
}

/** Locks in id order, like every other statement that locks several conversations. */
async function blockCallStarts(tx: Tx, workspaceId: string, conversationIds: readonly string[]): Promise<void> {
  await tx`
    with held as (
      select id
      from conversations
      where workspace_id = ${workspaceId}
        and id = any (${[...conversationIds]}::uuid[])
      order by id
      for update
    ),
    hold as (
      select id, clock_timestamp() + ${blockMs}::float8 * interval '1 millisecond' as until
      from held
    )
    update conversations c
    set starts_held_until = hold.until
    from hold
    where c.workspace_id = ${workspaceId}
      and c.id = hold.id`
}
