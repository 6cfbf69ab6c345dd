import type { Notification } from '../data/notifications.ts'

/** What somebody looks at: the place of the page, and whether anybody sees it. */
export interface ViewState {
  /** The conversation that is open; null: none. */
  conversationId: string | null
  isVisible: boolean
}

/** More that come at once are not each worth a sound and a pop-up. */
const maxAlerts = 3

/** What of the notices came since the newest that was known, unread, and is not being looked at: the oldest first. */
export function newNotifications(
  notifications: readonly Notification[],
  knownTo: string,
  { conversationId, isVisible }: ViewState,
): Notification[] {
  const seen = (one: Notification) => isVisible && conversationId !== null && one.conversation?.id === conversationId
  return notifications
    .filter((one) => one.readAt === null && one.createdAt > knownTo && !seen(one))
    .slice(0, maxAlerts)
    .toReversed()
}

/** Whether some of it is told of the conversation that somebody looks at: it is read by that. */
export const hasVisibleUnread = (
  notifications: readonly Notification[],
  { conversationId, isVisible }: ViewState,
): boolean =>
  isVisible && notifications.some((one) => one.readAt === null && one.conversation?.id === (conversationId ?? ''))
