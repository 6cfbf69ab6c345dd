import { allEventNames, type EventFace, type EventName, faceOf } from '../../events/catalogue.ts'

const wildcards: Record<string, EventFace> = { 'lead.*': 'leads', 'inbox.*': 'inbox' }

/** What an endpoint can ask for: every name, and all of one kind. */
export const eventPatterns: readonly string[] = [...allEventNames, ...Object.keys(wildcards)]

/** The names that the patterns ask for. */
export function namesOf(patterns: readonly string[]): EventName[] {
  return allEventNames.filter((name) =>
    patterns.some((pattern) => pattern === name || wildcards[pattern] === faceOf(name)),
  )
}
