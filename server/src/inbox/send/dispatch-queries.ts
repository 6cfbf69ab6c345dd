import type { Sql, Tx } from '../../base/db.ts'

// A dispatch is the way of one send to the platform. Its times are the database's own.

/** A process that has not said for so long that it is at work counts as dead. */
export const aliveForMs = 15_000
/** Covers the longest call and the settling after it. */
const aliveInCallMs = 35_000

export interface DispatchKey {
  workspaceId: string
  conversationId: string
  messageId: string
}

/** Says that this process is at work on the send; answers whether an earlier one of the conversation still goes first. */
export async function stayAlive(tx: Tx, dispatch: DispatchKey): Promise<{ waits: boolean } | undefined> {
  const { workspaceId, messageId } = dispatch
  const [row] = await tx<{ waits: boolean }[]>`
    update dispatches d
    set alive_until = clock_timestamp() + ${aliveForMs}::float8 * interval '1 millisecond'
    where d.workspace_id = ${workspaceId}
      and d.message_id = ${messageId}
      and d.alive_until > clock_timestamp()
    returning exists (
      select 1
      from dispatches earlier
      where earlier.workspace_id = d.workspace_id
        and earlier.conversation_id = d.conversation_id
        and earlier.turn < d.turn
        and earlier.alive_until > clock_timestamp()
    ) as waits`
  return row
}

/** `held`: a change of owner waits for the calls under way. */
export type Start = 'allowed' | 'held' | 'refused'

/**
 * Allows one platform call to start within so many milliseconds. The share lock orders this before or after every
 * change of owner: before, the change sees the mark and waits; after, the epoch no longer fits and nothing is allowed.
 */
export async function allowStart(tx: Tx, dispatch: DispatchKey, takeoverWaitMs: number): Promise<Start> {
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
    started as (
      update dispatches d
      set starting_until = clock_timestamp() + ${takeoverWaitMs}::float8 * interval '1 millisecond',
        alive_until = clock_timestamp() + ${aliveInCallMs}::float8 * interval '1 millisecond'
      from conversation
      where d.workspace_id = ${workspaceId}
        and d.message_id = ${messageId}
        and d.conversation_id = conversation.id
        and not conversation.is_held
        and d.alive_until > clock_timestamp()
      returning d.message_id
    )
    select is_held, exists (select from started) as is_allowed
    from conversation`
  if (row?.is_held) return 'held'
  return row?.is_allowed ? 'allowed' : 'refused'
}

/** Whether another owner than the one that reserved the send has the conversation. */
export async function ownerHasChanged(sql: Sql, { workspaceId, messageId }: DispatchKey): Promise<boolean> {
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

export type Verdict = 'accepted' | 'refused' | 'undelivered' | 'stopped'

export interface PartResult {
  verdict: Verdict
  errorCode: string | null
  /** Digest of the platform's id for the part, and the id sealed for messages/external_id. */
  externalIndex: Buffer | null
  externalId: Buffer | null
}

/**
 * Notes what became of one part, as soon as it is known, and that no call is about to start any more. Takes no lock of
 * the conversation, since a change of owner may be waiting for this very note while it holds that lock. A status that
 * was faster than the platform's answer stays.
 */
export async function recordPart(tx: Tx, dispatch: DispatchKey, part: number, result: PartResult): Promise<void> {
  const { workspaceId, messageId } = dispatch
  const status = result.verdict === 'accepted' ? 'sent' : 'failed'
  await tx`
    update message_parts p
    set status = case when p.status = 'pending' then ${status} else p.status end,
      error_code = case when p.status = 'pending' then ${result.errorCode} else p.error_code end,
      external_index = coalesce(p.external_index, (
        select ${result.externalIndex}::bytea
        where not exists (
          select 1
          from message_parts other
          where other.workspace_id = p.workspace_id
            and other.connection_id = p.connection_id
            and other.external_index = ${result.externalIndex}::bytea
        )
      ))
    where p.workspace_id = ${workspaceId}
      and p.message_id = ${messageId}
      and p.part = ${part}`
  await tx`
    update dispatches d
    set starting_until = null,
      verdict = ${result.verdict},
      external_id = coalesce(d.external_id, ${result.externalId}::bytea)
    where d.workspace_id = ${workspaceId}
      and d.message_id = ${messageId}`
}
