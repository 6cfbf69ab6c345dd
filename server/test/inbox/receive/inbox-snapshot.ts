import { type ConversationRow, decryptConversation } from '../../../src/inbox/conversation/encrypted-conversation.ts'
import { decryptMessage, type MessageRow } from '../../../src/inbox/conversation/message.ts'
import { messageColumns } from '../../../src/inbox/conversation/message-queries.ts'
import { conversationColumns } from '../../../src/inbox/conversation/queries.ts'
import type { InboxWorld } from '../../support/inbox/inbox-world.ts'

/**
 * Returns the whole inbox of a workspace without ids: conversations with messages, files, events and activities in
 * order.
 */
export async function inboxSnapshot(w: InboxWorld): Promise<unknown[]> {
  const { sql } = w.db
  const keyring = await w.keyStore.keyring(w.workspaceId)
  const conversations = await sql<ConversationRow[]>`
    select ${conversationColumns(sql)} from conversations c where workspace_id = ${w.workspaceId}`
  const pictures = conversations.map(async (row) => {
    const ofIt = sql`workspace_id = ${w.workspaceId} and conversation_id = ${row.id}`
    const messages = await sql<MessageRow[]>`
      select ${messageColumns(sql)} from messages m where ${ofIt} order by occurred_at`
    return withoutIds({
      conversation: decryptConversation(keyring, row),
      messages: messages.map((message) => decryptMessage(keyring, message)),
      activities: await sql`
        select kind, detail, reason, actor_type from conversation_activities where ${ofIt} order by id`,
      files: await sql`
        select message_id, direction, kind, state from media where ${ofIt} order by created_at, id`,
      events: await w.events(row.id),
    })
  })
  return (await Promise.all(pictures)).sort().map((picture) => JSON.parse(picture))
}

const withoutIds = (value: unknown): string =>
  JSON.stringify(value).replace(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, 'id')
