import { type Static, Type } from 'typebox'
import type { Sql, Tx } from '../base/db.ts'
import { newId } from '../base/id.ts'
import { selectedAs } from '../base/postgres/rows.ts'
import { type App, oneOf, timestamp, titled } from '../base/route.ts'
import { visiblePattern } from '../base/schema-types.ts'
import { withIsoTimes } from '../base/time.ts'
import type { Member, TeamGuard } from '../team/member.ts'
import { teamApi } from '../team/team-api.ts'
import { closed, idSchema, workspaceParams } from '../team/team-schema.ts'
import type { WorkspaceDeps } from './change.ts'
import { addItem, changeItem, deleteItem, type OwnedList } from './owned-list.ts'

const labelColors = ['grey', 'red', 'orange', 'amber', 'green', 'teal', 'blue', 'indigo', 'violet', 'pink'] as const
export type LabelColor = (typeof labelColors)[number]

const labels: OwnedList = {
  item: 'label',
  table: (sql) => sql`labels`,
  maxItems: 200,
  fullMessage: 'A workspace has at most 200 labels. Delete one first.',
  notFoundMessage: 'Label not found',
  unique: { constraint: 'labels_name_key', field: 'name', takenMessage: 'A label with this name already exists' },
}

interface Label {
  id: string
  name: string
  color: LabelColor
  createdAt: Date
}

const columns = selectedAs('labels', ['id', 'name', 'color', 'createdAt'])

export async function listLabels(sql: Sql, workspaceId: string): Promise<Label[]> {
  return sql<Label[]>`
    select ${columns}
    from labels
    where workspace_id = ${workspaceId}
    order by lower(name)`
}

/** Returns the ids that are labels of the workspace. They cannot be deleted before the transaction ends. */
export async function findLabels(tx: Tx, workspaceId: string, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const rows = await tx<{ id: string }[]>`
    select id
    from labels
    where workspace_id = ${workspaceId}
      and id = any (${[...ids]}::uuid[])
    order by id
    for key share`
  return new Set(rows.map(({ id }) => id))
}

/** Creates a label. A workspace has at most 200, with case-insensitively unique names (409). */
export async function createLabel(
  deps: WorkspaceDeps,
  by: Member,
  { name, color }: Static<typeof labelFields>,
): Promise<Label> {
  const now = deps.clock.now()
  const label = { id: newId(now), name: name.trim(), color, createdAt: now }
  await deps.db.tx((tx) => addItem(tx, labels, { by, now }, label))
  return label
}

function changeLabel(
  deps: WorkspaceDeps,
  by: Member,
  labelId: string,
  patch: Partial<Static<typeof labelFields>>,
): Promise<Label> {
  const values = { ...patch, ...(patch.name !== undefined && { name: patch.name.trim() }) }
  const change = { by, id: labelId, now: deps.clock.now() }
  return deps.db.tx((tx) => changeItem<Label>(tx, labels, change, values, columns))
}

async function deleteLabel(deps: WorkspaceDeps, by: Member, labelId: string): Promise<void> {
  await deps.db.tx(async (tx) => {
    await deleteItem(tx, labels, { by, id: labelId, now: deps.clock.now() })
    await deps.labelDeleted?.(tx, by.workspaceId, labelId.toLowerCase())
  })
}

const labelName = Type.String({
  minLength: 1,
  maxLength: 50,
  pattern: visiblePattern,
  description: 'Unique in the workspace, ignoring case.',
  example: 'VIP',
})
const labelColor = oneOf(labelColors, { title: 'LabelColor', description: 'Color of the dot.', example: 'violet' })

const labelSchema = titled('Label', {
  id: idSchema('The label.'),
  name: labelName,
  color: labelColor,
  createdAt: timestamp('Creation time.'),
})

const labelFields = Type.Object({ name: labelName, color: labelColor }, closed)

const path = '/api/team/v1/workspaces/:workspaceId/labels'
const labelParams = Type.Object({ ...workspaceParams, labelId: idSchema('The label.') })
const oneLabel = Type.Object({ label: labelSchema })

export function labelTeamRoutes(app: App, deps: WorkspaceDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Labels')
  api.get(path, 'member', {
    operationId: 'listLabels',
    summary: 'List labels',
    description: 'Returns all labels, sorted by name.',
    answers: { 200: Type.Object({ labels: Type.Array(labelSchema, { maxItems: 200 }) }) },
    allErrors: [400, 401, 404],
    run: async ({ member }) => ({ labels: (await listLabels(deps.db.sql, member.workspaceId)).map(withIsoTimes) }),
  })
  api.post(path, 'admin', {
    operationId: 'createLabel',
    summary: 'Create a label',
    description: 'For admins. A workspace has at most 200.',
    body: labelFields,
    answers: { 201: oneLabel },
    errors: [409],
    run: async ({ member, body }) => ({ label: withIsoTimes(await createLabel(deps, member, body)) }),
  })
  api.patch(`${path}/:labelId`, 'admin', {
    operationId: 'updateLabel',
    summary: 'Rename a label or change its color',
    description: 'For admins.',
    params: labelParams,
    body: Type.Partial(labelFields, { ...closed, minProperties: 1 }),
    answers: { 200: oneLabel },
    errors: [409],
    run: async ({ member, params, body }) => ({
      label: withIsoTimes(await changeLabel(deps, member, params.labelId, body)),
    }),
  })
  api.delete(`${path}/:labelId`, 'admin', {
    operationId: 'deleteLabel',
    summary: 'Delete a label',
    description: 'For admins. Removes it from all conversations.',
    params: labelParams,
    run: ({ member, params }) => deleteLabel(deps, member, params.labelId),
  })
}
