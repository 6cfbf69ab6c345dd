import type { Sql } from '../../base/db.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import type { SealedColumns } from '../../base/sealing/opened-values.ts'
import { actorOf, type Message, type MessageRow, type SealedContent } from '../conversation/message.ts'
import { anyWorkspace } from '../conversation/queries.ts'

/** What pages show of a message. */
export type ShownMessage = Pick<
  Message,
  | ('id' | 'connectionId' | 'direction' | 'kind' | 'origin' | 'text' | 'referral' | 'externalId')
  | ('detail' | 'revision')
  | ('status' | 'errorCode' | 'actor' | 'occurredAt')
> & {
  /** Where the team looks at it. */
  conversationId?: string
  /** Reactions to it, those among them that do not stand any more; where the team looks at it. */
  reactionIds?: string[]
}

/** With what is sealed as `Keyring.recall` takes it: most of it was opened before. */
export interface ShownMessageRow
  extends Pick<
    MessageRow,
    | ('id' | 'connection_id' | 'direction' | 'kind' | 'origin' | 'status' | 'error_code')
    | ('actor_type' | 'actor_id' | 'occurred_at')
  > {
  sealed: string
  conversation_id?: string
  reaction_ids?: string[]
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

/** People change their minds; what they chose long before the last time shows nowhere. */
const newestReactions = 50

/** With what the team is shown of a message beside its row, as far as it is found on the way. */
export const teamMessageColumns = (sql: Sql, workspaceId: string) => sql`
  ${shownMessageColumns(sql)},
  m.conversation_id,
  array(
    select r.message_id::text
    from (
      select m.external_index
      union all
      select p.external_index
      from message_parts p
      where p.workspace_id = ${anyWorkspace(sql, workspaceId)}
        and p.message_id = m.id
        and m.direction = 'outbound'
    ) as named
    cross join lateral (
      select message_id
      from message_reactions
      where workspace_id = ${anyWorkspace(sql, workspaceId)}
        and about_index = named.external_index
      offset 0
    ) as r
    order by r.message_id desc
    limit ${newestReactions}
  ) as reaction_ids`

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
    ...(row.conversation_id !== undefined && { conversationId: row.conversation_id }),
    ...(row.reaction_ids !== undefined && { reactionIds: row.reaction_ids }),
  }
}
