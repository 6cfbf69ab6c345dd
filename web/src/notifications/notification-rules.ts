import type { Notification } from '../data/notifications.ts'

/** What the person is looking at: the open page, and whether it is visible. */
export interface ViewState {
  /** The open conversation; null if none. */
  conversationId: string | null
  isVisible: boolean
}

/** Largest number of alerts at once. */
const maxAlerts = 3

/** Returns unread notifications after the newest known one, except of the visible conversation; oldest first. */
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

/** Returns whether a notification belongs to the visible conversation, which marks it as read. */
export const hasVisibleUnread = (
  notifications: readonly Notification[],
  { conversationId, isVisible }: ViewState,
): boolean =>
  isVisible && notifications.some((one) => one.readAt === null && one.conversation?.id === (conversationId ?? ''))
