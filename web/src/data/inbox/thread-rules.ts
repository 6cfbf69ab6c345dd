import type { Message, Reaction, TimelineItem } from './types.ts'

/** The loaded part of a thread, oldest first. */
export interface Thread {
  items: readonly TimelineItem[]
  older: string | null
  newer: string | null
  firstUnreadId: string | null
  /** Sequence number of the request for the newest part: the later of two concurrent requests knows more. */
  requestNumber: number
}

/**
 * Merges the refetched newest page. If there is a gap, keeps only the newest page, unless an older part of the thread
 * is open (`newer` is set): then keeps that part, which loads on page by page.
 */
export function mergeNewest(before: Thread | undefined, page: Thread): Thread {
  if (before === undefined) return page
  if (page.requestNumber < before.requestNumber) return before
  const known = new Set(before.items.map(({ id }) => id))
  const meets = page.older === null || page.items.some(({ id }) => known.has(id))
  if (!meets) return before.newer === null ? page : { ...before, firstUnreadId: page.firstUnreadId }
  const fresh = new Set(page.items.map(({ id }) => id))
  const firstAt = page.items[0]?.at ?? ''
  // Items that the page should contain but does not were removed.
  const kept = before.items.filter(({ id, at }) => !fresh.has(id) && (page.older === null ? false : at < firstAt))
  return {
    items: [...withReactions(kept, page.items), ...page.items],
    older: kept.length > 0 ? before.older : page.older,
    newer: null,
    firstUnreadId: page.firstUnreadId,
    requestNumber: page.requestNumber,
  }
}

export function prependOlder(thread: Thread, page: Thread): Thread {
  return { ...thread, items: [...withoutKnown(page, thread), ...thread.items], older: page.older }
}

export function appendNewer(thread: Thread, page: Thread): Thread {
  const items = [...withReactions(thread.items, page.items), ...withoutKnown(page, thread)]
  return { ...thread, items, newer: page.newer }
}

/** Replaces items with refetched ones; keeps the others. */
export function replaceItems(thread: Thread, fresh: readonly TimelineItem[]): Thread {
  const byId = new Map(fresh.map((item) => [item.id, item]))
  return { ...thread, items: thread.items.map((item) => byId.get(item.id) ?? item) }
}

/** Applies later reactions to the messages that they refer to. */
export function withReactions(items: readonly TimelineItem[], later: readonly TimelineItem[]): readonly TimelineItem[] {
  const reactionMessages = later.flatMap(({ message }) => (message?.reaction?.messageId == null ? [] : [message]))
  if (reactionMessages.length === 0) return items
  return items.map((item) => {
    if (item.message === undefined) return item
    const reactions = reactionMessages.reduce(reactedBy(item.id), item.message.reactions)
    return reactions === item.message.reactions ? item : { ...item, message: { ...item.message, reactions } }
  })
}

// Each side has at most one reaction; an older reaction than the known one changes nothing.
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

/** Returns the thread with changed messages; the same object if nothing changed. */
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
