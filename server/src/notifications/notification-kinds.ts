/** What people are told of. What of it is told by whom, the rooms say that record it. */
export const notificationKinds = ['mention', 'assigned', 'handover', 'waiting', 'connection'] as const
export type NotificationKind = (typeof notificationKinds)[number]

/** Nothing is told at all without the bell; the others are beside it. */
export const deliveryMethods = ['bell', 'sound', 'browser', 'push'] as const
export type DeliveryMethod = (typeof deliveryMethods)[number]

export type NotificationPreferences = Record<NotificationKind, Record<DeliveryMethod, boolean>>

const all = { bell: true, sound: true, browser: true, push: true }

/** As it is for who has chosen nothing. Browser and push ask the browser first, so that nobody is surprised by them. */
export const defaultPreferences: NotificationPreferences = {
  mention: all,
  assigned: all,
  handover: all,
  waiting: { ...all, sound: false },
  connection: all,
}

/** What was stored, with the usual for a kind that is newer. */
export function withDefaults(stored: Partial<NotificationPreferences> | null): NotificationPreferences {
  return { ...defaultPreferences, ...stored }
}

/** With what a page sounds. */
export const notificationTones = ['chime', 'drop', 'knock'] as const
export type NotificationTone = (typeof notificationTones)[number]
