import type { Message, TimelineItem } from './types.ts'

/** What is known of a conversation's thread, oldest first. */
export interface Thread {
  items: readonly TimelineItem[]
  older: string | null
  newer: string | null
  firstUnreadId: string | null
}

/**
 * With the newest page read anew. Where the two do not meet, something lies between: only the newest are kept, unless
 * somebody reads further up, who goes on to them page by page.
 */
export function mergeNewest(before: Thread | undefined, page: Thread): Thread {
  if (before === undefined) return page
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

const ladder: readonly Message['status'][] = ['pending', 'sent', 'delivered', 'read']

/** Whether a status is news: they climb, and a failure stays unless the message turns out to have arrived. */
export function climbs(from: Message['status'], to: Message['status']): boolean {
  if (to === 'failed') return from !== 'failed' && from !== 'delivered' && from !== 'read'
  return from === 'failed' || ladder.indexOf(to) > ladder.indexOf(from)
}

/** The thread after the platform told of a message; the same one when that is no news. */
export function withStatus(thread: Thread, id: string, status: Message['status'], errorCode: string | null): Thread {
  const at = thread.items.findIndex((item) => item.id === id)
  const message = thread.items[at]?.message
  if (message === undefined || !climbs(message.status, status)) return thread
  const item = { ...thread.items[at], message: { ...message, status, errorCode } } as TimelineItem
  return { ...thread, items: thread.items.with(at, item) }
}
