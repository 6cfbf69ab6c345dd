/**
 * Events that are recorded only while the workspace asks for them by name: in a webhook endpoint, or in `feedEvents`, its
 * setting for the event feed. Groups of events never include them, so that no existing reader gets them (decision 010).
 */
export const optInEventNames = [
  'conversation.assigned',
  'conversation.status_changed',
  'conversation.labelled',
  'conversation.note_added',
  'lead.merged',
  'task.due',
  'conversation.rated',
] as const

export type OptInEventName = (typeof optInEventNames)[number]
