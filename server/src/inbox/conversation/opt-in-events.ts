import type { NewEvent } from '../../events/record.ts'
import type { Actor } from '../../workspaces/actor.ts'
import type { OptInEventName } from '../../workspaces/opt-in-events.ts'
import type { ChangeCause, ConversationActivity } from './commit-change.ts'
import type { Conversation } from './conversation.ts'

// Bodies of the events that a workspace must ask for. Documented in `inbox/api/opt-in-event-catalog.ts`.

type ConversationRef = Pick<Conversation, 'id' | 'connectionId'>

/** Returns the event about an activity; none if its kind has no event of its own. */
export function eventOfActivity(
  { conversation, detail }: ConversationActivity,
  { actor, reason }: ChangeCause,
  at: Date,
): NewEvent[] {
  const cause = { actor, reason, at: at.toISOString() }
  switch (detail.kind) {
    case 'assignee': {
      const assignee = { assigned_to: detail.to, previous_assigned_to: detail.from }
      return [conversationEvent('conversation.assigned', conversation, { ...assignee, ...cause })]
    }
    case 'status': {
      const { to: status, from: previous_status, snoozedUntil: snoozed_until } = detail
      return [
        conversationEvent('conversation.status_changed', conversation, {
          ...{ status, previous_status, snoozed_until },
          ...cause,
        }),
      ]
    }
    case 'labels': {
      const labels = { added_label_ids: detail.added, removed_label_ids: detail.removed }
      return [conversationEvent('conversation.labelled', conversation, { ...labels, ...cause })]
    }
    default:
      return []
  }
}

export function noteAdded(
  conversation: ConversationRef,
  { id, text, mentions, actor }: { id: string; text: string; mentions: readonly string[]; actor: Actor },
  at: Date,
): NewEvent {
  const note = { id, text, mentions }
  return conversationEvent('conversation.note_added', conversation, { note, actor, at: at.toISOString() })
}

const conversationEvent = (name: OptInEventName, { id, connectionId }: ConversationRef, body: object): NewEvent => ({
  name,
  subjectId: id,
  connectionId,
  payload: { conversation_id: id, ...body },
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
