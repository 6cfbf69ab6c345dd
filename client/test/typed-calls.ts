// Calls as in user code: compiles only if all types are known down to the last field.
import {
  type AgentWork,
  ApiError,
  type BulkResult,
  type Lead,
  Parley,
  type ParleyEvent,
  type WebhookEvent,
} from '@parley/client'

type Known<T> = 0 extends 1 & T ? never : unknown extends T ? never : T
const known = <T>(value: T & Known<T>): T => value

const parley = new Parley({ baseUrl: 'http://localhost:7007', apiKey: 'plk_…', timeoutMs: 5000 })

export async function openLeads(): Promise<Lead[]> {
  return parley.leads.list({ status: 'new,qualified', priority: 'high', sortBy: 'updatedAt' }).take(known(20))
}

export async function failures(phones: string[]): Promise<string[]> {
  const found: string[] = []
  const upserts = phones.map((value) => ({ match: { by: 'phone', value } as const, lead: { phone: value } }))
  for await (const { success, error } of parley.leads.upsertAll(upserts) satisfies AsyncIterable<BulkResult>)
    if (!success) found.push(known(error?.statusMessage) ?? '')
  return found
}

export async function isOurs(id: string): Promise<boolean> {
  const { owner, contact } = await parley.inbox.conversation(id)
  return known(owner) === 'human' && known(contact.phone) !== null
}

/** Narrows events by name, and checks that there are no others. */
export function describeEvent(event: ParleyEvent | WebhookEvent): string {
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
      return known(event.payload.decision) ?? 'none'
    case 'inbox.conversation.standby_changed':
      return known(event.payload.thread_owner) ?? 'none'
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

export async function work(): Promise<AgentWork['why'] | undefined> {
  for await (const { why, conversation, messages, lead, handover, ...found } of parley.agents.work({ limit: 1 })) {
    known(conversation.customer_phone)
    known(messages[0]?.customer_text)
    known(lead?.status)
    known(handover?.next_step)
    const { was_new } = await parley.agents.answer({ conversation_id: conversation.id, text: 'Hello' })
    return known(was_new) ? why : known(found.notes[0]?.text) === '' ? why : undefined
  }
}

export const whatToMend = (error: unknown): string[] =>
  error instanceof ApiError ? error.issues.map(({ path, message }) => `${known(path)} ${known(message)}`) : []
