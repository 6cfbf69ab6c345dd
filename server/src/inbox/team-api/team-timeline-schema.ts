import { type Static, Type } from 'typebox'
import { nullable, oneOf, timestamp } from '../../base/route.ts'
import { cursor, text, unpaged, uuid } from '../../base/schema-types.ts'
import { closed, idSchema } from '../../team/team-schema.ts'
import { activityReasons } from '../conversation/activity.ts'
import { maxReason, maxSummary, namedActor, TeamMessage, TeamNote, urgency } from './team-schema.ts'

const name = (description: string, example: string) => nullable(text(100, description, { example }))
const labels = (description: string) => Type.Array(uuid(), { ...unpaged, description, example: [] })

export const TeamActivity = Type.Object(
  {
    id: idSchema('The activity.'),
    kind: oneOf(['owner', 'status', 'assignee', 'labels'] as const, { description: 'What changed.' }),
    from: name('An owner as `human` or `agent:<api_key_id>`, a status, a member; null: nobody.', 'human'),
    fromName: name('The name of the agent or member that this was.', 'Sales agent'),
    to: name('The same as it is from then on.', 'agent:01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'),
    toName: name('The name of the agent or member that this is.', 'Ana Lima'),
    snoozedUntil: nullable(timestamp('With the status `snoozed`: when a timer opens it.')),
    added: labels('Labels that it got.'),
    removed: labels('Labels that it lost.'),
    reason: Type.Unsafe<(typeof activityReasons)[number] | null>({
      type: ['string', 'null'],
      enum: [...activityReasons, null],
      description:
        '`began`: a new conversation. `customer_wrote`. `sent`: by sending. `phone`: by a message from the phone. `timer`: the snooze ended. `watchdog`: the agent did not answer in time. `agents_stopped`: the stop switch. `key_ended`: the key was revoked or expired. `merged`: two conversations turned out to be of one customer, and people had one of them. Null: somebody wished it.',
      example: null,
    }),
    actor: namedActor,
    createdAt: timestamp('When it happened.'),
  },
  { title: 'TeamActivity', description: 'A line of the thread between the messages.' },
)

export const TeamHandover = Type.Object(
  {
    id: idSchema('The hand-over.'),
    from: text(42, 'Who had it: `human` or `agent:<api_key_id>`.', {
      example: 'agent:01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e',
    }),
    fromName: name('The name of that agent; null for people.', 'Sales agent'),
    to: oneOf(['people', 'agent', 'agents'] as const, { description: '`agents`: whichever takes it.' }),
    toId: nullable(uuid('The member or the key that it is for; null: any.')),
    toName: name('Who that is.', 'Ana Lima'),
    urgency: urgency,
    summary: text(maxSummary, 'What has happened.', { example: 'Wants the money back for order 1042.' }),
    reason: nullable(text(maxReason, 'Why it is handed on.', { example: 'Refunds need a person.' })),
    nextStep: nullable(text(maxReason, 'What is to be done.', { example: 'Check the payment.' })),
    actor: namedActor,
    createdAt: timestamp('When it was handed on.'),
  },
  { title: 'TeamHandover', description: 'What was said to whoever goes on with the conversation.' },
)

export const TimelineItem = Type.Object(
  {
    type: oneOf(['message', 'note', 'activity', 'handover'] as const, { description: 'Which of them it holds.' }),
    id: idSchema('Of the message, note, activity or hand-over.'),
    at: timestamp('Its place in time.'),
    message: Type.Optional(TeamMessage),
    note: Type.Optional(TeamNote),
    activity: Type.Optional(TeamActivity),
    handover: Type.Optional(TeamHandover),
  },
  { title: 'TimelineItem' },
)

const cursorOrNull = (description: string) => Type.Union([cursor(description), Type.Null()])

export const Timeline = Type.Object({
  items: Type.Array(TimelineItem, { maxItems: 200, description: 'Oldest first.' }),
  older: cursorOrNull('For `before`; null where it begins.'),
  newer: cursorOrNull('For `after`; null at its end.'),
  firstUnreadId: nullable(idSchema('The oldest unread message.')),
})

export const TimelineQuery = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
    before: Type.Optional(cursor('The `older` of a page.')),
    after: Type.Optional(cursor('The `newer` of a page.')),
    around: Type.Optional(
      oneOf(['unread'] as const, { description: 'Around the first unread message; the newest when all is read.' }),
    ),
    aroundMessage: Type.Optional(
      uuid('Around a message of this conversation, as one that another quotes, or around a note.'),
    ),
  },
  closed,
)
export type TimelineQuery = Static<typeof TimelineQuery>
