import type { Fragment, Sql, Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { isUuid, newId } from '../../base/id.ts'
import { selectedAs } from '../../base/postgres/rows.ts'
import { byteaArray } from '../../base/postgres/values.ts'
import { allowsDomain, domainOf, type Provider } from '../providers/provider.ts'
import { endProviderSessions } from '../sign-in/sessions.ts'
import { applyAccess, disableUser, enableUser } from '../sso/access.ts'
import { listScimGroups } from '../sso/identity.ts'
import { changePerson, createUser, findUser, findUserByEmail, type UserRow } from '../users/users.ts'
import {
  emailOf,
  invalidValue,
  nameOf,
  resourceNotFound,
  ScimError,
  type ScimFilter,
  type ScimUser,
} from './resource.ts'

export interface StoredUser {
  id: string
  userId: string
  user: ScimUser
  createdAt: Date
  updatedAt: Date
}

type UserResourceRow = Omit<StoredUser, 'user'> & { resource: Buffer; isActive: boolean }

/** Where a request works: in a transaction, for one provider. */
export interface ScimScope {
  tx: Tx
  keys: Keyring
  provider: Provider
  now: Date
}

const maxUsers = 20_000
const columns = selectedAs('scim_users', ['id', 'userId', 'resource', 'isActive', 'createdAt', 'updatedAt'])
const contextOf = (row: string) => ({ table: 'scim_users', row, column: 'resource' })

/** Digests by which a user is found, for the registry of encrypted tables too. */
export function scimUserIndexes(keys: Keyring, id: string, resource: Uint8Array) {
  const { userName, externalId } = JSON.parse(keys.decryptText(contextOf(id), resource)) as ScimUser
  return {
    user_name_index: keys.exact('scim_users.name', userName.toLowerCase()),
    external_id_index: externalId === null ? null : keys.exact('scim_users.external', externalId),
    index_version: keys.indexVersion,
  }
}

/** Serializes the changes of a provider, so that two requests do not create one user. */
export async function lockScim(tx: Tx, providerId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`scim ${providerId}`}, 0))`
}

/** A page of the resources that meet further conditions, and how many there are. */
interface ResourceQuery {
  table: 'scim_users' | 'scim_groups'
  columns: Fragment
  providerId: string
  condition: Fragment
  page: { offset: number; limit: number }
}

export async function selectPage<Row>(
  sql: Sql,
  { table, columns, providerId, condition, page }: ResourceQuery,
): Promise<{ rows: Row[]; total: number }> {
  const total = await countResources(sql, table, providerId, condition)
  const rows = await sql<Row[]>`
    select ${columns}
    from ${sql(table)}
    where provider_id = ${providerId}
      ${condition}
    order by id
    offset ${page.offset}
    limit ${page.limit}`
  return { rows, total }
}

export async function countResources(
  sql: Sql,
  table: ResourceQuery['table'],
  providerId: string,
  condition: Fragment = sql``,
): Promise<number> {
  const [counted] = await sql<[{ count: number }]>`
    select count(*)::integer as count
    from ${sql(table)}
    where provider_id = ${providerId}
      ${condition}`
  return counted.count
}

/** Throws 404. */
export async function requireResource<Row>(
  sql: Sql,
  { table, columns, providerId }: Pick<ResourceQuery, 'table' | 'columns' | 'providerId'>,
  id: string,
): Promise<Row> {
  const [row] = isUuid(id)
    ? await sql<Row[]>`
        select ${columns}
        from ${sql(table)}
        where provider_id = ${providerId}
          and id = ${id}`
    : []
  if (row === undefined) throw resourceNotFound()
  return row
}

export async function findScimUsers(
  sql: Sql,
  keys: Keyring,
  providerId: string,
  filter: ScimFilter | null,
  page: ResourceQuery['page'],
): Promise<{ users: StoredUser[]; total: number }> {
  const digests =
    filter?.attribute === 'userName'
      ? keys.exacts('scim_users.name', filter.value.toLowerCase())
      : keys.exacts('scim_users.external', filter?.value ?? '')
  const condition =
    filter === null
      ? sql``
      : filter.attribute === 'id'
        ? sql`and id = ${isUuid(filter.value) ? filter.value : null}::uuid`
        : filter.attribute === 'userName'
          ? sql`and user_name_index = any (${byteaArray(digests)}::bytea[])`
          : sql`and external_id_index = any (${byteaArray(digests)}::bytea[])`
  const query = { table: 'scim_users', columns, providerId, condition, page } as const
  const { rows, total } = await selectPage<UserResourceRow>(sql, query)
  return { users: rows.map((row) => decrypt(keys, row)), total }
}

/** Throws 404. */
export async function requireScimUser(sql: Sql, keys: Keyring, providerId: string, id: string): Promise<StoredUser> {
  const query = { table: 'scim_users', columns, providerId } as const
  return decrypt(keys, await requireResource<UserResourceRow>(sql, query, id))
}

function decrypt(keys: Keyring, { resource, isActive, ...row }: UserResourceRow): StoredUser {
  const user = JSON.parse(keys.decryptText(contextOf(row.id), resource)) as ScimUser
  return { ...row, user: { ...user, isActive } }
}

/** Creates the account, or takes over an existing one that the provider may. Throws 409 for others. */
export async function createScimUser(scope: ScimScope, user: ScimUser): Promise<StoredUser> {
  const { tx, keys, provider, now } = scope
  await lockScim(tx, provider.id)
  await refuseTakenName(scope, user.userName, null)
  const account = await accountFor(scope, user)
  const id = newId(now)
  const resource = keys.encrypt(contextOf(id), JSON.stringify(user))
  const row = {
    ...{ id, provider_id: provider.id, user_id: account, resource, ...scimUserIndexes(keys, id, resource) },
    ...{ is_active: user.isActive, created_at: now, updated_at: now },
  }
  const inserted = await tx`
    insert into scim_users ${tx.row(row)}
    on conflict do nothing`
  if (inserted.count === 0) throw taken('The account of this e-mail address is another user already')
  await setActive(scope, account, user.isActive)
  return { id, userId: account, user, createdAt: now, updatedAt: now }
}

async function accountFor({ tx, keys, provider, now }: ScimScope, user: ScimUser): Promise<string> {
  const email = emailOf(user)
  const { settings } = provider
  if (!allowsDomain(settings, email)) throw invalidValue('The e-mail address is not of a domain of this provider')
  const existing = await findUserByEmail(tx, keys, email)
  if (existing !== undefined) {
    if (!mayAdopt(provider, existing, email))
      throw taken('An account that this provider does not manage has this e-mail address')
    await changePerson(tx, keys, existing.id, { name: nameOf(user) })
    return existing.id
  }
  if ((await countResources(tx, 'scim_users', provider.id)) >= maxUsers)
    throw new ScimError(403, `There can be ${maxUsers} users`, 'tooMany')
  const person = { name: nameOf(user), email, passwordHash: null, isOperator: false, managedBy: provider.id }
  return createUser(tx, keys, person, now)
}

/** Never for operators: the administrators of the provider would control the installation. */
function mayAdopt({ id, settings }: Provider, user: UserRow, email: string): boolean {
  if (user.is_operator) return false
  return user.managed_by === id || (settings.linksByEmail && settings.domains.includes(domainOf(email)))
}

export async function changeScimUser(
  scope: ScimScope,
  id: string,
  change: (before: ScimUser) => ScimUser,
): Promise<StoredUser> {
  const { tx, keys, provider, now } = scope
  await lockScim(tx, provider.id)
  const stored = await requireScimUser(tx, keys, provider.id, id)
  const user = change(stored.user)
  if (user.userName !== stored.user.userName) await refuseTakenName(scope, user.userName, stored.id)
  const resource = keys.encrypt(contextOf(stored.id), JSON.stringify(user))
  const values = { resource, ...scimUserIndexes(keys, stored.id, resource), is_active: user.isActive, updated_at: now }
  await tx`
    update scim_users
    set ${tx.set(values)}
    where id = ${stored.id}`
  await changeAccount(scope, stored, user)
  if (user.isActive !== stored.user.isActive) await setActive(scope, stored.userId, user.isActive)
  return { ...stored, user, updatedAt: now }
}

/** The name follows the provider; the address only of an account that it created. */
async function changeAccount({ tx, keys, provider }: ScimScope, { userId, user: before }: StoredUser, after: ScimUser) {
  const [name, email] = [nameOf(after), emailOf(after)]
  const account = await findUser(tx, userId)
  if (account === undefined || account.is_operator) return
  const isNewEmail = email !== emailOf(before) && account.managed_by === provider.id
  if (isNewEmail && !allowsDomain(provider.settings, email)) {
    throw invalidValue('The e-mail address is not of a domain of this provider')
  }
  if (isNewEmail || name !== nameOf(before)) {
    await changePerson(tx, keys, userId, { name, ...(isNewEmail && { email }) })
  }
}

/** Deletes the resource and switches the account off; what the person did stays. */
export async function deleteScimUser(scope: ScimScope, id: string): Promise<void> {
  const { tx, keys, provider } = scope
  await lockScim(tx, provider.id)
  const { id: found, userId } = await requireScimUser(tx, keys, provider.id, id)
  await tx`delete from scim_members where member_id = ${found}`
  await tx`delete from scim_users where id = ${found}`
  await tx`delete from sso_identities where provider_id = ${provider.id} and user_id = ${userId}`
  await setActive(scope, userId, false)
}

/** An operator loses only the sessions of the provider: it does not decide who runs the installation. */
async function setActive({ tx, provider, now }: ScimScope, userId: string, isActive: boolean): Promise<void> {
  const account = await findUser(tx, userId)
  if (account?.is_operator) {
    if (!isActive) await endProviderSessions(tx, provider.id, { sid: null, userId })
    return
  }
  if (!isActive) return disableUser(tx, userId, now)
  await enableUser(tx, userId)
  await syncAccess({ tx, provider, now }, userId)
}

/** Applies the groups of SCIM at once. If groups also come with a sign-in, both are applied together there. */
export async function syncAccess({ tx, provider, now }: Omit<ScimScope, 'keys'>, userId: string): Promise<void> {
  if (provider.settings.groupsClaim !== null) return
  await applyAccess(tx, provider, userId, await listScimGroups(tx, provider.id, userId), now)
}

async function refuseTakenName({ tx, keys, provider }: ScimScope, userName: string, ownId: string | null) {
  const filter = { attribute: 'userName', value: userName } as const
  const { users } = await findScimUsers(tx, keys, provider.id, filter, { offset: 0, limit: 2 })
  if (users.some(({ id }) => id !== ownId)) throw taken('A user with this userName exists')
}

export const taken = (detail: string) => new ScimError(409, detail, 'uniqueness')
