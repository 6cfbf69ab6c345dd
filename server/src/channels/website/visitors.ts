import { publish, type Sql, type Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { createToken, hashToken } from '../../base/encryption/secret-token.ts'
import { newId } from '../../base/id.ts'
import { byteaArray } from '../../base/postgres/values.ts'
import type { Customer } from '../channel-event.ts'
import type { ConnectionKey } from '../connection/connection.ts'
import type { VisitorProfile } from './identity.ts'

/** Topic of changes of a chat; a message is the visitor's id. */
export const visitorTopic = 'website'
export const publishVisitor = (tx: Tx, visitorId: string): void => publish(tx, visitorTopic, visitorId)

export interface Visitor {
  workspaceId: string
  connectionId: string
  id: string
  profile: VisitorProfile
  lastSeq: number
}

type VisitorRow = Pick<Visitor, 'id' | 'lastSeq'> & { profile: Buffer }

/** Where the profile of a visitor is encrypted. */
export const profilePlace = (id: string) => ({ table: 'website_visitors', row: id, column: 'profile' })

export const decryptProfile = (keyring: Keyring, { id, profile }: Pick<VisitorRow, 'id' | 'profile'>): VisitorProfile =>
  JSON.parse(keyring.decryptText(profilePlace(id), profile)) as VisitorProfile

/** Returns the columns by which a person is found; the site's ids are unique within a connection. */
export function visitorIndexes(keyring: Keyring, connectionId: string, { userId }: VisitorProfile) {
  return {
    identity_index: userId === null ? null : keyring.exact('website.identity', `${connectionId} ${userId}`),
    index_version: keyring.indexVersion,
  }
}

const userIdPrefix = 'web.'

/** The customer of a visitor. A phone counts only if the site vouches for it: anybody can type another's number. */
export function customerOf({ id, profile: { userId, name, phone } }: Pick<Visitor, 'id' | 'profile'>): Customer {
  return { userId: userIdPrefix + id, parentUserId: null, phone: userId === null ? null : phone, name }
}

/** Returns the visitor of a customer's user id; null for those of other channels. */
export const visitorIdOf = (userId: string | null): string | null =>
  userId?.startsWith(userIdPrefix) === true ? userId.slice(userIdPrefix.length) : null

interface NewVisitorSession {
  profile: VisitorProfile
  /** The solved challenge; null for an identified visitor. */
  nonce: string | null
  /** A session of the device from before the person was identified; its chat becomes the person's if they have none. */
  former: { id: string; visitor: Visitor } | null
}

const dayMs = 86_400_000
const sessionDays = 90
/** Devices of one person; the oldest are signed out. */
const maxSessions = 20

/**
 * Opens a session for a device and returns its token. An identified person gets the chat that they have on this connection; otherwise the
 * chat is new. Violates the unique key of nonces if the challenge was used.
 */
export async function openSession(
  tx: Tx,
  keyring: Keyring,
  { workspaceId, id: connectionId }: ConnectionKey,
  { profile, nonce, former }: NewVisitorSession,
  now: Date,
): Promise<string> {
  const key = { workspaceId, connectionId }
  const known = profile.userId === null ? undefined : await lockIdentified(tx, keyring, key, profile.userId)
  const own = former !== null && former.visitor.profile.userId === null ? former.visitor : undefined
  const before = known ?? own
  const id = before?.id ?? newId(now)
  const lastSeq = before?.lastSeq ?? 0
  const visitor: Visitor = { ...key, id, profile: mergeProfiles(before?.profile, profile), lastSeq }
  await storeVisitor(tx, keyring, visitor, before === undefined, now)
  const token = createToken()
  await tx`
    insert into website_sessions (
      workspace_id, id, connection_id, visitor_id, token_hash, nonce, created_at, expires_at
    )
    values (
      ${workspaceId}, ${newId(now)}, ${connectionId}, ${id}, ${hashToken(token)}, ${nonce}, ${now}, ${expiryFrom(now)}
    )`
  if (former !== null) {
    await tx`
      delete from website_sessions
      where workspace_id = ${workspaceId}
        and id = ${former.id}`
  }
  await endOldSessions(tx, workspaceId, id)
  return token
}

const expiryFrom = (now: Date): Date => new Date(now.getTime() + sessionDays * dayMs)

/** What the site says replaces what is known; what it does not say stays. */
function mergeProfiles(before: VisitorProfile | undefined, given: VisitorProfile): VisitorProfile {
  if (before === undefined) return given
  // What an anonymous visitor has typed must not pass as what the site vouches for.
  const isVouchedFor = before.userId !== null || given.userId === null
  const kept = isVouchedFor ? before : { name: null, email: null, phone: null }
  return {
    userId: given.userId ?? before.userId,
    name: given.name ?? kept.name,
    email: given.email ?? kept.email,
    phone: given.phone ?? kept.phone,
  }
}

/** Waits for others who open a session of the same person, so that two devices at once make one visitor. */
async function lockIdentified(
  tx: Tx,
  keyring: Keyring,
  key: { workspaceId: string; connectionId: string },
  userId: string,
): Promise<Visitor | undefined> {
  const { workspaceId, connectionId } = key
  const text = `${connectionId} ${userId}`
  const lock = keyring.stable('website.lock', text).toString('hex')
  await tx`select pg_advisory_xact_lock(hashtextextended(${`website ${workspaceId} ${lock}`}, 0))`
  const [row] = await tx<VisitorRow[]>`
    select id, profile, last_seq as "lastSeq"
    from website_visitors
    where workspace_id = ${workspaceId}
      and connection_id = ${connectionId}
      and identity_index = any (${byteaArray(keyring.exacts('website.identity', text))}::bytea[])
    order by id
    limit 1`
  return row && { ...key, id: row.id, profile: decryptProfile(keyring, row), lastSeq: row.lastSeq }
}

async function storeVisitor(tx: Tx, keyring: Keyring, visitor: Visitor, isNew: boolean, now: Date): Promise<void> {
  const { workspaceId, connectionId, id } = visitor
  const { identity_index: identity, index_version: version } = visitorIndexes(keyring, connectionId, visitor.profile)
  const profile = keyring.encrypt(profilePlace(id), JSON.stringify(visitor.profile))
  if (isNew) {
    await tx`
      insert into website_visitors (
        workspace_id, id, connection_id, identity_index, index_version, profile, created_at, last_seen_at
      )
      values (${workspaceId}, ${id}, ${connectionId}, ${identity}, ${version}, ${profile}, ${now}, ${now})`
    return
  }
  await tx`
    update website_visitors
    set identity_index = ${identity},
      index_version = ${version},
      profile = ${profile},
      last_seen_at = ${now}
    where workspace_id = ${workspaceId}
      and id = ${id}`
}

async function endOldSessions(tx: Tx, workspaceId: string, visitorId: string): Promise<void> {
  await tx`
    delete from website_sessions
    where workspace_id = ${workspaceId}
      and id = any (array(
        select id
        from website_sessions
        where workspace_id = ${workspaceId}
          and visitor_id = ${visitorId}
        order by id desc
        offset ${maxSessions}
      ))`
}

export interface VisitorSession {
  id: string
  visitor: Visitor
}

/** Returns the session of a token on this connection; undefined if there is none. */
export async function findVisitorSession(
  sql: Sql,
  keyring: Keyring,
  { workspaceId, id: connectionId }: ConnectionKey,
  token: string,
  now: Date,
): Promise<(VisitorSession & { expiresAt: Date }) | undefined> {
  const [row] = await sql<(VisitorRow & { sessionId: string; expiresAt: Date })[]>`
    select s.id as "sessionId", s.expires_at as "expiresAt", v.id, v.profile, v.last_seq as "lastSeq"
    from website_sessions s
    join website_visitors v
      on v.workspace_id = s.workspace_id
      and v.id = s.visitor_id
    where s.workspace_id = ${workspaceId}
      and s.token_hash = ${hashToken(token)}
      and s.connection_id = ${connectionId}
      and s.expires_at > ${now}`
  if (row === undefined) return undefined
  const { sessionId, expiresAt, id, lastSeq } = row
  const visitor = { workspaceId, connectionId, id, profile: decryptProfile(keyring, row), lastSeq }
  return { id: sessionId, visitor, expiresAt }
}

/** Whether the session was not renewed for a day. */
export const isRenewalDue = (expiresAt: Date, now: Date): boolean =>
  expiryFrom(now).getTime() - expiresAt.getTime() > dayMs

/** Extends the session of a visitor who is back. */
export async function renewSession(tx: Tx, { id, visitor }: VisitorSession, now: Date): Promise<void> {
  await tx`
    update website_sessions
    set expires_at = ${expiryFrom(now)}
    where workspace_id = ${visitor.workspaceId}
      and id = ${id}`
  await tx`
    update website_visitors
    set last_seen_at = ${now}
    where workspace_id = ${visitor.workspaceId}
      and id = ${visitor.id}`
}

/** Ends a session: the device forgets the chat, which stays in the inbox. */
export async function endSession(tx: Tx, { id, visitor }: VisitorSession): Promise<void> {
  await tx`
    delete from website_sessions
    where workspace_id = ${visitor.workspaceId}
      and id = ${id}`
}
