import type { Thread } from '../../data/inbox/thread-rules.ts'
import type { TimelineItem } from '../../data/inbox/types.ts'

/** Returns the newest message of a thread that is loaded to its end. */
export function newestMessageId({ items, newer }: Thread): string | null {
  if (newer !== null) return null
  return items.findLast(({ type }) => type === 'message')?.id ?? null
}

/** Returns who else has written after a message: a name, empty for the customer or without a name; null if nobody. */
export function newMessageAuthor(items: readonly TimelineItem[], messageId: string, userId: string): string | null {
  const at = items.findIndex(({ id }) => id === messageId)
  if (at === -1) return null
  const newMessage = items
    .slice(at + 1)
    .findLast(({ message }) => message !== undefined && message.author.id !== userId)
  return newMessage?.message === undefined ? null : (newMessage.message.author.name ?? '')
}
