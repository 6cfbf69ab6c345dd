import { useSyncExternalStore } from 'react'
import type { Message, Reply } from '../../data/inbox/types.ts'

const quoted = new Map<string, Message>()
const listeners = new Set<() => void>()

/** Returns the quoted message of a conversation; null if none. */
export const quotedMessageOf = (conversationId: string): Message | null => quoted.get(conversationId) ?? null

export const useQuotedMessage = (conversationId: string): Message | null =>
  useSyncExternalStore(subscribe, () => quotedMessageOf(conversationId))

/** Sets the message that the next one quotes; null clears it. */
export function setQuotedMessage(conversationId: string, message: Message | null): void {
  if (message === null) quoted.delete(conversationId)
  else quoted.set(conversationId, message)
  for (const listener of listeners) listener()
}

export const withQuote = (reply: Reply, quoted: Message | null): Reply =>
  quoted === null ? reply : { ...reply, quoted_message_id: quoted.id }

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
