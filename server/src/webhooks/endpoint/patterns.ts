import { groupNames, namesAskedFor } from '../../events/record.ts'
import { eventNames, type KnownEvent } from '../event-catalogue.ts'

/** What an endpoint can ask for: every name, and all of one kind. */
export const eventPatterns: readonly string[] = [...eventNames, ...groupNames]

/** The names that the patterns ask for. */
export const namesOf = (patterns: readonly string[]): KnownEvent[] => namesAskedFor(eventNames, patterns)
