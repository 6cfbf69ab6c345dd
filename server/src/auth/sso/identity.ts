import type { Sql, Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { byteaArray } from '../../base/postgres/values.ts'
import { isBlank } from '../../base/text/external-text.ts'
import { allowsDomain, domainOf, type Provider } from '../providers/provider.ts'
import { createUser, findUser, findUserByEmail, type UserRow } from '../users/users.ts'
import { applyAccess, grantsOf } from './access.ts'
import { type Claims, claimAt } from './oidc.ts'

/** Why a person who signed in at the provider does not get in. */
export type Refusal = 'disabled' | 'domain' | 'groups' | 'no-account' | 'no-group' | 'taken' | 'unverified'

/** A person as the provider describes them. */
export interface Identity {
  /** Digest of issuer and subject. */
  subject: Buffer
  /** Ids by which the provider may have provisioned the account. */
  externalIds: readonly string[]
  email: string | null
  /** What the provider says; null if it says nothing. */
  isVerified: boolean | null
  name: string | null
  /** Null: the provider left them out, because there are too many. */
  groups: readonly string[] | null
}

const maxGroups = 1000
const maxLength = 200
const emailShape = /^[^\s@]{1,64}@[^\s@]{1,189}$/

export function subjectOf(instanceKeys: Keyring, issuer: string, subject: string): Buffer {
  return instanceKeys.stable('sso_identities.subject', `${issuer} ${subject}`)
}

export function sidOf(instanceKeys: Keyring, issuer: string, sid: string): Buffer {
  return instanceKeys.stable('sessions.sso_sid', `${issuer} ${sid}`)
}

/** Reads the claims of a finished sign-in. Each is cut or left out if it is longer than we store. */
export function readIdentity(instanceKeys: Keyring, { settings }: Provider, claims: Claims): Identity {
  const { email, email_verified: verified, xms_edov: isOwned } = claims
  const isEmail = typeof email === 'string' && emailShape.test(email)
  // Microsoft sends no email_verified, but on request whether the owner of the domain confirmed it.
  const said = verified ?? isOwned
  return {
    subject: subjectOf(instanceKeys, String(claims.iss), String(claims.sub)),
    externalIds: [claims.sub, claims.oid].filter((id) => typeof id === 'string' && id.length <= maxLength) as string[],
    email: isEmail ? email : null,
    isVerified: said === undefined || said === null ? null : [true, 'true', 1, '1'].includes(said as string),
    name: nameIn(claims),
    groups: groupsIn(claims, settings.groupsClaim),
  }
}

function nameIn({ name, given_name: given, family_name: family }: Claims): string | null {
  const parts = [given, family].filter((part) => typeof part === 'string')
  const text = (typeof name === 'string' && !isBlank(name) ? name : parts.join(' ')).trim().slice(0, 100).trim()
  return isBlank(text) ? null : text.toWellFormed()
}

function groupsIn(claims: Claims, groupsClaim: string | null): string[] | null {
  if (groupsClaim === null) return []
  const value = claimAt(claims, groupsClaim)
  // With too many groups, Microsoft sends only where to ask for them.
  const isElsewhere = Object.hasOwn(Object(claims._claim_names), groupsClaim)
  if (value === undefined && isElsewhere) return null
  const groups = [value].flat().filter((one) => typeof one === 'string' && one.length <= maxLength) as string[]
  return groups.length > maxGroups ? null : groups
}

/** Returns the user of the identity, who may then sign in, with the roles of their groups; or why not. */
export async function authorizePerson(
  tx: Tx,
  instanceKeys: Keyring,
  provider: Provider,
  identity: Identity,
  now: Date,
): Promise<{ userId: string } | { refusal: Refusal }> {
  const { settings } = provider
  const { email } = identity
  if (settings.domains.length > 0 && (email === null || !allowsDomain(settings, email))) return { refusal: 'domain' }
  if (identity.groups === null) return { refusal: 'groups' }
  const found = await findOrCreateUser(tx, instanceKeys, provider, identity, now)
  if ('refusal' in found) return found
  const { user } = found
  if (user.disabled_at !== null) return { refusal: 'disabled' }
  const provisioned = await listScimGroups(tx, provider.id, user.id)
  await applyAccess(tx, provider, user.id, [...identity.groups, ...provisioned], now)
  if (user.is_operator) return { userId: user.id }
  const [membership] = await tx`select 1 from members where user_id = ${user.id} limit 1`
  return membership === undefined ? { refusal: 'no-group' } : { userId: user.id }
}

/** Names of the groups of which the provider made the user a member by SCIM. */
export async function listScimGroups(sql: Sql, providerId: string, userId: string): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select g.display_name as name
    from scim_users u
    join scim_members m on m.member_id = u.id
    join scim_groups g on g.id = m.group_id
    where u.provider_id = ${providerId}
      and u.user_id = ${userId}`
  return rows.map(({ name }) => name)
}

type Found = { user: UserRow } | { refusal: Refusal }

async function findOrCreateUser(
  tx: Tx,
  instanceKeys: Keyring,
  provider: Provider,
  identity: Identity,
  now: Date,
): Promise<Found> {
  // Two first sign-ins of one person at once.
  await tx`select pg_advisory_xact_lock(hashtextextended(${`sso ${provider.id} ${identity.subject.toString('hex')}`}, 0))`
  const [known] = await tx<{ user_id: string }[]>`
    update sso_identities
    set last_used_at = ${now}
    where provider_id = ${provider.id}
      and subject = ${identity.subject}
    returning user_id`
  if (known !== undefined) return requireUser(tx, known.user_id)
  const provisioned = await findProvisioned(tx, instanceKeys, provider, identity)
  if (provisioned !== undefined) return linkTo(tx, provider, identity, provisioned, now)
  const { email } = identity
  if (email === null) return { refusal: 'no-account' }
  const existing = await findUserByEmail(tx, instanceKeys, email)
  if (existing !== undefined) {
    return mayLink(provider, identity, existing)
      ? linkTo(tx, provider, identity, existing.id, now)
      : { refusal: 'unverified' }
  }
  return createPerson(tx, instanceKeys, provider, { ...identity, email }, now)
}

/** Creates the account only if it can be used, and only with an address that the provider answers for. */
async function createPerson(
  tx: Tx,
  instanceKeys: Keyring,
  provider: Provider,
  identity: Identity & { email: string },
  now: Date,
): Promise<Found> {
  const { settings } = provider
  const { email, isVerified, groups } = identity
  if (!settings.createsPeople) return { refusal: 'no-account' }
  if (isVerified === false || (isVerified === null && settings.domains.length === 0)) return { refusal: 'unverified' }
  if (grantsOf(settings, groups ?? []).every(({ role }) => role === null)) return { refusal: 'no-group' }
  const name = identity.name ?? email.slice(0, email.indexOf('@'))
  const person = { name, email, passwordHash: null, isOperator: false, managedBy: provider.id }
  return linkTo(tx, provider, identity, await createUser(tx, instanceKeys, person, now), now)
}

/**
 * Whether an address alone shows that the account is the person's: the provider has verified it, and an operator trusts
 * it with the domain. Never for operators: the administrators of the provider would control the installation.
 */
function mayLink({ settings }: Provider, { email, isVerified }: Identity, user: UserRow): boolean {
  if (user.is_operator || email === null || isVerified !== true) return false
  return settings.linksByEmail && settings.domains.includes(domainOf(email))
}

/** Returns the account that the provider provisioned for this person, which it names by an id of its own. */
async function findProvisioned(
  tx: Tx,
  instanceKeys: Keyring,
  { id }: Provider,
  { externalIds }: Identity,
): Promise<string | undefined> {
  const digests = externalIds.flatMap((external) => instanceKeys.exacts('scim_users.external', external))
  const [row] = await tx<{ user_id: string }[]>`
    select user_id
    from scim_users
    where provider_id = ${id}
      and external_id_index = any (${byteaArray(digests)}::bytea[])
    limit 1`
  return row?.user_id
}

/** Stores that the identity is this user. Refuses a second identity: an address may have been given to someone else. */
async function linkTo(tx: Tx, provider: Provider, identity: Identity, userId: string, now: Date): Promise<Found> {
  const user = await findUser(tx, userId)
  if (user === undefined || !(await linkIdentity(tx, provider.id, identity.subject, userId, now))) {
    return { refusal: 'taken' }
  }
  return { user }
}

/** Returns false if the identity or the user is linked to another one. */
export async function linkIdentity(
  tx: Tx,
  providerId: string,
  subject: Buffer,
  userId: string,
  now: Date,
): Promise<boolean> {
  const linked = await tx`
    insert into sso_identities (provider_id, subject, user_id, created_at, last_used_at)
    values (${providerId}, ${subject}, ${userId}, ${now}, ${now})
    on conflict do nothing`
  return linked.count > 0
}

async function requireUser(tx: Tx, userId: string): Promise<Found> {
  const user = await findUser(tx, userId)
  return user === undefined ? { refusal: 'no-account' } : { user }
}
