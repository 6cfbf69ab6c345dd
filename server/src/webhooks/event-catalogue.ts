import { groupNames, matchEventNames } from '../events/record.ts'
import { inboxEvents } from '../inbox/api/inbox-event-catalogue.ts'
import { leadEvents } from '../leads/lead/events.ts'

/** All events. Lives here because it is the lowest module that may import all modules that record events. */
export const eventCatalogue = { ...leadEvents, ...inboxEvents }

export type KnownEvent = keyof typeof eventCatalogue

export const eventNames = Object.keys(eventCatalogue) as KnownEvent[]

/** Values that an endpoint can subscribe to: event names and groups. */
export const eventPatterns: readonly string[] = [...eventNames, ...groupNames]

/** Returns the event names that match the patterns. */
export const eventNamesOf = (patterns: readonly string[]): KnownEvent[] => matchEventNames(eventNames, patterns)
