import type { Sql, Tx } from '../../base/db.ts'
import { andNamed } from '../../base/distribution/spread.ts'
import { byteaArray } from '../../base/postgres/values.ts'
import { noteEveryMs } from '../../channels/health/activity.ts'
import { isClosed, removeDispatch } from '../conversation/dispatches.ts'
import type { MessageRow, Rung } from '../conversation/message.ts'
import { messageColumns } from '../conversation/message-queries.ts'
import { anyWorkspace } from '../conversation/queries.ts'

// A row of `sends` holds a key and its answer, `message_parts` what became of each platform message.

/** What the caller of a send is told, in the very words that each repeat gets. */
export interface Answer {
  status: number
  body: string
}

/** The answer to a send that every part of it left with, or that has failed for certain. */
export function accepted(messageId: string, status: 'sent' | 'failed'): Answer {
  return { status: 202, body: JSON.stringify({ message_id: messageId, status }) }
}

export interface StoredAnswer {
  answer_status: number | null
  answer_body: string | null
  /** Whether its dispatch is gone, as it is from when the send was settled. */
  is_settled: boolean
}

/** Null while the send is not settled. One without an answer of its own was settled with others: those were accepted. */
export function answerOf(messageId: string, row: StoredAnswer): Answer | null {
  const { answer_status: status, answer_body: body, is_settled: isSettled } = row
  if (status !== null && body !== null) return { status, body }
  return isSettled ? accepted(messageId, 'sent') : null
}

export interface Part extends Rung {
  part: number
  externalIndex: Buffer | null
}

export async function findAnswer(sql: Sql, workspaceId: string, messageId: string): Promise<Answer | null> {
  const [row] = await sql<StoredAnswer[]>`
    select s.answer_status, s.answer_body, ${isClosed(sql, workspaceId, sql`s.message_id`)} as is_settled
    from sends s
    where s.workspace_id = ${workspaceId}
      and s.message_id = ${messageId}`
  return row === undefined ? null : answerOf(messageId, row)
}

/** A send's message and its parts in order, under lock. */
export async function lockParts(
  tx: Tx,
  workspaceId: string,
  messageId: string,
): Promise<{ row: MessageRow; parts: Part[] } | undefined> {
  const [[row], parts] = await Promise.all([
    tx<MessageRow[]>`
      select ${messageColumns(tx)}
      from messages m
      where m.workspace_id = ${workspaceId}
        and m.id = ${messageId}
      for update`,
    tx<Part[]>`
      select part, status, error_code as "errorCode", external_index as "externalIndex"
      from message_parts
      where workspace_id = ${workspaceId}
        and message_id = ${messageId}
      order by part
      for update`,
  ])
  return row === undefined ? undefined : { row, parts }
}

export interface SettledSend {
  rung: Rung
  parts: readonly Part[]
  answer: Answer
  /** Sealed id and digest of the first part. */
  externalId: Buffer | null
  externalIndex: Buffer | null
}

/** Closes a send: parts, message and answer. Its dispatch goes, so that the next one has its turn. */
export async function storeOutcome(
  tx: Tx,
  workspaceId: string,
  messageId: string,
  { rung, parts, answer, externalId, externalIndex }: SettledSend,
): Promise<void> {
  await Promise.all([
    tx`
      update message_parts p
      set status = n.status,
        error_code = n.error_code
      from unnest(
        ${parts.map(({ part }) => part)}::integer[],
        ${parts.map(({ status }) => status)}::text[],
        ${parts.map(({ errorCode }) => errorCode)}::text[]
      ) as n (part, status, error_code)
      where p.workspace_id = ${workspaceId}
        and p.message_id = ${messageId}
        and p.part = n.part
        and p.status <> n.status`,
    // An echo may have told of this very message first: then the id stays with the parts, where statuses look as well.
    tx`
      update messages m
      set status = ${rung.status},
        error_code = ${rung.errorCode},
        settle_by = null,
        external_id = coalesce(m.external_id, ${externalId}::bytea),
        external_index = coalesce(m.external_index, (
          select ${externalIndex}::bytea
          where not exists (
            select 1
            from messages other
            where other.workspace_id = m.workspace_id
              and other.connection_id = m.connection_id
              and other.external_index = ${externalIndex}::bytea
              ${andNamed(tx, workspaceId, 'other')}
          )
        ))
      where m.workspace_id = ${workspaceId}
        and m.id = ${messageId}`,
    tx`
      update sends
      set answer_status = ${answer.status},
        answer_body = ${answer.body}
      where workspace_id = ${workspaceId}
        and message_id = ${messageId}`,
    removeDispatch(tx, workspaceId, messageId),
  ])
}

/** A send that the platform has accepted, with its only part. */
export interface AcceptedSend {
  conversationId: string
  connectionId: string
  messageId: string
  /** The platform's id: its digest, and sealed for messages/external_id. */
  externalIndex: Buffer
  externalId: Buffer
}

/**
 * The messages of those sends of which the database knows no more than when they were reserved: no status has come, nobody
 * has settled them, and their platform's ids are new. Under the locks of their conversations and of these ids.
 */
export async function findUntold(tx: Tx, workspaceId: string, sends: readonly AcceptedSend[]): Promise<string[]> {
  const workspace = anyWorkspace(tx, workspaceId)
  const rows = await tx<{ message_id: string }[]>`
    select n.message_id
    from unnest(
      ${sends.map(({ messageId }) => messageId)}::uuid[],
      ${sends.map(({ conversationId }) => conversationId)}::uuid[],
      ${sends.map(({ connectionId }) => connectionId)}::uuid[],
      ${byteaArray(sends.map(({ externalIndex }) => externalIndex))}::bytea[]
    ) as n (message_id, conversation_id, connection_id, external_index)
    cross join lateral (
      select from dispatches
      where workspace_id = ${workspace} and message_id = n.message_id and conversation_id = n.conversation_id
        and verdict is null
      offset 0
    ) as d
    cross join lateral (
      select from messages where workspace_id = ${workspace} and id = n.message_id and status = 'pending' offset 0
    ) as m
    where not exists (
      select from messages
      where workspace_id = ${workspace} and connection_id = n.connection_id and external_index = n.external_index
      offset 0
    )
    and not exists (
      select from message_parts
      where workspace_id = ${workspace} and connection_id = n.connection_id and external_index = n.external_index
      offset 0
    )
    and not exists (
      select from parked_statuses
      where workspace_id = ${workspace} and connection_id = n.connection_id and external_index = n.external_index
      offset 0
    )`
  return rows.map((row) => row.message_id)
}

/**
 * Closes sends that were accepted: their messages have what the platform said, and their dispatches go. Parts and answers
 * stay as they were reserved: a part alone is where its message is, and no answer beside no dispatch is `accepted`.
 */
export async function storeAccepted(
  tx: Tx,
  workspaceId: string,
  sends: readonly AcceptedSend[],
  now: Date,
): Promise<void> {
  const workspace = anyWorkspace(tx, workspaceId)
  const ids = sends.map(({ messageId }) => messageId)
  await Promise.all([
    tx`
      update messages m
      set status = 'sent',
        settle_by = null,
        external_id = n.external_id,
        external_index = n.external_index
      from unnest(
        ${ids}::uuid[],
        ${byteaArray(sends.map(({ externalId }) => externalId))}::bytea[],
        ${byteaArray(sends.map(({ externalIndex }) => externalIndex))}::bytea[]
      ) as n (id, external_id, external_index)
      where m.workspace_id = ${workspace}
        and m.id = n.id`.execute(),
    tx`
      delete from dispatches
      where workspace_id = ${workspace}
        and message_id = any (${ids}::uuid[])`.execute(),
    tx`
      update connections
      set last_event_out_at = ${now}
      where workspace_id = ${workspace}
        and id = any (${[...new Set(sends.map(({ connectionId }) => connectionId))].sort()}::uuid[])
        and (last_event_out_at is null or last_event_out_at <= ${new Date(now.getTime() - noteEveryMs)})`.execute(),
  ])
}
