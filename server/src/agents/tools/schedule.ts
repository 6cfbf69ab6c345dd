import { type Static, Type } from 'typebox'
import { invalid } from '../../base/errors.ts'
import { nullable, oneOf, timestamp } from '../../base/route.ts'
import { text, uuid, visiblePattern } from '../../base/schema-types.ts'
import { parseFutureTime } from '../../base/time.ts'
import { textOf } from '../../inbox/drafts/draft.ts'
import { cancelScheduled, maxAheadMs, scheduleMessage } from '../../inbox/scheduled/schedule.ts'
import { type ScheduledMessage, scheduledStatuses } from '../../inbox/scheduled/scheduled-message.ts'
import { TemplateToStart } from '../../inbox/send/send-schema.ts'
import { defineTool, idempotentChange, input, output } from '../define-tool.ts'
import { waitForWork } from '../presenters/conversation.ts'
import { exampleIds } from '../presenters/examples.ts'
import { presentText } from '../presenters/notes-and-handovers.ts'
import { type AgentViewerContext, actorOf, readViewerContext, scopeOf } from '../presenters/viewer.ts'
import { explainOwnership } from './answer.ts'

export const AgentScheduled = Type.Object(
  {
    id: uuid('The scheduled message.'),
    status: oneOf(scheduledStatuses, {
      description:
        '`drafted`: a person must approve it. `held`: nothing was sent, see `reason`. `failed`: it was not delivered.',
    }),
    at: timestamp('When it is sent.'),
    text: nullable(text(16_384, 'Its text; null: a template.')),
    reason: nullable(text(100, 'Why it was not sent: an error code, or CUSTOMER_WROTE.')),
    message_id: nullable(uuid('The message that it became.')),
  },
  { title: 'AgentScheduledMessage' },
)

export function presentScheduled(one: ScheduledMessage, viewer: AgentViewerContext): Static<typeof AgentScheduled> {
  const { id, status, dueAt, body, reason, messageId } = one
  const words = textOf(body)
  return {
    ...{ id, status, reason },
    at: dueAt.toISOString(),
    text: words === null ? null : presentText(words, viewer),
    message_id: messageId,
  }
}

const example = {
  id: exampleIds.message,
  status: 'scheduled' as const,
  at: '2026-03-02T09:00:00.000Z',
  text: 'Did everything arrive?',
  reason: null,
  message_id: null,
}

export const scheduleLater = defineTool({
  name: 'schedule_message',
  title: 'Schedule',
  description:
    'Sends a text or template later in a conversation of yours, if it can be sent then: see `scheduled` of read_conversation.',
  scopes: ['inbox.write'],
  http: { method: 'POST', path: '/conversations/:conversation_id/scheduled' },
  brief: ['template'],
  input: input({
    conversation_id: uuid(),
    at: timestamp('With offset, within 30 days.'),
    text: Type.Optional(Type.String({ minLength: 1, maxLength: 16_384, pattern: visiblePattern })),
    template: Type.Optional(TemplateToStart),
    cancel_if_customer_writes: Type.Optional(Type.Boolean({ description: 'Default true.' })),
  }),
  output: output('MessageScheduled', {
    scheduled: AgentScheduled,
    was_new: Type.Boolean({ description: 'False: it was scheduled before.' }),
  }),
  hints: { isReadOnly: false, isDestructive: true, isIdempotent: true },
  example: {
    input: { conversation_id: exampleIds.conversation, at: '2026-03-02T09:00:00Z', text: 'Did everything arrive?' },
    output: { scheduled: example, was_new: true, next: ['Call wait_for_work for the next customer.'] },
  },
  run: async (
    deps,
    caller,
    { conversation_id, at, text: words, template, cancel_if_customer_writes: cancels = true },
  ) => {
    const conversationId = conversation_id.toLowerCase()
    if ((words === undefined) === (template === undefined)) throw invalid('text', 'or template is required, not both')
    const now = deps.inbox.clock.now()
    const dueAt = parseFutureTime(at, 'at', now)
    if (dueAt.getTime() > now.getTime() + maxAheadMs) throw invalid('at', 'must be within 30 days')
    const body = words === undefined ? { kind: 'template', template } : { kind: 'text', text: words }
    const message = { conversationId, body, dueAt, cancelIfCustomerWrites: cancels }
    const scheduler = { ...scopeOf(caller), actor: actorOf(caller) }
    const { scheduled, isNew } = await scheduleMessage(deps.inbox, scheduler, message).catch((error) =>
      explainOwnership(deps, caller, conversationId, error),
    )
    const viewer = await readViewerContext(deps, caller)
    return { scheduled: presentScheduled(scheduled, viewer), was_new: isNew, next: [waitForWork] }
  },
})

export const cancelLater = defineTool({
  name: 'cancel_scheduled',
  title: 'Cancel scheduled',
  description: 'Cancels a message of yours.',
  scopes: ['inbox.write'],
  http: { method: 'POST', path: '/conversations/:conversation_id/scheduled/:scheduled_id/cancel' },
  input: input({ conversation_id: uuid(), scheduled_id: uuid() }),
  output: output('ScheduledCancelled', { scheduled: AgentScheduled }),
  hints: idempotentChange,
  example: {
    input: { conversation_id: exampleIds.conversation, scheduled_id: exampleIds.message },
    output: {
      scheduled: { ...example, status: 'cancelled' },
      next: ['Call wait_for_work for the next customer.'],
    },
  },
  run: async (deps, caller, { conversation_id, scheduled_id }) => {
    const named = { conversationId: conversation_id.toLowerCase(), id: scheduled_id.toLowerCase() }
    const scheduler = { ...scopeOf(caller), actor: actorOf(caller) }
    const scheduled = await cancelScheduled(deps.inbox, scheduler, named)
    return { scheduled: presentScheduled(scheduled, await readViewerContext(deps, caller)), next: [waitForWork] }
  },
})

export const addTask = defineTool({
  name: 'create_task',
  title: 'Create a task',
  description: 'Creates a task for people.',
  scopes: ['inbox.write'],
  http: { method: 'POST', path: '/conversations/:conversation_id/tasks' },
  input: input({
    conversation_id: uuid(),
    title: Type.String({ minLength: 1, maxLength: 300, pattern: visiblePattern }),
    due_at: timestamp('With offset.'),
    assigned_to: Type.Optional(uuid('Member, from list_people. Default: the team.')),
  }),
  output: output('TaskCreated', {
    task_id: uuid('The task.'),
    was_new: Type.Boolean({ description: 'False: it existed already.' }),
  }),
  hints: { isReadOnly: false, isDestructive: false, isIdempotent: true },
  example: {
    input: { conversation_id: exampleIds.conversation, title: 'Call about the quote', due_at: '2026-03-02T09:00:00Z' },
    output: { task_id: exampleIds.message, was_new: true, next: ['Call wait_for_work for the next customer.'] },
  },
  run: async (deps, caller, { conversation_id, title, due_at, assigned_to }) => {
    const { task, isNew } = await deps.createTask(
      { ...scopeOf(caller), actor: actorOf(caller) },
      {
        title: title.trim(),
        dueAt: parseFutureTime(due_at, 'due_at', deps.inbox.clock.now()),
        conversationId: conversation_id.toLowerCase(),
        leadId: null,
        assignedTo: assigned_to?.toLowerCase() ?? null,
      },
    )
    return { task_id: task.id, was_new: isNew, next: [waitForWork] }
  },
})
