import type { Sql, Tx } from '../../base/db.ts'
import type { ConnectionState } from '../../channels/connection/connection.ts'

/** Whether a connection can send, as of this moment. */
export interface ConnectionReadiness {
  state: ConnectionState
  acknowledgedAt: Date | null
}

export async function findConnectionReadiness(
  sql: Sql,
  workspaceId: string,
  connectionId: string,
): Promise<ConnectionReadiness | null> {
  const [row] = await sql<ConnectionReadiness[]>`
    select state, acknowledged_at as "acknowledgedAt"
    from connections
    where workspace_id = ${workspaceId}
      and id = ${connectionId}
      and removed_at is null`
  return row ?? null
}

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

/** Records what is to be sent, beside its message. Answers its turn: with 1 nobody stands before it. */
export async function insertSend(tx: Tx, send: NewSend, aliveForMs: number): Promise<number> {
  const { workspaceId, conversationId, messageId } = send
  const [, , [row]] = await Promise.all([
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
    tx<{ turn: number }[]>`
      insert into dispatches (workspace_id, message_id, conversation_id, turn, owner_epoch, alive_until)
      select
        ${workspaceId}::uuid,
        ${messageId}::uuid,
        ${conversationId}::uuid,
        coalesce(max(d.turn), 0) + 1,
        ${send.ownerEpoch}::integer,
        clock_timestamp() + ${aliveForMs}::float8 * interval '1 millisecond'
      from dispatches d
      where d.workspace_id = ${workspaceId}
        and d.conversation_id = ${conversationId}
      returning turn`,
  ])
  return row?.turn ?? 1
}
