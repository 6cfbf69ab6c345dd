import type { EventName, EventPattern } from '../data/webhooks.ts'

export const groups = {
  'lead.*': ['lead.created', 'lead.updated', 'lead.deleted', 'lead.restored'],
  'inbox.*': [
    'inbox.message.received',
    'inbox.message.sent',
    'inbox.message.status',
    'inbox.conversation.owner_changed',
  ],
} as const satisfies Record<string, readonly EventName[]>

export type Group = keyof typeof groups

export const allEvents: readonly EventName[] = [...groups['lead.*'], ...groups['inbox.*']]

/** The choice once a box was ticked or cleared. A whole group takes the place of its single events. */
export function toggle(chosen: readonly EventPattern[], pattern: EventPattern): EventPattern[] {
  if (chosen.includes(pattern)) return chosen.filter((one) => one !== pattern)
  const members: readonly EventPattern[] = pattern in groups ? groups[pattern as Group] : []
  return [...chosen.filter((one) => !members.includes(one)), pattern]
}
