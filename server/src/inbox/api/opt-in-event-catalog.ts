import { type TProperties, Type } from 'typebox'
import { nullable, oneOf, timestamp } from '../../base/route.ts'
import { uuid } from '../../base/schema-types.ts'
import type { EventDefinition } from '../../events/feed.ts'
import { systemActor } from '../../workspaces/actor.ts'
import type { OptInEventName } from '../../workspaces/opt-in-events.ts'
import { type ActivityDetail, activityReasons, eventOfActivity } from '../conversation/commit-change.ts'
import { conversationRated, noteAdded, taskDue } from '../conversation/opt-in-events.ts'
import { connectionId, eventActor, userId, withoutMasking } from './inbox-event-catalog.ts'
import { maskNoteAdded, maskTaskDue } from './masking.ts'
import { conversationFields, described } from './schema.ts'

// Events of the inbox that are recorded only for workspaces that ask for them.

const { id, status } = conversationFields
const at = timestamp('Time of the change.')
const reason = nullable(
  oneOf(activityReasons, {
    description: 'Why it changed as a side effect or by itself; null: a person or an agent changed it.',
  }),
)
const labelIds = (description: string) => Type.Array(uuid(), { description, maxItems: 1000, example: [] })

const changeBody = (title: string, description: string, properties: TProperties) =>
  described(title, description, { conversation_id: id, ...properties, actor: eventActor, reason, at })

const Assigned = changeBody(
  'ConversationAssignedEvent',
  '`conversation.assigned`: the conversation has another assignee, or none.',
  {
    assigned_to: nullable(uuid('The member who has it now; null: nobody.')),
    previous_assigned_to: nullable(uuid('The member who had it.')),
  },
)

const StatusChanged = changeBody(
  'ConversationStatusEvent',
  '`conversation.status_changed`: the status changed, or the end of a snooze.',
  {
    status,
    previous_status: status,
    snoozed_until: nullable(timestamp('When it opens again by itself; null unless it is snoozed.')),
  },
)

const Labelled = changeBody(
  'ConversationLabelledEvent',
  '`conversation.labelled`: labels were added or removed. A label that is deleted causes no event.',
  { added_label_ids: labelIds('Added labels.'), removed_label_ids: labelIds('Removed labels.') },
)

const NoteAdded = described(
  'NoteAddedEvent',
  '`conversation.note_added`: a member or an agent added an internal note.',
  {
    conversation_id: id,
    note: Type.Object({
      id: uuid('The note.'),
      text: Type.String({ maxLength: 10_000, description: 'Text, which customers never see.' }),
      mentions: Type.Array(uuid(), { description: 'Mentioned members.', maxItems: 1000, example: [] }),
    }),
    actor: eventActor,
    at,
  },
)

const TaskDue = described('TaskDueEvent', '`task.due`: the time of a task of the team has come.', {
  task: Type.Object({
    id: uuid('The task.'),
    title: Type.String({ maxLength: 1000, description: 'Title, as the team wrote it.' }),
    due_at: timestamp('When it was due.'),
    assignee: nullable(uuid('The member who does it; null: nobody yet.')),
  }),
  conversation_id: nullable(uuid('The conversation that it is about.')),
  lead_id: nullable(uuid('The lead that it is about.')),
})

const Rated = described(
  'ConversationRatedEvent',
  '`conversation.rated`: the customer answered how satisfied they are with a conversation.',
  {
    conversation_id: id,
    score: Type.Integer({ minimum: 1, maximum: 5, description: 'From 1 (worst) to `scale`.', example: 4 }),
    scale: Type.Integer({ minimum: 3, maximum: 5, description: 'The best score: 3 or 5.', example: 5 }),
    answered_by: eventActor,
    at,
  },
)

const noteId = '01985e2a-0000-7000-8000-000000000002'
const labelId = '01985e2a-0000-7000-8000-000000000007'
const leadId = '01985e2a-0000-7000-8000-000000000008'
const member = { type: 'user', id: userId } as const

/** Returns a sample of the event about an activity. */
const sampleOf =
  (detail: ActivityDetail, isByTimer = false): EventDefinition['sample'] =>
  (conversationId, time) => {
    const cause = isByTimer ? ({ actor: systemActor, reason: 'timer' } as const) : { actor: member, reason: null }
    const [event] = eventOfActivity({ conversation: { id: conversationId, connectionId }, detail }, cause, time)
    if (event === undefined) throw new Error('An event was expected')
    return event
  }

/** Documentation, schema, sample and masking of each. */
export const optInInboxEvents: Record<Exclude<OptInEventName, 'lead.merged'>, EventDefinition> = {
  'conversation.assigned': {
    guide: 'A conversation was assigned to another member, or to nobody.',
    schema: Assigned,
    sample: sampleOf({ kind: 'assignee', from: null, to: userId }),
    mask: withoutMasking,
  },
  'conversation.status_changed': {
    guide:
      'A conversation was resolved, snoozed or opened, also by itself when its customer wrote or its snooze ended.',
    schema: StatusChanged,
    sample: sampleOf({ kind: 'status', from: 'snoozed', to: 'open', snoozedUntil: null }, true),
    mask: withoutMasking,
  },
  'conversation.labelled': {
    guide: 'A conversation got labels, or lost some.',
    schema: Labelled,
    sample: sampleOf({ kind: 'labels', added: [labelId], removed: [] }),
    mask: withoutMasking,
  },
  'conversation.note_added': {
    guide: 'A member or an agent added an internal note to a conversation. The body contains its text.',
    schema: NoteAdded,
    sample: (conversationId, time) =>
      noteAdded(
        { id: conversationId, connectionId },
        { id: noteId, text: 'Prefers to be called after noon.', mentions: [], actor: member },
        time,
      ),
    mask: maskNoteAdded,
  },
  'task.due': {
    guide: 'A task of the team is due. The body contains its title and what it is about.',
    schema: TaskDue,
    sample: (conversationId, time) =>
      taskDue({
        ...{ id: noteId, title: 'Ask whether the delivery arrived', dueAt: time, assignee: userId, leadId },
        conversation: { id: conversationId, connectionId },
      }),
    mask: maskTaskDue,
  },
  'conversation.rated': {
    guide:
      'A customer rated a conversation after it was closed. The body contains the score and who had answered last.',
    schema: Rated,
    sample: (conversationId, time) =>
      conversationRated({ id: conversationId, connectionId }, { score: 4, scale: 5, answerer: member }, time),
    mask: withoutMasking,
  },
}
