import type { Fragment, Sql } from '../../base/db.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import type { Conversation, Scope } from '../conversation/conversation.ts'
import { conversationNotFound } from '../conversation/errors.ts'
import { findConversation, namedConversation } from '../conversation/queries.ts'
import { openShownMessage, type ShownMessage, type ShownMessageRow, shownMessageColumns } from './shown-message.ts'

// What came before the newest so many is not looked for.
const farthest = 1000

export interface MessagePage {
  /** Oldest first. */
  messages: ShownMessage[]
  hasMore: boolean
}

export interface MessagesRequest {
  before: Date | null
  limit: number
  /** What is read of each; the team is shown more than others. */
  columns?: Fragment
}

/** The newest messages of a conversation before a time; throws 404 outside the scope. */
export async function readMessages(
  sql: Sql,
  keyring: Keyring,
  scope: Scope,
  id: string,
  { before, limit, columns = shownMessageColumns(sql) }: MessagesRequest,
): Promise<MessagePage> {
  // The conversation is found by the same statement: only where nothing came is it to be told what there is not.
  const rows = await sql<ShownMessageRow[]>`
    select ${columns}
    from messages m
    where m.workspace_id = ${scope.workspaceId}
      and m.conversation_id = (${namedConversation(sql, scope, id)})
      ${before === null ? sql`` : sql`and m.occurred_at < ${before}`}
    order by m.occurred_at desc
    limit ${limit + 1}`
  if (rows.length === 0 && (await findConversation(sql, scope, id)) === undefined) throw conversationNotFound()
  const shown = rows.slice(0, limit).reverse()
  return { messages: shown.map((row) => openShownMessage(keyring, row)), hasMore: rows.length > limit }
}

/** The newest of the customer's messages that nobody has answered, in the order in which they came. */
export async function readUnanswered(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  { id, inbound, unansweredSince }: Conversation,
  limit: number,
): Promise<ShownMessage[]> {
  const { answered } = inbound
  const rows = await sql<ShownMessageRow[]>`
    select ${shownMessageColumns(sql)}, m.conversation_id
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
          limit ${farthest}
        ) as n
        where n.direction = 'inbound'
          and n.kind <> 'system'
          and n.origin = 'live'
          and ${answered === null ? sql`n.occurred_at >= ${unansweredSince}` : sql`n.id > ${answered}`}
        order by n.id desc
        limit ${limit}
      ))
    order by m.id desc`
  return rows.reverse().map((row) => openShownMessage(keyring, row))
}
