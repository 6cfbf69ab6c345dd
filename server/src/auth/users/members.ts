import { isDistributed, lockExclusive, membersLock } from '../../base/citus/distributed-sql.ts'
import { publish, type Sql, type Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { type ApiError, conflict, forbidden, notFound } from '../../base/errors.ts'
import { type Member, type Role, roleCovers } from '../../team/member.ts'
import { decryptPerson, type UserRow } from './users.ts'

export interface WorkspaceMember {
  userId: string
  name: string
  email: string
  role: Role
  joinedAt: Date
  /** As set by the member; null if not away. */
  awaySince: Date | null
  /** When an absence ends by itself, also in the past; null: when the member says so. */
  awayUntil: Date | null
}

export async function listMembers(sql: Sql, workspaceId: string, instanceKeys: Keyring): Promise<WorkspaceMember[]> {
  const rows = await sql<(Omit<WorkspaceMember, 'name' | 'email'> & { person: Buffer })[]>`
    select m.user_id as "userId", m.role, m.created_at as "joinedAt", m.away_since as "awaySince",
      m.away_until as "awayUntil", u.person
    from members m
    join users u on u.id = m.user_id
    where m.workspace_id = ${workspaceId}
    order by m.created_at, m.user_id`
  return rows.map(({ person, ...row }) => ({ ...row, ...decryptPerson(instanceKeys, row.userId, person) }))
}

/** Returns those of these people who are members, and the name of the workspace, for mails to them. */
export async function findRecipients(sql: Sql, workspaceId: string, userIds: readonly string[]) {
  const users = await sql<(Pick<UserRow, 'id' | 'person' | 'language'> & { workspaceName: string })[]>`
    select u.id, u.person, u.language, w.name as "workspaceName"
    from members m
    join users u on u.id = m.user_id
    join workspaces w on w.id = m.workspace_id
    where m.workspace_id = ${workspaceId}
      and m.user_id = any (${[...userIds]}::uuid[])`
  return { workspaceName: users[0]?.workspaceName ?? '', users }
}

export async function findMember(sql: Sql, workspaceId: string, userId: string): Promise<{ role: Role } | undefined> {
  const [row] = await sql<{ role: Role }[]>`
    select role
    from members
    where workspace_id = ${workspaceId}
      and user_id = ${userId}`
  return row
}

interface Membership {
  id: string
  name: string
  role: Role
}

/** Returns the workspaces of a user, sorted by name. */
export async function listMemberships(sql: Sql, userId: string): Promise<Membership[]> {
  return sql<Membership[]>`
    select w.id, w.name, m.role
    from members m
    join workspaces w on w.id = m.workspace_id
    where m.user_id = ${userId}
    order by lower(w.name), w.id`
}

/** Adds a member. Returns false if the user is already a member. */
export async function addMember(tx: Tx, workspaceId: string, userId: string, role: Role, now: Date): Promise<boolean> {
  const added = await tx`
    insert into members (workspace_id, user_id, role, created_at)
    values (${workspaceId}, ${userId}, ${role}, ${now})
    on conflict do nothing`
  return added.count > 0
}

/** Sets a role. Throws 409 if the workspace would have no owner. The caller must hold `lockMembers`. */
export async function setRole(tx: Tx, workspaceId: string, userId: string, role: Role): Promise<void> {
  await tx`
    update members
    set role = ${role}
    where workspace_id = ${workspaceId}
      and user_id = ${userId}`
  await requireOwner(tx, workspaceId)
}

/**
 * Stores since when a member is away, or null for not away, and until when; null for until they say so. Keeps the time
 * since when of a member who is already away. Returns false if there is no such member.
 */
export async function setAway(
  tx: Tx,
  workspaceId: string,
  userId: string,
  since: Date | null,
  until: Date | null,
): Promise<boolean> {
  const set = await tx`
    update members
    set away_since = case
        when ${since}::timestamptz is null then null
        when away_until <= ${since} then ${since}
        else coalesce(away_since, ${since})
      end,
      away_until = ${until}
    where workspace_id = ${workspaceId}
      and user_id = ${userId}`
  return set.count > 0
}

export async function removeMember(tx: Tx, workspaceId: string, userId: string): Promise<void> {
  if (isDistributed(tx)) await lockExclusive(tx, membersLock(workspaceId))
  await tx`
    delete from members
    where workspace_id = ${workspaceId}
      and user_id = ${userId}`
  await requireOwner(tx, workspaceId)
}

/** Serializes changes to the members: two owners who remove each other concurrently must not both succeed. */
export async function lockMembers(tx: Tx, workspaceId: string): Promise<void> {
  await tx`
    select id
    from workspaces
    where id = ${workspaceId}
    for no key update`
}

async function requireOwner(tx: Tx, workspaceId: string): Promise<void> {
  const [owner] = await tx`
    select user_id
    from members
    where workspace_id = ${workspaceId}
      and role = 'owner'
    limit 1`
  if (owner === undefined) throw conflict('A workspace needs an owner. Make another member an owner first.')
}

export const memberNotFound = (): ApiError => notFound('Member not found')

/** Throws 403 if the role is higher than the caller's: nobody can grant or remove more than they have. */
export function refuseHigherRole(by: Pick<Member, 'role'>, role: Role): void {
  if (!roleCovers(by.role, role)) throw forbidden(`Only an ${role} may do this`)
}

/** Topic for permission changes, published when the transaction commits, so that all processes recheck access. */
export const revokedAccessTopic = 'standing'

/** A long-running request to recheck, such as a browser that follows a workspace. */
interface Follower {
  workspaceId: string
  userId: string | null
  sessionId: string | null
  tokenId: string | null
}

/** Publishes that the person's role in this workspace has changed or was removed. */
export const publishMemberRevoked = (tx: Tx, workspaceId: string, userId: string): void =>
  publish(tx, revokedAccessTopic, `member ${workspaceId} ${userId}`)

/** Publishes that every session of the person has ended. */
export const publishUserRevoked = (tx: Tx, userId: string): void => publish(tx, revokedAccessTopic, `user ${userId}`)

export const publishSessionRevoked = (tx: Tx, sessionId: string): void =>
  publish(tx, revokedAccessTopic, `session ${sessionId}`)

export const publishTokenRevoked = (tx: Tx, tokenId: string): void =>
  publish(tx, revokedAccessTopic, `token ${tokenId}`)

/** Returns whether a published message concerns this follower. */
export function concernsFollower(message: string, { workspaceId, userId, sessionId, tokenId }: Follower): boolean {
  const [kind, id, memberId] = message.split(' ')
  switch (kind) {
    case 'member':
      return id === workspaceId && memberId === userId
    case 'user':
      return id === userId
    case 'session':
      return id === sessionId
    case 'token':
      return id === tokenId
    default:
      return false
  }
}
