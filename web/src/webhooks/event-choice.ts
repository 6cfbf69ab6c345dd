import { eventNameValues } from '../api/schema.ts'
import type { EventName, EventPattern } from '../data/webhooks.ts'

export const allEvents: readonly EventName[] = eventNameValues

export const groups = {
  'lead.*': allEvents.filter((name) => name.startsWith('lead.')),
  'inbox.*': allEvents.filter((name) => name.startsWith('inbox.')),
}

export type Group = keyof typeof groups

/** Ticks or clears a box. A whole group replaces its events. */
export function toggleEvent(chosen: readonly EventPattern[], pattern: EventPattern): EventPattern[] {
  if (chosen.includes(pattern)) return chosen.filter((one) => one !== pattern)
  const members: readonly EventPattern[] = pattern in groups ? groups[pattern as Group] : []
  return [...chosen.filter((one) => !members.includes(one)), pattern]
}
