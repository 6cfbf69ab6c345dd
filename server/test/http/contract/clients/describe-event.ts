import type { components } from './generated/openapi-typescript'
import { known } from './known'

/** Narrows events by name, and checks that there are no others. */
export function describeEvent(event: components['schemas']['Event']): string {
  switch (event.event) {
    case 'lead.created':
    case 'lead.deleted':
    case 'lead.restored':
      return known(event.payload.firstName)
    case 'lead.updated':
      return known(event.payload.previousStatus) ?? event.payload.status
    case 'inbox.message.received':
      return known(event.payload.message.text)
    case 'inbox.message.sent':
      return known(event.payload.message.status)
    case 'inbox.message.status':
      return known(event.payload.error_code) ?? event.payload.status
    case 'inbox.conversation.owner_changed':
      return known(event.payload.owner)
    case 'inbox.conversation.consent_changed':
      return known(event.payload.decision) ?? event.payload.purpose
    case 'inbox.conversation.standby_changed':
      return known(event.payload.thread_owner) ?? String(event.payload.standby)
    case 'inbox.draft.proposed':
      return known(event.payload.why)
    case 'inbox.draft.decided':
      return known(event.payload.outcome)
    case 'inbox.scheduled_message.failed':
      return known(event.payload.error_code)
    case 'conversation.assigned':
      return known(event.payload.assigned_to) ?? 'nobody'
    case 'conversation.status_changed':
      return known(event.payload.status)
    case 'conversation.labelled':
      return known(event.payload.added_label_ids).join()
    case 'conversation.note_added':
      return known(event.payload.note.text)
    case 'lead.merged':
      return known(event.payload.mergedId)
    case 'conversation.rated':
      return `${known(event.payload.score)}`
    case 'task.due':
      return known(event.payload.task.title)
    default: {
      const none: never = event
      return none
    }
  }
}
