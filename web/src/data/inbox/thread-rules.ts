import type { Message, TimelineItem } from './types.ts'

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
    items: [...kept, ...page.items],
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
  return { ...thread, items: [...thread.items, ...withoutKnown(page, thread)], newer: page.newer }
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
