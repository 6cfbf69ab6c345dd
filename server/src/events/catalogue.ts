/** Every event of the two contracts, by the interface whose read scope shows it. */
export const eventNames = {
  leads: ['lead.created', 'lead.updated', 'lead.deleted', 'lead.restored'],
  inbox: ['inbox.message.received', 'inbox.message.sent', 'inbox.message.status', 'inbox.conversation.owner_changed'],
} as const

export type EventFace = keyof typeof eventNames
export type EventName = (typeof eventNames)[EventFace][number]

export const allEventNames: readonly EventName[] = [...eventNames.leads, ...eventNames.inbox]

/** Lead events travel bare, inbox events wrapped in their name. */
export function faceOf(name: EventName): EventFace {
  return name.startsWith('lead.') ? 'leads' : 'inbox'
}
