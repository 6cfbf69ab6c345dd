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
    '`collecting` while the leads that match the filter are recorded; `running`; then `done`, `cancelled` or `failed`, each of which can be undone until `undoUntil`; `undoing`; `undone`.',
})

export const FieldsToSet = Type.Pick(LeadChanges, ['status', 'priority', 'source', 'assignedTo'], {
  title: 'FieldsToSet',
  ...closed,
  minProperties: 1,
  description: 'Fields to set on every lead; null as `assignedTo` unassigns.',
})

export type BulkFields = Static<typeof FieldsToSet>

const LabelsToChange = Type.Object(
  {
    addLabelIds: Type.Optional(labelIds('Labels to add. A lead has at most 20.')),
    removeLabelIds: Type.Optional(labelIds('Labels to remove.')),
  },
  {
    title: 'LabelsToChange',
    ...closed,
    minProperties: 1,
    description: 'Labels to add to or remove from every lead.',
  },
)

export type BulkLabels = Static<typeof LabelsToChange>

/** The sequence that a bulk change starts. */
export interface BulkSequence {
  sequenceId: string
}

export const BulkChange = Type.Object(
  {
    id: idSchema('The bulk change.'),
    kind: oneOf(['change', 'labels', 'delete', 'sequence'], { description: 'Kind of change.' }),
    changes: Type.Unsafe<Static<typeof FieldsToSet> | null>({
      type: ['object', 'null'],
      description: 'The fields set, with their values; null for other kinds.',
    }),
    labels: Type.Unsafe<Static<typeof LabelsToChange> | null>({
      type: ['object', 'null'],
      description: 'The labels added and removed; null for other kinds.',
    }),
    sequenceId: nullable(idSchema('The sequence that was started; null for other kinds.')),
    state,
    total: count('Number of selected leads.'),
    changed: count('Number of leads changed, deleted or added.'),
    unchanged: count('Number of leads that already had the values, or are in the sequence.'),
    failed: count('Number of leads that no longer exist, would have more than 20 labels, or cannot be added.'),
    undone: count('For an undo: number of leads reverted.'),
    kept: count('For an undo: number of leads left as they are because they were changed since.'),
    startedBy: Type.Object({ type: oneOf(['user', 'token']), id: uuid('Id of the user or token.') }),
    createdAt: timestamp('When it was started.'),
    endedAt: nullable(timestamp('When it ended.')),
    undoUntil: nullable(timestamp('Until when it can be undone; null if it cannot.')),
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
        description: 'At most 10,000 leads. A repeated id counts once.',
      }),
    ),
    filter: Type.Optional(
      Type.Object(listFilters, {
        ...closed,
        description:
          'Instead of `ids`: all leads that match these filters when the change is started, at most 1,000,000.',
      }),
    ),
    changes: Type.Optional(FieldsToSet),
    labels: Type.Optional(LabelsToChange),
    sequenceId: Type.Optional(idSchema('A sequence to start for every lead. An undo stops it for them.')),
    delete: Type.Optional(Type.Literal(true, { description: 'Deletes the leads; they can be restored for 30 days.' })),
  },
  { ...closed, example: { ids: ['01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'], changes: { status: 'qualified' } } },
)

export const bulkChangeParams = Type.Object({ ...workspaceParams, changeId: idSchema('The bulk change.') })
