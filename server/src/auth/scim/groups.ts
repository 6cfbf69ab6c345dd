import type { Sql } from '../../base/db.ts'
import { isUuid, newId } from '../../base/id.ts'
import { selectedAs } from '../../base/postgres/rows.ts'
import { ScimError, type ScimFilter, type ScimGroup } from './resource.ts'
import { countResources, lockScim, requireResource, type ScimScope, selectPage, syncAccess, taken } from './users.ts'

export interface StoredGroup {
  id: string
  group: ScimGroup
  createdAt: Date
  updatedAt: Date
}

type GroupRow = Omit<StoredGroup, 'group'> & Omit<ScimGroup, 'members'>

const maxGroups = 2000
/** Each changed member may change roles in several workspaces. */
const maxChangedMembers = 2000
const columns = selectedAs('scim_groups', ['id', 'displayName', 'externalId', 'createdAt', 'updatedAt'])

export async function findScimGroups(
  sql: Sql,
  providerId: string,
  filter: ScimFilter | null,
  page: { offset: number; limit: number },
  withMembers: boolean,
): Promise<{ groups: StoredGroup[]; total: number }> {
  const condition =
    filter === null
      ? sql``
      : filter.attribute === 'id'
        ? sql`and id = ${isUuid(filter.value) ? filter.value : null}::uuid`
        : filter.attribute === 'externalId'
          ? sql`and external_id = ${filter.value}`
          : sql`and lower(display_name) = lower(${filter.value})`
  const query = { table: 'scim_groups', columns, providerId, condition, page } as const
  const { rows, total } = await selectPage<GroupRow>(sql, query)
  const groups: StoredGroup[] = []
  for (const row of rows) groups.push(toGroup(row, withMembers ? await listMembers(sql, row.id) : []))
  return { groups, total }
}

/** Throws 404. */
export async function requireScimGroup(sql: Sql, providerId: string, id: string): Promise<StoredGroup> {
  const row = await requireResource<GroupRow>(sql, { table: 'scim_groups', columns, providerId }, id)
  return toGroup(row, await listMembers(sql, row.id))
}

async function listMembers(sql: Sql, groupId: string): Promise<string[]> {
  const rows = await sql<{ member_id: string }[]>`
    select member_id
    from scim_members
    where group_id = ${groupId}
    order by member_id`
  return rows.map(({ member_id: id }) => id)
}

const toGroup = ({ displayName, externalId, ...row }: GroupRow, members: string[]): StoredGroup => ({
  ...row,
  group: { displayName, externalId, members: new Set(members) },
})

export async function createScimGroup(scope: ScimScope, group: ScimGroup): Promise<StoredGroup> {
  const { tx, provider, now } = scope
  await lockScim(tx, provider.id)
  const count = await countResources(tx, 'scim_groups', provider.id)
  if (count >= maxGroups) throw new ScimError(403, `There can be ${maxGroups} groups`, 'tooMany')
  await refuseTakenName(scope, group.displayName, null)
  const id = newId(now)
  await tx`
    insert into scim_groups (id, provider_id, display_name, external_id, created_at, updated_at)
    values (${id}, ${provider.id}, ${group.displayName}, ${group.externalId}, ${now}, ${now})`
  const members = await changeMembers(scope, id, new Set(), group.members, false)
  return { id, group: { ...group, members }, createdAt: now, updatedAt: now }
}

export async function changeScimGroup(
  scope: ScimScope,
  id: string,
  change: (before: ScimGroup) => ScimGroup,
): Promise<StoredGroup> {
  const { tx, provider, now } = scope
  await lockScim(tx, provider.id)
  const stored = await requireScimGroup(tx, provider.id, id)
  const group = change(stored.group)
  const isRenamed = group.displayName !== stored.group.displayName
  if (isRenamed) await refuseTakenName(scope, group.displayName, stored.id)
  await tx`
    update scim_groups
    set display_name = ${group.displayName},
      external_id = ${group.externalId},
      updated_at = ${now}
    where id = ${stored.id}`
  const members = await changeMembers(scope, stored.id, stored.group.members, group.members, isRenamed)
  return { ...stored, group: { ...group, members }, updatedAt: now }
}

export async function deleteScimGroup(scope: ScimScope, id: string): Promise<void> {
  const { tx, provider } = scope
  await lockScim(tx, provider.id)
  const stored = await requireScimGroup(tx, provider.id, id)
  await changeMembers(scope, stored.id, stored.group.members, new Set(), false)
  await tx`delete from scim_groups where id = ${stored.id}`
}

/** Stores the members and applies their roles; a renamed group may give other roles to all. Returns who is a member. */
async function changeMembers(
  scope: ScimScope,
  groupId: string,
  before: ReadonlySet<string>,
  wanted: ReadonlySet<string>,
  isRenamed: boolean,
): Promise<Set<string>> {
  const { tx, provider } = scope
  const added = [...wanted].filter((id) => !before.has(id))
  const removed = [...before].filter((id) => !wanted.has(id))
  if (added.length + removed.length > maxChangedMembers) {
    throw new ScimError(400, `One request can change ${maxChangedMembers} members`, 'tooMany')
  }
  const known = await tx<{ id: string }[]>`
    select id
    from scim_users
    where provider_id = ${provider.id}
      and id = any (${added.filter(isUuid)}::uuid[])`
  // Unknown members are dropped: a provider may name users before it has created them.
  const found = known.map(({ id }) => id)
  await tx`
    insert into scim_members (group_id, member_id)
    select ${groupId}::uuid, unnest(${found}::uuid[])`
  await tx`
    delete from scim_members
    where group_id = ${groupId}
      and member_id = any (${removed}::uuid[])`
  const members = new Set([...before, ...found].filter((id) => !removed.includes(id)))
  await applyRoles(scope, [...found, ...removed, ...(isRenamed ? members : [])])
  return members
}

async function applyRoles(scope: ScimScope, memberIds: readonly string[]): Promise<void> {
  if (scope.provider.settings.groupsClaim !== null) return
  const rows = await scope.tx<{ user_id: string }[]>`
    select user_id
    from scim_users
    where id = any (${[...new Set(memberIds)]}::uuid[])
      and is_active
    order by user_id`
  for (const { user_id: userId } of rows) await syncAccess(scope, userId)
}

async function refuseTakenName({ tx, provider }: ScimScope, displayName: string, ownId: string | null): Promise<void> {
  const filter = { attribute: 'displayName', value: displayName } as const
  const { groups } = await findScimGroups(tx, provider.id, filter, { offset: 0, limit: 2 }, false)
  if (groups.some(({ id }) => id !== ownId)) throw taken('A group with this displayName exists')
}
