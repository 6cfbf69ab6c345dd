import { groupNames, matchEventNames } from '../events/record.ts'
import { inboxEvents } from '../inbox/api/inbox-event-catalog.ts'
import { leadEvents } from '../leads/lead/events.ts'

/** All events. Lives here because it is the lowest module that may import all modules that record events. */
export const eventCatalog = { ...leadEvents, ...inboxEvents }

export type KnownEvent = keyof typeof eventCatalog

export const eventNames = Object.keys(eventCatalog) as KnownEvent[]

/** Values that an endpoint can subscribe to: event names and groups. */
export const eventPatterns: readonly string[] = [...eventNames, ...groupNames]

/** Returns the event names that match the patterns. */
export const eventNamesOf = (patterns: readonly string[]): KnownEvent[] => matchEventNames(eventNames, patterns)
