import type { Sql } from '../../base/db.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import type { Scope } from '../conversation/conversation.ts'
import { conversationNotFound } from '../conversation/errors.ts'
import { type Message, openMessage } from '../conversation/message.ts'
import { selectMessages } from '../conversation/message-queries.ts'
import { findConversation } from '../conversation/queries.ts'

export interface MessagePage {
  /** Oldest first. */
  messages: Message[]
  hasMore: boolean
}

/** The newest messages of a conversation before a time; throws 404 outside the scope. */
export async function readMessages(
  sql: Sql,
  keyring: Keyring,
  scope: Scope,
  id: string,
  { before, limit }: { before: Date | null; limit: number },
): Promise<MessagePage> {
  const conversation = await findConversation(sql, scope, id)
  if (conversation === undefined) throw conversationNotFound()
  const rows = await selectMessages(sql, scope.workspaceId, conversation.id, before, limit + 1)
  const shown = rows.slice(0, limit).reverse()
  return { messages: shown.map((row) => openMessage(keyring, row)), hasMore: rows.length > limit }
}
