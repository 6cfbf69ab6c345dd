import { type Fragment, type Sql, type Tx, violates } from '../base/db.ts'
import { conflict, notFound } from '../base/errors.ts'
import { withColumnNames } from '../base/postgres/rows.ts'
import type { Value } from '../base/postgres/values.ts'
import { recordAudit, workspaceEntry } from '../team/audit.ts'
import type { Member } from '../team/member.ts'
import { lockWorkspace } from './workspace.ts'

/** A list of named items in a workspace: shared ones, which admins edit and everybody uses, or a member's own. */
export interface OwnedList {
  /** Name of an item in the audit log: `label.created` of `label:<id>`. */
  item: string
  /** The table, with columns `workspace_id` and `id`. */
  table(sql: Sql): Fragment
  /** The column of the owner, null for shared items. Without it all items are shared. */
  owner?(sql: Sql): Fragment
  /** Maximum number of shared items, and of items of each member. */
  maxItems: number
  /** Message of the 409 for a full list. */
  fullMessage: string
  /** Message of the 404. */
  notFoundMessage: string
  /** A unique field, and the message of the 409 for a duplicate. */
  unique?: { constraint: string; field: string; takenMessage: string }
}

/** The author, item and time of a change. */
interface ListChange {
  by: Member
  id: string
  now: Date
}

type ItemValues = Readonly<Record<string, Value>>

/** Adds an item, the values of its columns, for an owner. Throws 409 if the list is full or the name is taken. */
export async function addItem(
  tx: Tx,
  list: OwnedList,
  { by, now }: Pick<ListChange, 'by' | 'now'>,
  item: ItemValues & { id: string },
  ownerId: string | null = null,
): Promise<void> {
  const { workspaceId } = by
  await refuseIfFull(tx, list, workspaceId, ownerId)
  const columns = withColumnNames({ ...item, workspaceId })
  await withUniqueCheck(list, () => tx`insert into ${list.table(tx)} ${tx.row(columns)}`)
  if (ownerId === null) await recordChange(tx, list, { by, id: item.id, now }, 'created')
}

/** Changes these values of an item and returns columns of it. Throws 404 for an unknown one, 409 if a name is taken. */
export async function changeItem<T>(
  tx: Tx,
  list: OwnedList,
  change: ListChange,
  values: ItemValues,
  returned: Fragment,
  isShared = true,
): Promise<T> {
  // With the id, in case nothing else changes.
  const columns = withColumnNames({ ...values, id: change.id })
  const [changed] = await withUniqueCheck(
    list,
    () => tx<T[]>`
      update ${list.table(tx)}
      set ${tx.set(columns)}
      where workspace_id = ${change.by.workspaceId}
        and id = ${change.id}
      returning ${returned}`,
  )
  if (changed === undefined) throw notFound(list.notFoundMessage)
  if (isShared) await recordChange(tx, list, change, 'changed')
  return changed
}

/** Deletes an item. Throws 404 if it does not exist. */
export async function deleteItem(tx: Tx, list: OwnedList, change: ListChange, isShared = true): Promise<void> {
  const deleted = await tx`
    delete from ${list.table(tx)}
    where workspace_id = ${change.by.workspaceId}
      and id = ${change.id}`
  if (deleted.count === 0) throw notFound(list.notFoundMessage)
  if (isShared) await recordChange(tx, list, change, 'deleted')
}

/** Throws 409 if the list is full. The lock prevents two concurrent additions from exceeding the maximum. */
export async function refuseIfFull(
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
  if ((row?.count ?? 0) >= list.maxItems) throw conflict(list.fullMessage)
}

async function withUniqueCheck<T>({ unique }: OwnedList, write: () => PromiseLike<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (unique === undefined || !violates(error, unique.constraint)) throw error
    throw conflict(unique.takenMessage, { field: unique.field }, error)
  }
}

function recordChange(tx: Tx, { item }: OwnedList, { by, id, now }: ListChange, what: string): Promise<void> {
  return recordAudit(tx, workspaceEntry(by, `${item}.${what}`, `${item}:${id.toLowerCase()}`), now)
}
