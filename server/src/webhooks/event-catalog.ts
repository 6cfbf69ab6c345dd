import { groupNames, isOptIn, matchEventNames } from '../events/record.ts'
import { inboxEvents } from '../inbox/api/inbox-event-catalog.ts'
import { optInInboxEvents } from '../inbox/api/opt-in-event-catalog.ts'
import { leadEvents, optInLeadEvents } from '../leads/lead/events.ts'

/** All events. Lives here because it is the lowest module that may import all modules that record events. */
export const eventCatalog = { ...leadEvents, ...inboxEvents, ...optInInboxEvents, ...optInLeadEvents }

export type KnownEvent = keyof typeof eventCatalog

export const eventNames = Object.keys(eventCatalog) as KnownEvent[]

/** Events that open pages follow. */
export const streamedNames = eventNames.filter((name) => !isOptIn(name))

/** Values that an endpoint can subscribe to: event names and groups. */
export const eventPatterns: readonly string[] = [...eventNames, ...groupNames]

/** Returns the event names that match the patterns. */
export const eventNamesOf = (patterns: readonly string[]): KnownEvent[] => matchEventNames(eventNames, patterns)
