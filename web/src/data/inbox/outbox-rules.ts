import type { TimelineItem } from './types.ts'

/** A message that is being sent. */
export interface OutboxEntry {
  /** Idempotency key: the message is sent at most once. */
  key: string
  text: string
  at: string
  /** `waiting`: the server could not be reached; the send is retried. */
  state: 'sending' | 'waiting'
  /** My messages with the same text that the thread already had: not this one. */
  knownIds: readonly string[]
  messageId: string | null
}

/** Returns entries that the thread does not show yet. Entries with equal text match different messages. */
export function pendingEntries(
  outbox: readonly OutboxEntry[],
  items: readonly TimelineItem[],
  userId: string,
): readonly OutboxEntry[] {
  const matchedIds = new Set<string>()
  return outbox.filter(({ messageId, text, knownIds }) => {
    const found = items.find(
      (item) =>
        !matchedIds.has(item.id) &&
        (messageId === null ? isOwnMessage(item, text, userId) && !knownIds.includes(item.id) : item.id === messageId),
    )
    if (found !== undefined) matchedIds.add(found.id)
    return found === undefined
  })
}

export const ownMessageIds = (items: readonly TimelineItem[], text: string, userId: string): string[] =>
  items.filter((item) => isOwnMessage(item, text, userId)).map(({ id }) => id)

const isOwnMessage = ({ message }: TimelineItem, text: string, userId: string): boolean =>
  message?.direction === 'outbound' && message.author.id === userId && message.text === text
