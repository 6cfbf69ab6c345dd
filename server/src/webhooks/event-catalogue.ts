import { groupNames, matchEventNames } from '../events/record.ts'
import { inboxEvents } from '../inbox/api/inbox-event-catalogue.ts'
import { leadEvents } from '../leads/lead/events.ts'

/** Every event there is. This is the lowest room that may know all those which record them. */
export const eventCatalogue = { ...leadEvents, ...inboxEvents }

export type KnownEvent = keyof typeof eventCatalogue

export const eventNames = Object.keys(eventCatalogue) as KnownEvent[]

/** What an endpoint can ask for: every name, and all of one kind. */
export const eventPatterns: readonly string[] = [...eventNames, ...groupNames]

/** The names that the patterns ask for. */
export const eventNamesOf = (patterns: readonly string[]): KnownEvent[] => matchEventNames(eventNames, patterns)
