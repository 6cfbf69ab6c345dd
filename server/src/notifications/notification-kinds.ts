/** Kinds of notifications. The modules that record them decide who gets them. */
export const notificationKinds = [
  'mention',
  'assigned',
  'handover',
  'draft',
  'waiting',
  'goal',
  'connection',
  'budget',
] as const
export type NotificationKind = (typeof notificationKinds)[number]

/** Ways to notify. Without `bell`, nothing is recorded; the others are in addition. */
export const deliveryMethods = ['bell', 'sound', 'browser', 'push'] as const
export type DeliveryMethod = (typeof deliveryMethods)[number]

export type NotificationPreferences = Record<NotificationKind, Record<DeliveryMethod, boolean>>

const all = { bell: true, sound: true, browser: true, push: true }

/** Defaults for people without preferences. Browsers ask for permission before `browser` and `push`. */
export const defaultPreferences: NotificationPreferences = {
  mention: all,
  assigned: all,
  handover: all,
  draft: all,
  waiting: { ...all, sound: false },
  goal: { ...all, sound: false },
  connection: all,
  budget: { ...all, sound: false },
}

/** Adds the defaults of kinds that are newer than the stored preferences. */
export function withDefaults(stored: Partial<NotificationPreferences> | null): NotificationPreferences {
  return { ...defaultPreferences, ...stored }
}

export const notificationTones = ['chime', 'drop', 'knock'] as const
export type NotificationTone = (typeof notificationTones)[number]
