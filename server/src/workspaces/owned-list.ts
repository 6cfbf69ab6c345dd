import { type Fragment, type Sql, type Tx, violates } from '../base/db.ts'
import { conflict, notFound } from '../base/errors.ts'
import { recordAudit } from '../team/audit.ts'
import type { Member } from '../team/member.ts'
import { lockWorkspace } from './workspace.ts'

/**
 * A list that a workspace keeps under names: everybody's, which admins write and everybody uses, or a member's own. What
 * holds for all of them is here.
 */
export interface OwnedList {
  /** What the audit log calls one: `label.created` of `label:<id>`. */
  item: string
  /** Its table, with `workspace_id` and `id`. */
  table(sql: Sql): Fragment
  /** The column that says whose one is, null for everybody's; without it all are everybody's. */
  owner?(sql: Sql): Fragment
  /** How many everybody has, and each member of their own. */
  most: number
  /** Says 409 when there are so many already. */
  isFull: string
  /** Says 404. */
  isMissing: string
  /** What may stand once, and how 409 says so. */
  unique?: { constraint: string; field: string; isTaken: string }
}

/** Who does something to which item, and when. */
interface ListChange {
  by: Member
  id: string
  now: Date
}

/** Writes a new item of an owner, unless there are too many already or its name is taken (409). */
export async function addItem<T>(
  tx: Tx,
  list: OwnedList,
  change: ListChange,
  insert: () => PromiseLike<T>,
  ownerId: string | null = null,
): Promise<T> {
  await refuseWhenFull(tx, list, change.by.workspaceId, ownerId)
  const added = await uniquely(list, insert)
  if (ownerId === null) await recordChange(tx, list, change, 'created')
  return added
}

/** Returns the item as `update` has written it; 404 when there is none, 409 when its new name is taken. */
export async function changeItem<T>(
  tx: Tx,
  list: OwnedList,
  change: ListChange,
  update: () => PromiseLike<readonly T[]>,
  isEverybodys = true,
): Promise<T> {
  const [changed] = await uniquely(list, update)
  if (changed === undefined) throw notFound(list.isMissing)
  if (isEverybodys) await recordChange(tx, list, change, 'changed')
  return changed
}

/** 404 when there is none. */
export async function deleteItem(tx: Tx, list: OwnedList, change: ListChange, isEverybodys = true): Promise<void> {
  const deleted = await tx`
    delete from ${list.table(tx)}
    where workspace_id = ${change.by.workspaceId}
      and id = ${change.id}`
  if (deleted.count === 0) throw notFound(list.isMissing)
  if (isEverybodys) await recordChange(tx, list, change, 'deleted')
}

/** The lock makes counting and adding one step: two at once cannot both take the last place. */
export async function refuseWhenFull(
  tx: Tx,
  list: OwnedList,
  workspaceId: string,
  ownerId: string | null,
): Promise<void> {
  await lockWorkspace(tx, workspaceId)
  const isOwners = list.owner === undefined ? tx`true` : tx`${list.owner(tx)} is not distinct from ${ownerId}::uuid`
  const [row] = await tx<{ count: number }[]>`
    select count(*) as count
    from ${list.table(tx)}
    where workspace_id = ${workspaceId}
      and ${isOwners}`
  if ((row?.count ?? 0) >= list.most) throw conflict(list.isFull)
}

async function uniquely<T>({ unique }: OwnedList, write: () => PromiseLike<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (unique === undefined || !violates(error, unique.constraint)) throw error
    throw conflict(unique.isTaken, { field: unique.field }, error)
  }
}

function recordChange(tx: Tx, { item }: OwnedList, { by, id, now }: ListChange, what: string): Promise<void> {
  const target = `${item}:${id.toLowerCase()}`
  return recordAudit(tx, { scopeId: by.workspaceId, actor: by.actor, action: `${item}.${what}`, target }, now)
}
