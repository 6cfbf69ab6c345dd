import type { Sql } from '../../base/db.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import type { SealedColumns } from '../../base/sealing/opened-values.ts'
import { actorOf, type Message, type MessageRow, type SealedContent } from '../conversation/message.ts'

/** What pages show of a message. */
export type ShownMessage = Pick<
  Message,
  | ('id' | 'connectionId' | 'direction' | 'kind' | 'origin' | 'text' | 'referral' | 'externalId')
  | ('detail' | 'revision')
  | ('status' | 'errorCode' | 'actor' | 'occurredAt')
>

/** With what is sealed as `Keyring.recall` takes it: most of it was opened before. */
export interface ShownMessageRow
  extends Pick<
    MessageRow,
    | ('id' | 'connection_id' | 'direction' | 'kind' | 'origin' | 'status' | 'error_code')
    | ('actor_type' | 'actor_id' | 'occurred_at')
  > {
  sealed: string
}

export const shownMessageColumns = (sql: Sql) => sql`
  m.id,
  m.connection_id,
  m.direction,
  m.kind,
  m.origin,
  encode(m.content, 'base64') || ' ' || coalesce(encode(m.external_id, 'base64'), '') as sealed,
  m.status,
  m.error_code,
  m.actor_type,
  m.actor_id,
  m.occurred_at`

const sealedColumns: SealedColumns<Pick<Message, 'text' | 'referral' | 'externalId' | 'detail' | 'revision'>> = {
  table: 'messages',
  columns: ['content', 'external_id'],
  read: (content, externalId) => {
    const { send: _send, externalId: first = null, ...shown } = JSON.parse(content ?? '') as SealedContent
    return { ...shown, externalId: externalId ?? first }
  },
}

export function openShownMessage(keyring: Keyring, row: ShownMessageRow): ShownMessage {
  return {
    id: row.id,
    connectionId: row.connection_id,
    direction: row.direction,
    kind: row.kind,
    origin: row.origin,
    ...keyring.recall(sealedColumns, row.id, row.sealed),
    status: row.status,
    errorCode: row.error_code,
    actor: actorOf(row),
    occurredAt: row.occurred_at,
  }
}
