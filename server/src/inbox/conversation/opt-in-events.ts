import type { NewEvent } from '../../events/record.ts'
import type { Actor } from '../../workspaces/actor.ts'
import type { OptInEventName } from '../../workspaces/opt-in-events.ts'
import type { ConversationRef } from './conversation.ts'

// Events that a workspace must ask for, except those about activities, which `commit-change.ts` records. Documented in
// `inbox/api/opt-in-event-catalog.ts`.

export function noteAdded(
  conversation: ConversationRef,
  { id, text, mentions, actor }: { id: string; text: string; mentions: readonly string[]; actor: Actor },
  at: Date,
): NewEvent {
  const note = { id, text, mentions }
  return conversationEvent('conversation.note_added', conversation, { note, actor, at: at.toISOString() })
}

export const conversationEvent = (
  name: OptInEventName,
  { id, connectionId }: ConversationRef,
  body: object,
): NewEvent => ({
  name,
  subjectId: id,
  connectionId,
  payload: { conversation_id: id, ...body },
})

/** A customer's score, from 1 to `scale`, with who had answered before. */
export const conversationRated = (
  conversation: ConversationRef,
  { score, scale, answerer }: { score: number; scale: number; answerer: { type: string; id: string | null } },
  at: Date,
): NewEvent =>
  conversationEvent('conversation.rated', conversation, {
    ...{ score, scale, answered_by: answerer },
    at: at.toISOString(),
  })

/** A task whose time has come, with the conversation or lead that it is about. */
interface DueTask {
  id: string
  title: string
  dueAt: Date
  /** The member who does it. */
  assignee: string | null
  conversation: ConversationRef | null
  leadId: string | null
}

/** Record it by `recordOptInEvents`, in the transaction that marks the task as due. */
export function taskDue({ id, title, dueAt, assignee, conversation, leadId }: DueTask): NewEvent {
  const task = { id, title, due_at: dueAt.toISOString(), assignee }
  return {
    name: 'task.due',
    // Ordered with the other events about it, and erased with it.
    subjectId: conversation?.id ?? leadId ?? id,
    connectionId: conversation?.connectionId ?? null,
    payload: { task, conversation_id: conversation?.id ?? null, lead_id: leadId },
  }
}
