import type { EventName } from '../../events/catalogue.ts'

/** When each event fires, for people who choose. */
export const eventGuide: Record<EventName, string> = {
  'lead.created':
    'A lead was created: by the API, in bulk, by a form, or since a customer wrote. The body is the lead.',
  'lead.updated':
    'A field of a lead changed. The body is the lead as it is now, with `previousStatus` when its status changed.',
  'lead.deleted': 'A lead was deleted. The body is the lead, with `deletedAt`.',
  'lead.restored': 'A deleted lead was brought back. The body is the lead.',
  'inbox.message.received': 'A customer wrote. The body has the conversation, the contact and the message.',
  'inbox.message.sent': 'A message went out: by an agent, a member, or on the phone of the number itself.',
  'inbox.message.status': 'A message that was sent got further: `sent`, `delivered`, `read` or `failed`.',
  'inbox.conversation.owner_changed': 'A conversation changed hands between people and agents.',
}
