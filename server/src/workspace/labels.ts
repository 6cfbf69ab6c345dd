import { type Sql, type Tx, violates } from '../base/db.ts'
import { type ApiError, conflict, notFound } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import { recordAudit } from '../team/audit.ts'
import type { Member } from '../team/member.ts'
import type { WorkspaceDeps } from './create.ts'
import { lockWorkspace } from './workspace.ts'

export const labelColors = [
  'grey',
  'red',
  'orange',
  'amber',
  'green',
  'teal',
  'blue',
  'indigo',
  'violet',
  'pink',
] as const
export type LabelColor = (typeof labelColors)[number]

const maxLabels = 200

export interface LabelRow {
  id: string
  name: string
  color: LabelColor
  created_at: Date
}

export async function listLabels(sql: Sql, workspaceId: string): Promise<LabelRow[]> {
  return sql<LabelRow[]>`
    select id, name, color, created_at
    from labels
    where workspace_id = ${workspaceId}
    order by lower(name)`
}

/** At most 200 a workspace, each name once whatever its case (409). */
export async function createLabel(
  deps: WorkspaceDeps,
  by: Member,
  { name, color }: { name: string; color: LabelColor },
): Promise<LabelRow> {
  return deps.db.tx(async (tx) => {
    const now = deps.clock.now()
    await refuseTooMany(tx, by.workspaceId)
    const label: LabelRow = { id: newId(now), name: name.trim(), color, created_at: now }
    await insertLabel(tx, by.workspaceId, label)
    await recordChange(tx, by, 'label.created', label.id, now)
    return label
  })
}

export async function changeLabel(
  deps: WorkspaceDeps,
  by: Member,
  labelId: string,
  patch: { name?: string; color?: LabelColor },
): Promise<LabelRow> {
  return deps.db.tx(async (tx) => {
    const label = await updateLabel(tx, by.workspaceId, labelId, patch.name?.trim() ?? null, patch.color ?? null)
    if (label === undefined) throw labelNotFound()
    await recordChange(tx, by, 'label.changed', labelId, deps.clock.now())
    return label
  })
}

export async function deleteLabel(deps: WorkspaceDeps, by: Member, labelId: string): Promise<void> {
  await deps.db.tx(async (tx) => {
    const deleted = await tx`
      delete from labels
      where workspace_id = ${by.workspaceId}
        and id = ${labelId}`
    if (deleted.count === 0) throw labelNotFound()
    await deps.labelDeleted?.(tx, by.workspaceId, labelId.toLowerCase())
    await recordChange(tx, by, 'label.deleted', labelId, deps.clock.now())
  })
}

// The lock makes counting and adding one step: two at once cannot both take the last place.
async function refuseTooMany(tx: Tx, workspaceId: string): Promise<void> {
  await lockWorkspace(tx, workspaceId)
  const [row] = await tx<{ count: number }[]>`
    select count(*) as count
    from labels
    where workspace_id = ${workspaceId}`
  if ((row?.count ?? 0) >= maxLabels) throw conflict(`A workspace has at most ${maxLabels} labels. Delete one first.`)
}

async function insertLabel(tx: Tx, workspaceId: string, label: LabelRow): Promise<void> {
  try {
    await tx`
      insert into labels (workspace_id, id, name, color, created_at)
      values (${workspaceId}, ${label.id}, ${label.name}, ${label.color}, ${label.created_at})`
  } catch (error) {
    throw violates(error, 'labels_name_key') ? nameTaken(error) : error
  }
}

async function updateLabel(
  tx: Tx,
  workspaceId: string,
  labelId: string,
  name: string | null,
  color: LabelColor | null,
): Promise<LabelRow | undefined> {
  try {
    const [row] = await tx<LabelRow[]>`
      update labels
      set name = coalesce(${name}::text, name),
        color = coalesce(${color}::text, color)
      where workspace_id = ${workspaceId}
        and id = ${labelId}
      returning id, name, color, created_at`
    return row
  } catch (error) {
    throw violates(error, 'labels_name_key') ? nameTaken(error) : error
  }
}

function recordChange(tx: Tx, by: Member, action: string, labelId: string, now: Date): Promise<void> {
  return recordAudit(tx, { scopeId: by.workspaceId, actor: by.actor, action, target: `label:${labelId}` }, now)
}

const labelNotFound = (): ApiError => notFound('Label not found')

const nameTaken = (cause: unknown): ApiError =>
  conflict('A label with this name already exists', { field: 'name' }, cause)
