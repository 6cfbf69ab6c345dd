import { type MessageRow, openMessage } from '../../../src/inbox/conversation/message.ts'
import { messageColumns } from '../../../src/inbox/conversation/message-queries.ts'
import { asItIs } from '../../../src/inbox/conversation/moving.ts'
import { conversationColumns } from '../../../src/inbox/conversation/queries.ts'
import { type ConversationRow, openConversation } from '../../../src/inbox/conversation/sealed.ts'
import type { InboxWorld } from './inbox-world.ts'

/** All that the inbox of a workspace holds, ids apart: each conversation with its messages, files, events and activities in order. */
export async function inboxPicture(w: InboxWorld): Promise<unknown[]> {
  const { db, workspaceId } = w
  const keyring = await w.vault.keyring(workspaceId)
  const conversations = await db.sql<ConversationRow[]>`
    select ${conversationColumns(db.sql)}
    from conversations c
    where workspace_id = ${workspaceId}`
  const pictures = conversations.map(async (row) => {
    const messages = await db.sql<MessageRow[]>`
      select ${messageColumns(db.sql)}
      from messages m
      where workspace_id = ${workspaceId}
        and conversation_id = ${row.id}
      order by occurred_at`
    const activities = await db.sql`
      select kind, detail, reason, actor_type
      from conversation_activities
      where workspace_id = ${workspaceId}
        and conversation_id = ${row.id}
      order by id`
    const files = await db.sql`
      select f.message_id, f.direction, f.kind, f.state
      from media f
      where f.workspace_id = ${workspaceId}
        and f.conversation_id = ${row.id}
      order by f.created_at, f.id`
    return withoutIds({
      conversation: openConversation(keyring, row),
      messages: messages.map((message) => openMessage(keyring, message)),
      activities: [...activities],
      files: [...files],
      events: await w.events(row.id),
    })
  })
  return (await Promise.all(pictures)).sort().map((picture) => JSON.parse(picture))
}

const withoutIds = (value: unknown): string =>
  JSON.stringify(value).replace(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, 'id')

/** How much of what customers wrote is there: messages, what is counted as unread, and events that tell of it. */
export async function countsOf({ db, workspaceId }: Pick<InboxWorld, 'db' | 'workspaceId'>): Promise<number[]> {
  const [row] = await db.sql<{ messages: number; unread: number; events: number }[]>`
    select
      (select count(*) from messages where workspace_id = ${workspaceId}) as messages,
      (select sum(${asItIs.unreadCount(db.sql)}) from conversations c where workspace_id = ${workspaceId}) as unread,
      (select count(*) from events where workspace_id = ${workspaceId} and name = 'inbox.message.received') as events`
  return [Number(row?.messages), Number(row?.unread), Number(row?.events)]
}

export async function messagesWithoutFile({
  db,
  workspaceId,
}: Pick<InboxWorld, 'db' | 'workspaceId'>): Promise<number> {
  const [row] = await db.sql<{ count: number }[]>`
    select count(*)::integer as count
    from messages m
    left join media f on f.workspace_id = m.workspace_id and f.message_id = m.id
    where m.workspace_id = ${workspaceId}
      and f.id is null`
  return Number(row?.count)
}
