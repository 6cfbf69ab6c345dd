import { changeThread } from './cache.ts'
import type { Inbox } from './inbox.ts'
import { refreshThread, sendInBackground } from './outbox.ts'
import { mapMessages } from './thread-rules.ts'
import type { Message, Reaction } from './types.ts'

/**
 * Sets our reaction to a message, replacing the previous one; null removes it. Optimistic; reverts and rejects if it
 * could not be sent.
 */
export async function react(
  inbox: Inbox,
  conversationId: string,
  { id }: Pick<Message, 'id'>,
  emoji: string | null,
): Promise<void> {
  const key = crypto.randomUUID()
  const ours: Reaction[] =
    emoji === null ? [] : [{ id: key, emoji, direction: 'outbound', at: new Date().toISOString() }]
  changeThread(inbox, conversationId, (thread) =>
    mapMessages(thread, (message) => {
      if (message.id !== id) return message
      return { ...message, reactions: [...message.reactions.filter(isOwnReaction), ...ours] }
    }),
  )
  try {
    const reply = { kind: 'reaction' as const, message_id: id, emoji }
    await sendInBackground(inbox, conversationId, { reply, key, ifLastMessageId: null })
  } catch (error) {
    await refreshThread(inbox, conversationId).catch(() => {})
    throw error
  }
}

const isOwnReaction = ({ direction }: Reaction): boolean => direction === 'inbound'
