import type { Fragment, Sql } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import type { EncryptedColumns } from '../../base/encryption/plaintext-cache.ts'
import type { Conversation, ScopedSql, WorkspaceSql } from '../conversation/conversation.ts'
import { actorOf, type Message, type MessageContent, type MessageRow } from '../conversation/message.ts'
import { opaqueWorkspaceId, requireConversation, resolvedConversationId } from '../conversation/queries.ts'

// Reads at most this many newest messages when searching for unanswered ones.
const maxDepth = 1000

export interface MessagePage {
  /** Oldest first. */
  messages: MessageView[]
  hasMore: boolean
}

export interface MessagesRequest {
  before: Date | null
  limit: number
  /** Columns to read; the team sees more than others. */
  columns?: Fragment
}

/** Returns the newest messages of a conversation before a time. Throws 404 outside the scope. */
export async function readMessages(
  reader: ScopedSql,
  id: string,
  { before, limit, columns = messageViewColumns(reader.sql) }: MessagesRequest,
): Promise<MessagePage> {
  const { sql, keyring } = reader
  // The same statement finds the conversation, so a lookup is needed only for an empty result.
  const rows = await sql<MessageViewRow[]>`
    select ${columns}
    from messages m
    where m.workspace_id = ${reader.workspaceId}
      and m.conversation_id = (${resolvedConversationId(sql, reader, id)})
      ${before === null ? sql`` : sql`and m.occurred_at < ${before}`}
    order by m.occurred_at desc
    limit ${limit + 1}`
  if (rows.length === 0) await requireConversation(sql, reader, id)
  const shown = rows.slice(0, limit).reverse()
  return { messages: shown.map((row) => decryptMessageView(keyring, row)), hasMore: rows.length > limit }
}

/** Returns the customer's newest unanswered messages in the order of arrival. */
export async function readUnanswered(
  { sql, keyring, workspaceId }: WorkspaceSql,
  { id, inbound, unansweredSince }: Conversation,
  limit: number,
): Promise<MessageView[]> {
  const { answered } = inbound
  const rows = await sql<MessageViewRow[]>`
    select ${messageViewColumns(sql)}, m.conversation_id
    from messages m
    where m.workspace_id = ${workspaceId}
      and m.id = any (array(
        select n.id
        from (
          select id, direction, kind, origin, occurred_at
          from messages
          where workspace_id = ${workspaceId}
            and conversation_id = ${id}
          order by workspace_id desc, conversation_id desc, occurred_at desc
          limit ${maxDepth}
        ) as n
        where n.direction = 'inbound'
          and n.kind <> 'system'
          and n.origin = 'live'
          and ${answered === null ? sql`n.occurred_at >= ${unansweredSince}` : sql`n.id > ${answered}`}
        order by n.id desc
        limit ${limit}
      ))
    order by m.id desc`
  return rows.reverse().map((row) => decryptMessageView(keyring, row))
}

export type MessageView = Pick<
  Message,
  | ('id' | 'connectionId' | 'direction' | 'kind' | 'origin' | 'text' | 'referral' | 'externalId')
  | ('detail' | 'revision')
  | ('status' | 'errorCode' | 'actor' | 'occurredAt')
> & {
  /** Only for the team. */
  conversationId?: string
  /** Ids of reactions to it, including removed ones; only for the team. */
  reactionIds?: string[]
}

/** Encrypted values as `Keyring.decryptCached` takes them: most were decrypted before. */
export interface MessageViewRow
  extends Pick<
    MessageRow,
    | ('id' | 'connection_id' | 'direction' | 'kind' | 'origin' | 'status' | 'error_code')
    | ('actor_type' | 'actor_id' | 'occurred_at')
  > {
  sealed: string
  conversation_id?: string
  reaction_ids?: string[]
}

export const messageViewColumns = (sql: Sql) => sql`
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

/** Maximum number of reactions read per message; only the newest of each side is shown. */
const newestReactions = 50

/** With additional columns for the team that are cheap to read in the same statement. */
export const teamMessageColumns = (sql: Sql, workspaceId: string) => sql`
  ${messageViewColumns(sql)},
  m.conversation_id,
  array(
    select r.message_id::text
    from (
      select m.external_index
      union all
      select p.external_index
      from message_parts p
      where p.workspace_id = ${opaqueWorkspaceId(sql, workspaceId)}
        and p.message_id = m.id
        and m.direction = 'outbound'
    ) as named
    cross join lateral (
      select message_id
      from message_reactions
      where workspace_id = ${opaqueWorkspaceId(sql, workspaceId)}
        and about_index = named.external_index
      offset 0
    ) as r
    order by r.message_id desc
    limit ${newestReactions}
  ) as reaction_ids`

const encryptedColumns: EncryptedColumns<Pick<Message, 'text' | 'referral' | 'externalId' | 'detail' | 'revision'>> = {
  table: 'messages',
  columns: ['content', 'external_id'],
  read: (content, externalId) => {
    const { send: _send, externalId: first = null, ...shown } = JSON.parse(content ?? '') as MessageContent
    return { ...shown, externalId: externalId ?? first }
  },
}

export function decryptMessageView(keyring: Keyring, row: MessageViewRow): MessageView {
  return {
    id: row.id,
    connectionId: row.connection_id,
    direction: row.direction,
    kind: row.kind,
    origin: row.origin,
    ...keyring.decryptCached(encryptedColumns, row.id, row.sealed),
    status: row.status,
    errorCode: row.error_code,
    actor: actorOf(row),
    occurredAt: row.occurred_at,
    ...(row.conversation_id !== undefined && { conversationId: row.conversation_id }),
    ...(row.reaction_ids !== undefined && { reactionIds: row.reaction_ids }),
  }
}
