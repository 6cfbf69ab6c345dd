import type { Delivery, DeliveryPages } from '../data/webhooks.ts'

/** Merges the refetched newest page with older pages loaded before. If there is a gap, keeps only the newest page. */
export function mergeNewestPage(before: DeliveryPages, newest: DeliveryPages['pages'][number]): DeliveryPages {
  const last = newest.deliveries.at(-1)
  const known = before.pages.flatMap(({ deliveries }) => deliveries)
  const meets = known.findIndex(({ eventId }) => eventId === last?.eventId)
  if (meets < 0 || newest.nextCursor === null) return { pages: [newest], pageParams: [null] }
  const older = known.slice(meets + 1)
  const nextCursor = before.pages.at(-1)?.nextCursor ?? null
  const pages = older.length === 0 ? [newest] : [newest, { deliveries: older, nextCursor }]
  return { pages, pageParams: pages.map((_, n) => (n === 0 ? null : newest.nextCursor)) }
}

export const deliveriesOf = (pages: DeliveryPages | undefined): Delivery[] =>
  pages?.pages.flatMap(({ deliveries }) => deliveries) ?? []
