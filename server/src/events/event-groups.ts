/** The interface that an event belongs to: keys see it by the read scope of that interface. */
export type EventFace = 'leads' | 'inbox'

/** Begins with what it is about. Which events there are, the rooms say that record them. */
export type EventName = `lead.${string}` | `inbox.${string}`

/** What asks for all events of a face, those to come included. */
const eventGroups = { 'lead.*': 'leads', 'inbox.*': 'inbox' } as const satisfies Record<string, EventFace>

export const groupNames = Object.keys(eventGroups) as (keyof typeof eventGroups)[]

/** Lead events travel bare, inbox events wrapped in their name. */
export function faceOf(name: EventName): EventFace {
  return name.startsWith('lead.') ? 'leads' : 'inbox'
}

/** The names that a list of names and groups asks for. */
export function namesAskedFor<N extends EventName>(names: readonly N[], asked: readonly string[]): N[] {
  const faces = groupNames.filter((group) => asked.includes(group)).map((group) => eventGroups[group])
  return names.filter((name) => asked.includes(name) || faces.includes(faceOf(name)))
}
