import { changeThread } from './cache.ts'
import type { Inbox } from './inbox.ts'
import { refreshThread, sendInBackground } from './outbox.ts'
import { mapMessages } from './thread-rules.ts'
import type { Message, Reaction } from './types.ts'

/**
 * Puts our reaction on a message, in place of the one before; null takes it back. Shown at once, and taken back with a
 * rejection when it was not sent.
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
