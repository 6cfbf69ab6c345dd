import type { Db, Tx } from '../../base/db.ts'
import { byteaArray, timestampArray } from '../../base/postgres/values.ts'
import type { ChangeTx, WorkspaceTx } from '../conversation/conversation.ts'
import { externalIndex } from '../conversation/encrypted-conversation.ts'
import type { DeliveryState, MessageStatus } from '../conversation/message.ts'
import { lockExternalIds } from '../conversation/message-queries.ts'
import { opaqueWorkspaceId } from '../conversation/queries.ts'
import type { PartReport } from './advance-send.ts'
import type { StatusReport } from './receiver.ts'

/** Stores statuses of ids that their connections do not know yet. History messages need none. */
export async function storeEarlyStatuses(work: ChangeTx, statuses: readonly StatusReport[]): Promise<void> {
  const { tx, keyring, workspaceId, now } = work
  if (statuses.length === 0) return
  const indexes = statuses.map(({ receiver, event }) => externalIndex(keyring, receiver.id, event.externalId))
  const events = statuses.map(({ event }) => event)
  await tx`
    insert into parked_statuses (
      workspace_id, connection_id, external_index, status, error_code, occurred_at, parked_at
    )
    select ${workspaceId}::uuid, s.connection_id, s.external_index, s.status, s.error_code, s.occurred_at, ${now}
    from unnest(
      ${statuses.map(({ receiver }) => receiver.id)}::uuid[],
      ${byteaArray(indexes)}::bytea[],
      ${events.map(({ status }) => status)}::text[],
      ${events.map(({ errorCode }) => errorCode ?? '')}::text[],
      ${timestampArray(events.map(({ at }) => at))}::timestamptz[]
    ) as s (connection_id, external_index, status, error_code, occurred_at)
    where (
      select m.id from messages m
      where m.workspace_id = ${opaqueWorkspaceId(tx, workspaceId)}
        and m.connection_id = s.connection_id
        and m.external_index = s.external_index
    ) is null
    on conflict do nothing`
}

interface ParkedRow {
  part: number
  status: Exclude<MessageStatus, 'pending'>
  error_code: string
  occurred_at: Date
}

/**
 * Deletes and returns the statuses that arrived before their send was settled, oldest first. Call it in the transaction
 * that settles the send, under the conversation's lock and after storing these ids of its parts.
 */
export async function consumeEarlyReports(
  tx: Tx,
  workspaceId: string,
  messageId: string,
  externalIndexes: readonly Buffer[],
): Promise<PartReport[]> {
  if (externalIndexes.length === 0) return []
  const [, rows] = await Promise.all([
    lockExternalIds(tx, externalIndexes),
    tx<ParkedRow[]>`
      delete from parked_statuses s
      using message_parts p
      where p.workspace_id = ${workspaceId}
        and p.message_id = ${messageId}
        and s.workspace_id = p.workspace_id
        and s.connection_id = p.connection_id
        and s.external_index = p.external_index
      returning p.part, s.status, s.error_code, s.occurred_at`,
  ])
  return rows
    .map((row) => ({ part: row.part, state: stateOf(row), externalId: null, at: row.occurred_at }))
    .sort((x, y) => x.at.getTime() - y.at.getTime())
}

/** Deletes and returns the statuses that arrived before this message, oldest first. Later ones find it. */
export async function consumeEarlyStatuses(
  { tx, keyring, workspaceId }: WorkspaceTx,
  connectionId: string,
  externalId: string,
): Promise<DeliveryState[]> {
  const index = externalIndex(keyring, connectionId, externalId)
  await lockExternalIds(tx, [index])
  const rows = await tx<Omit<ParkedRow, 'part'>[]>`
    delete from parked_statuses
    where workspace_id = ${workspaceId}
      and connection_id = ${connectionId}
      and external_index = ${index}
    returning status, error_code, occurred_at`
  return rows.sort((a, b) => a.occurred_at.getTime() - b.occurred_at.getTime()).map(stateOf)
}

const stateOf = ({ status, error_code }: Pick<ParkedRow, 'status' | 'error_code'>): DeliveryState => ({
  status,
  errorCode: error_code === '' ? null : error_code,
})

const retentionMs = 7 * 24 * 3_600_000

/** Deletes statuses and revisions whose message has not arrived within the time that platforms retry deliveries. */
export async function deleteOldParked(db: Db, now: Date): Promise<number> {
  const before = new Date(now.getTime() - retentionMs)
  return db.tx(async (tx) => {
    const statuses = await tx`delete from parked_statuses where parked_at < ${before}`
    const revisions = await tx`delete from parked_revisions where parked_at < ${before}`
    return statuses.count + revisions.count
  })
}
