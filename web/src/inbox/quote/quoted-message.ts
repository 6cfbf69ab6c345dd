import type { Message, Reply } from '../../data/inbox/types.ts'
import { createPublisher } from '../parts/publisher.ts'

const quoted = new Map<string, Message>()
const { publish, useValue } = createPublisher()

/** Returns the quoted message of a conversation; null if none. */
export const quotedMessageOf = (conversationId: string): Message | null => quoted.get(conversationId) ?? null

export const useQuotedMessage = (conversationId: string): Message | null =>
  useValue(() => quotedMessageOf(conversationId))

/** Sets the message that the next one quotes; null clears it. */
export function setQuotedMessage(conversationId: string, message: Message | null): void {
  if (message === null) quoted.delete(conversationId)
  else quoted.set(conversationId, message)
  publish()
}

export const withQuote = (reply: Reply, quoted: Message | null): Reply =>
  quoted === null ? reply : { ...reply, quoted_message_id: quoted.id }
