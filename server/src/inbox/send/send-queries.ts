import type { Sql, Tx } from '../../base/db.ts'
import { andNamed } from '../../base/distribution/spread.ts'
import {
  type DispatchKey,
  insertDispatch,
  isAtWork,
  isClosed,
  recordVerdict,
  removeDispatch,
  type Verdict,
} from '../conversation/dispatches.ts'
import type { MessageRow } from '../conversation/message.ts'
import { messageColumns } from '../conversation/message-queries.ts'
import type { Rung } from '../conversation/status-ladder.ts'

// A row of `sends` holds a key and its answer, `message_parts` what became of each platform message.

export interface NewSend {
  workspaceId: string
  conversationId: string
  connectionId: string
  messageId: string
  senderId: string
  key: string
  fingerprint: Buffer
  /** Null when no change of owner stops the send. */
  ownerEpoch: number | null
  parts: number
  now: Date
}

/** Records what is to be sent, beside its message. Returns its turn. */
export async function insertSend(tx: Tx, send: NewSend): Promise<number> {
  const { workspaceId, conversationId, messageId } = send
  const [, , turn] = await Promise.all([
    tx`
      insert into sends (
        workspace_id, sender_id, idempotency_key, fingerprint, conversation_id, message_id, created_at
      )
      values (
        ${workspaceId}, ${send.senderId}, ${send.key}, ${send.fingerprint}, ${conversationId}, ${messageId}, ${send.now}
      )`,
    tx`
      insert into message_parts (workspace_id, message_id, part, connection_id, status)
      select ${workspaceId}::uuid, ${messageId}::uuid, part, ${send.connectionId}::uuid, 'pending'
      from generate_series(1, ${send.parts}::integer) as part`,
    insertDispatch(tx, send, send.ownerEpoch),
  ])
  return turn
}

/** What the caller of a send is told, in the very words that each repeat gets. */
export interface Answer {
  status: number
  body: string
}

/** The answer to a send that every part of it left with, or that has failed for certain. */
export function accepted(messageId: string, status: 'sent' | 'failed'): Answer {
  return { status: 202, body: JSON.stringify({ message_id: messageId, status }) }
}

interface StoredAnswer {
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

export interface SendRow extends StoredAnswer {
  message_id: string
  fingerprint: Buffer
  conversation_id: string
  /** Whether a process is at work on it. */
  is_alive: boolean
}

export async function findSend(
  sql: Sql,
  workspaceId: string,
  senderId: string,
  key: string,
): Promise<SendRow | undefined> {
  const [row] = await sql<SendRow[]>`
    select
      s.fingerprint,
      s.conversation_id,
      s.message_id,
      s.answer_status,
      s.answer_body,
      ${isClosed(sql, workspaceId, sql`s.message_id`)} as is_settled,
      ${isAtWork(sql, workspaceId, sql`s.message_id`)} as is_alive
    from sends s
    where s.workspace_id = ${workspaceId}
      and s.sender_id = ${senderId}
      and s.idempotency_key = ${key}`
  return row
}

export async function findAnswer(sql: Sql, workspaceId: string, messageId: string): Promise<Answer | null> {
  const [row] = await sql<StoredAnswer[]>`
    select s.answer_status, s.answer_body, ${isClosed(sql, workspaceId, sql`s.message_id`)} as is_settled
    from sends s
    where s.workspace_id = ${workspaceId}
      and s.message_id = ${messageId}`
  return row === undefined ? null : answerOf(messageId, row)
}

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
  await Promise.all([
    tx`
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
            ${andNamed(tx, workspaceId, 'other')}
        )
        and not exists (
          select 1
          from messages other
          where other.workspace_id = p.workspace_id
            and other.connection_id = p.connection_id
            and other.external_index = ${result.externalIndex}::bytea
            and other.origin = 'live'
            and other.id <> p.message_id
            ${andNamed(tx, workspaceId, 'other')}
        )
      ))
    where p.workspace_id = ${workspaceId}
      and p.message_id = ${messageId}
      and p.part = ${part}`.execute(),
    recordVerdict(tx, dispatch, result.verdict, result.externalId),
  ])
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
