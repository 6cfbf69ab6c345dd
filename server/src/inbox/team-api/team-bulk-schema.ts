import { type Static, Type } from 'typebox'
import { nullable, timestamp, titled } from '../../base/route.ts'
import { count, uuid } from '../../base/schema-types.ts'
import { closed, idSchema } from '../../team/team-schema.ts'
import { maxAtOnce } from '../bulk/change-many.ts'
import { statusToSet, TeamConversation } from './team-schema.ts'

const labels = (description: string) => Type.Array(uuid(), { maxItems: 20, description, example: [] })
const batchId = uuid('Made by the caller: requests of one selection share it, and are one line of the audit log.')

export const ManyChanges = Type.Partial(
  Type.Object({
    status: statusToSet,
    snoozedUntil: nullable(
      timestamp('With the status `snoozed`: when a timer opens them. Null: when the customer writes.'),
    ),
    assignedTo: nullable(idSchema('A member of the workspace; null for nobody.')),
    addLabelIds: labels('Labels that they get beside those that they have.'),
    removeLabelIds: labels('Labels that they lose.'),
    read: Type.Boolean({ description: 'True: read. False: unread from the newest customer message on.' }),
  }),
  {
    ...closed,
    minProperties: 1,
    title: 'ManyChanges',
    description: 'What is to become of each of them.',
    example: { status: 'resolved' },
  },
)
export type ManyChanges = Static<typeof ManyChanges>

export const FormerConversation = titled('FormerConversation', {
  id: idSchema('The conversation.'),
  status: statusToSet,
  snoozedUntil: nullable(timestamp('When a timer was to open it.')),
  assignedTo: nullable(idSchema('The member it was assigned to.')),
  held: Type.Boolean({ description: 'People had it.' }),
  unreadCount: count('Customer messages that were unread.', { example: 1 }),
  added: labels('Labels that the change gave it.'),
  removed: labels('Labels that the change took from it.'),
})

export type FormerConversation = Static<typeof FormerConversation>

const former = Type.Array(FormerConversation, {
  maxItems: maxAtOnce,
  description: 'Those that changed, as they were: what an undo takes.',
})
const conversations = Type.Array(TeamConversation, {
  maxItems: maxAtOnce,
  description: 'All that are there, as they are now.',
})

export const ChangeOfMany = Type.Object(
  {
    batchId,
    ids: Type.Array(idSchema('A conversation.'), { minItems: 1, maxItems: maxAtOnce }),
    changes: ManyChanges,
  },
  closed,
)

export const ManyChanged = Type.Object({ conversations, former })

export const UndoOfMany = Type.Object(
  { batchId, changes: ManyChanges, former: Type.Array(FormerConversation, { minItems: 1, maxItems: maxAtOnce }) },
  closed,
)

export const ManyUndone = Type.Object({
  conversations,
  left: count('How many are not wholly as before: somebody changed them since, or they are gone.', { example: 0 }),
})
