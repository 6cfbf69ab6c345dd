import type { Sql, Tx } from '../base/db.ts'
import { newId } from '../base/id.ts'
import type { Member } from '../team/member.ts'
import type { WorkspaceDeps } from './create.ts'
import { addItem, changeItem, deleteItem, type OwnedList } from './owned-list.ts'

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

const labels: OwnedList = {
  item: 'label',
  table: (sql) => sql`labels`,
  most: 200,
  isFull: 'A workspace has at most 200 labels. Delete one first.',
  isMissing: 'Label not found',
  unique: { constraint: 'labels_name_key', field: 'name', isTaken: 'A label with this name already exists' },
}

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

/** Those of the ids that are labels of the workspace. No one takes them away before the transaction ends. */
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

/** At most 200 a workspace, each name once whatever its case (409). */
export async function createLabel(
  deps: WorkspaceDeps,
  by: Member,
  { name, color }: { name: string; color: LabelColor },
): Promise<LabelRow> {
  const now = deps.clock.now()
  const label: LabelRow = { id: newId(now), name: name.trim(), color, created_at: now }
  await deps.db.tx((tx) =>
    addItem(
      tx,
      labels,
      { by, id: label.id, now },
      () => tx`
        insert into labels (workspace_id, id, name, color, created_at)
        values (${by.workspaceId}, ${label.id}, ${label.name}, ${color}, ${now})`,
    ),
  )
  return label
}

export async function changeLabel(
  deps: WorkspaceDeps,
  by: Member,
  labelId: string,
  patch: { name?: string; color?: LabelColor },
): Promise<LabelRow> {
  return deps.db.tx((tx) =>
    changeItem(
      tx,
      labels,
      { by, id: labelId, now: deps.clock.now() },
      () => tx<LabelRow[]>`
        update labels
        set name = coalesce(${patch.name?.trim() ?? null}::text, name),
          color = coalesce(${patch.color ?? null}::text, color)
        where workspace_id = ${by.workspaceId}
          and id = ${labelId}
        returning id, name, color, created_at`,
    ),
  )
}

export async function deleteLabel(deps: WorkspaceDeps, by: Member, labelId: string): Promise<void> {
  await deps.db.tx(async (tx) => {
    await deleteItem(tx, labels, { by, id: labelId, now: deps.clock.now() })
    await deps.labelDeleted?.(tx, by.workspaceId, labelId.toLowerCase())
  })
}
