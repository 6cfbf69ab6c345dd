import { eventNameValues, optInEventNameValues } from '../api/schema.ts'
import type { EventName, EventPattern } from '../data/webhooks.ts'

export const allEvents: readonly EventName[] = eventNameValues

/** Events of no group: they are recorded only where an endpoint or the workspace names them. */
export const optInEvents: readonly EventName[] = optInEventNameValues

const grouped = allEvents.filter((name) => !optInEvents.includes(name))

export const groups = {
  'lead.*': grouped.filter((name) => name.startsWith('lead.')),
  'inbox.*': grouped.filter((name) => name.startsWith('inbox.')),
}

export type EventGroup = keyof typeof groups

/** Ticks or clears a box. A whole group replaces its events. */
export function toggleEvent(chosen: readonly EventPattern[], pattern: EventPattern): EventPattern[] {
  if (chosen.includes(pattern)) return chosen.filter((one) => one !== pattern)
  const members: readonly EventPattern[] = pattern in groups ? groups[pattern as EventGroup] : []
  return [...chosen.filter((one) => !members.includes(one)), pattern]
}
