import { byteaArray } from '../../base/postgres/values.ts'
import type { Channel } from '../../channels/connection/connection.ts'
import type { Conversation, InboxDeps } from '../conversation/conversation.ts'
import type { ConversationStatus } from '../conversation/conversation-state.ts'
import { asItIs } from '../conversation/moving.ts'
import { writeOwner } from '../conversation/owner.ts'
import { conversationColumns } from '../conversation/queries.ts'
import { type ConversationRow, openConversation, phoneIndexes } from '../conversation/sealed.ts'

/** What a lead's page shows of a conversation. */
export interface ConversationCard {
  id: string
  connectionId: string
  channel: Channel
  owner: string
  status: ConversationStatus
  assignedTo: string | null
  unreadCount: number
  lastMessageAt: Date
  unansweredSince: Date | null
  lastMessage: Conversation['lastMessage']
}

const maxConversations = 100

/** The conversations of a customer by phones, in any of their variants; of each there is one on each connection at most. */
export async function conversationsOfPhones(
  { db, vault }: Pick<InboxDeps, 'db' | 'vault'>,
  workspaceId: string,
  phones: readonly string[],
): Promise<ConversationCard[]> {
  if (phones.length === 0) return []
  const keyring = await vault.keyring(workspaceId)
  const indexes = phones.flatMap((phone) => phoneIndexes(keyring, phone))
  const rows = await db.sql<ConversationRow[]>`
    select ${conversationColumns(db.sql)}
    from conversations c
    where c.workspace_id = ${workspaceId}
      and c.phone_index is not null
      and c.phone_index = any (${byteaArray(indexes)}::bytea[])
    order by ${asItIs.lastMessageAt(db.sql)} desc, c.id desc
    limit ${maxConversations}`
  return rows.map((row) => card(openConversation(keyring, row)))
}

function card(one: Conversation): ConversationCard {
  const { id, connectionId, channel, status, assignedTo, unreadCount, lastMessageAt, unansweredSince, lastMessage } =
    one
  const owner = writeOwner(one.owner)
  return {
    id,
    connectionId,
    channel,
    owner,
    status,
    assignedTo,
    unreadCount,
    lastMessageAt,
    unansweredSince,
    lastMessage,
  }
}
