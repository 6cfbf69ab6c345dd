import { type Static, Type } from 'typebox'
import { nullable, oneOf, timestamp } from '../../base/route.ts'
import { count, uuid } from '../../base/schema-types.ts'
import { closed, idSchema, workspaceParams } from '../../team/team-schema.ts'
import { LeadChanges, labelIds } from '../lead/schema.ts'
import { listFilters } from '../search/list-request.ts'

const bulkStates = ['collecting', 'running', 'done', 'cancelled', 'failed', 'undoing', 'undone'] as const
export type BulkState = (typeof bulkStates)[number]

const maxBulkLeads = 10_000

const state = oneOf(bulkStates, {
  title: 'BulkState',
  description:
    '`collecting`, while the leads that a filter shows are noted; `running`; then `done`, `cancelled` or `failed`, each of which can be undone until `undoUntil`; `undoing`; `undone`.',
})

export const FieldsToSet = Type.Pick(LeadChanges, ['status', 'priority', 'source', 'assignedTo'], {
  title: 'FieldsToSet',
  ...closed,
  minProperties: 1,
  description: 'Fields to set on every one of them; null takes them from whom they are assigned to.',
})

export type BulkFields = Static<typeof FieldsToSet>

const LabelsToChange = Type.Object(
  {
    addLabelIds: Type.Optional(labelIds('Labels that they get beside those that they have, 20 each at most.')),
    removeLabelIds: Type.Optional(labelIds('Labels that they lose.')),
  },
  {
    title: 'LabelsToChange',
    ...closed,
    minProperties: 1,
    description: 'Labels to give to every one of them, or take off.',
  },
)

export type BulkLabels = Static<typeof LabelsToChange>

export const BulkChange = Type.Object(
  {
    id: idSchema('The bulk change.'),
    kind: oneOf(['change', 'labels', 'delete'], { description: 'What is done to the leads.' }),
    changes: Type.Unsafe<Static<typeof FieldsToSet> | null>({
      type: ['object', 'null'],
      description: 'The fields that are set, with their values; null when something else is done.',
    }),
    labels: Type.Unsafe<Static<typeof LabelsToChange> | null>({
      type: ['object', 'null'],
      description: 'The labels that leads get and lose; null when something else is done.',
    }),
    state,
    total: count('How many leads were selected.'),
    changed: count('How many are changed, or deleted.'),
    unchanged: count('How many were so already.'),
    failed: count('How many could not be: they are not there any more, or would have more than 20 labels.'),
    undone: count('Of an undo: how many have back what they had.'),
    kept: count('Of an undo: how many were left as they are, since somebody changed them in between.'),
    startedBy: Type.Object({ type: oneOf(['user', 'token']), id: uuid('Of the user or token.') }),
    createdAt: timestamp('When it was begun.'),
    endedAt: nullable(timestamp('When it ended.')),
    undoUntil: nullable(timestamp('Until when it can be undone; null when it cannot be.')),
  },
  { title: 'LeadBulkChange' },
)
export const OneBulkChange = Type.Object({ bulkChange: BulkChange })

export const NewBulkChange = Type.Object(
  {
    ids: Type.Optional(
      Type.Array(idSchema('A lead.'), {
        minItems: 1,
        maxItems: maxBulkLeads,
        description: 'At most 10,000 leads; one that is named again counts once.',
      }),
    ),
    filter: Type.Optional(
      Type.Object(listFilters, {
        ...closed,
        description:
          'In place of `ids`: all leads that the list shows with these filters when the change is begun, 1,000,000 at most.',
      }),
    ),
    changes: Type.Optional(FieldsToSet),
    labels: Type.Optional(LabelsToChange),
    delete: Type.Optional(Type.Literal(true, { description: 'Deletes them, restorable for 30 days.' })),
  },
  { ...closed, example: { ids: ['01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'], changes: { status: 'qualified' } } },
)

export const bulkChangeParams = Type.Object({ ...workspaceParams, changeId: idSchema('The bulk change.') })
