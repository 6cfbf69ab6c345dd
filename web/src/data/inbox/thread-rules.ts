import type { Message, Reaction, TimelineItem } from './types.ts'

/** What is known of a conversation's thread, oldest first. */
export interface Thread {
  items: readonly TimelineItem[]
  older: string | null
  newer: string | null
  firstUnreadId: string | null
  /** Which reading its newest part is of: of two that were under way at once, the one that began later knows more. */
  reading: number
}

/**
 * With the newest page read again. Where the two do not meet, something lies between: only the newest are kept, unless
 * somebody reads further up, who goes on to them page by page.
 */
export function mergeNewest(before: Thread | undefined, page: Thread): Thread {
  if (before === undefined) return page
  if (page.reading < before.reading) return before
  const known = new Set(before.items.map(({ id }) => id))
  const meets = page.older === null || page.items.some(({ id }) => known.has(id))
  if (!meets) return before.newer === null ? page : { ...before, firstUnreadId: page.firstUnreadId }
  const fresh = new Set(page.items.map(({ id }) => id))
  const firstAt = page.items[0]?.at ?? ''
  // What the page would have shown and does not is no longer there.
  const kept = before.items.filter(({ id, at }) => !fresh.has(id) && (page.older === null ? false : at < firstAt))
  return {
    items: [...withReactions(kept, page.items), ...page.items],
    older: kept.length > 0 ? before.older : page.older,
    newer: null,
    firstUnreadId: page.firstUnreadId,
    reading: page.reading,
  }
}

export function prependOlder(thread: Thread, page: Thread): Thread {
  return { ...thread, items: [...withoutKnown(page, thread), ...thread.items], older: page.older }
}

export function appendNewer(thread: Thread, page: Thread): Thread {
  const items = [...withReactions(thread.items, page.items), ...withoutKnown(page, thread)]
  return { ...thread, items, newer: page.newer }
}

/** With what was read again of some of its items; the rest stays. */
export function replaceItems(thread: Thread, fresh: readonly TimelineItem[]): Thread {
  const byId = new Map(fresh.map((item) => [item.id, item]))
  return { ...thread, items: thread.items.map((item) => byId.get(item.id) ?? item) }
}

/** With the reactions among what came later on the messages that they are about. */
export function withReactions(items: readonly TimelineItem[], later: readonly TimelineItem[]): readonly TimelineItem[] {
  const reactionMessages = later.flatMap(({ message }) => (message?.reaction?.messageId == null ? [] : [message]))
  if (reactionMessages.length === 0) return items
  return items.map((item) => {
    if (item.message === undefined) return item
    const reactions = reactionMessages.reduce(reactedBy(item.id), item.message.reactions)
    return reactions === item.message.reactions ? item : { ...item, message: { ...item.message, reactions } }
  })
}

// Each side has one at most; one that is older than what is known of that side changes nothing.
const reactedBy =
  (messageId: string) =>
  (reactions: Reaction[], { id, direction, occurredAt: at, reaction }: Message): Reaction[] => {
    if (reaction === null || reaction.messageId !== messageId) return reactions
    const before = reactions.find((one) => one.direction === direction)
    if (before !== undefined && (before.id === id || before.at > at)) return reactions
    const others = reactions.filter((one) => one !== before)
    if (reaction.emoji === '') return before === undefined ? reactions : others
    return [...others, { id, emoji: reaction.emoji, direction, at }]
  }

const withoutKnown = (page: Thread, { items }: Thread): readonly TimelineItem[] => {
  const known = new Set(items.map(({ id }) => id))
  return page.items.filter(({ id }) => !known.has(id))
}

/** The thread with what `change` makes of its messages; the same one when that is nothing. */
export function mapMessages(thread: Thread, change: (message: Message) => Message): Thread {
  let isChanged = false
  const items = thread.items.map((item) => {
    const message = item.message && change(item.message)
    if (message === item.message) return item
    isChanged = true
    return { ...item, message } as TimelineItem
  })
  return isChanged ? { ...thread, items } : thread
}
