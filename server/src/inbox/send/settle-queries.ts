import type { Sql, Tx } from '../../base/db.ts'
import type { MessageRow } from '../conversation/message.ts'
import { messageColumns } from '../conversation/message-queries.ts'
import type { Rung } from '../conversation/status-ladder.ts'
import type { Verdict } from './dispatch-queries.ts'
import type { Answer, Part } from './send-outcome.ts'

/** A send's message and its parts in order, under lock. */
export async function lockParts(
  tx: Tx,
  workspaceId: string,
  messageId: string,
): Promise<{ row: MessageRow; parts: Part[] } | undefined> {
  const [row] = await tx<MessageRow[]>`
    select ${messageColumns(tx)}
    from messages m
    where m.workspace_id = ${workspaceId}
      and m.id = ${messageId}
    for update`
  if (row === undefined) return undefined
  const parts = await tx<Part[]>`
    select part, status, error_code as "errorCode", external_index as "externalIndex"
    from message_parts
    where workspace_id = ${workspaceId}
      and message_id = ${messageId}
    order by part
    for update`
  return { row, parts }
}

interface DispatchRow {
  verdict: Verdict | null
  external_id: Buffer | null
}

export async function lockDispatch(tx: Tx, workspaceId: string, messageId: string): Promise<DispatchRow | undefined> {
  const [row] = await tx<DispatchRow[]>`
    select verdict, external_id
    from dispatches
    where workspace_id = ${workspaceId}
      and message_id = ${messageId}
    for update`
  return row
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
    tx`
      delete from dispatches
      where workspace_id = ${workspaceId}
        and message_id = ${messageId}`,
  ])
}

export async function findAnswer(sql: Sql, workspaceId: string, messageId: string): Promise<Answer | null> {
  const [row] = await sql<{ answer_status: number | null; answer_body: string | null }[]>`
    select answer_status, answer_body
    from sends
    where workspace_id = ${workspaceId}
      and message_id = ${messageId}`
  const { answer_status: status = null, answer_body: body = null } = row ?? {}
  return status === null || body === null ? null : { status, body }
}
