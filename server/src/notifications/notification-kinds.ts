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
  'task',
  'scheduled',
  'silence',
  'broadcast',
] as const
export type NotificationKind = (typeof notificationKinds)[number]

/** Ways to notify. Without `bell`, nothing is recorded; the others are in addition. */
export const deliveryMethods = ['bell', 'sound', 'browser', 'push', 'mail'] as const
export type DeliveryMethod = (typeof deliveryMethods)[number]

export type NotificationPreferences = Record<NotificationKind, Record<DeliveryMethod, boolean>>

const all = { bell: true, sound: true, browser: true, push: true, mail: false }

/** Defaults for people without preferences. Mail is asked for, browsers ask for permission before `browser` and `push`. */
export const defaultPreferences: NotificationPreferences = {
  mention: all,
  assigned: all,
  handover: all,
  draft: all,
  waiting: { ...all, sound: false },
  goal: { ...all, sound: false },
  connection: all,
  budget: { ...all, sound: false },
  task: all,
  scheduled: all,
  silence: { ...all, sound: false },
  broadcast: all,
}

/** Preferences as stored or sent, perhaps before a kind or method existed. */
export type StoredPreferences = Partial<Record<NotificationKind, Partial<Record<DeliveryMethod, boolean>>>>

/** Adds the defaults of kinds and methods that are newer than the stored preferences. */
export function withDefaults(stored: StoredPreferences | null): NotificationPreferences {
  const complete = notificationKinds.map((kind) => [kind, { ...defaultPreferences[kind], ...stored?.[kind] }])
  return Object.fromEntries(complete) as NotificationPreferences
}

export const notificationTones = ['chime', 'drop', 'knock'] as const
export type NotificationTone = (typeof notificationTones)[number]
