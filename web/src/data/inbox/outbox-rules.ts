import type { TimelineItem } from './types.ts'

/** A message on its way to the service. */
export interface OutboxEntry {
  /** Its Idempotency-Key: it is sent at most once, however often it is tried. */
  key: string
  text: string
  at: string
  /** `waiting`: the service could not be reached; it is tried again. */
  state: 'sending' | 'waiting'
  /** My messages of the same text that the thread had before: they are not this one. */
  knownIds: readonly string[]
  messageId: string | null
}

/** What the thread does not show yet by itself. Of two of the same text each takes a message of its own. */
export function pendingEntries(
  outbox: readonly OutboxEntry[],
  items: readonly TimelineItem[],
  userId: string,
): readonly OutboxEntry[] {
  const taken = new Set<string>()
  return outbox.filter(({ messageId, text, knownIds }) => {
    const found = items.find(
      (item) =>
        !taken.has(item.id) &&
        (messageId === null ? isOwnMessage(item, text, userId) && !knownIds.includes(item.id) : item.id === messageId),
    )
    if (found !== undefined) taken.add(found.id)
    return found === undefined
  })
}

export const ownMessageIds = (items: readonly TimelineItem[], text: string, userId: string): string[] =>
  items.filter((item) => isOwnMessage(item, text, userId)).map(({ id }) => id)

const isOwnMessage = ({ message }: TimelineItem, text: string, userId: string): boolean =>
  message?.direction === 'outbound' && message.author.id === userId && message.text === text
