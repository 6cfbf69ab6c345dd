import { isDistributed, lockExclusive, membersLock } from '../../base/citus/distributed-sql.ts'
import { publish, type Sql, type Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { type ApiError, conflict, forbidden, notFound } from '../../base/errors.ts'
import { type Member, type Role, roleCovers } from '../../team/member.ts'
import { openPerson } from './users.ts'

interface MemberRow {
  user_id: string
  role: Role
  created_at: Date
}

export interface WorkspaceMember {
  userId: string
  name: string
  email: string
  role: Role
  joinedAt: Date
  /** As they say themselves; null: here. */
  awaySince: Date | null
}

export async function listMembers(sql: Sql, workspaceId: string, instanceKeys: Keyring): Promise<WorkspaceMember[]> {
  const rows = await sql<(MemberRow & { away_since: Date | null; person: Buffer })[]>`
    select m.user_id, m.role, m.created_at, m.away_since, u.person
    from members m
    join users u on u.id = m.user_id
    where m.workspace_id = ${workspaceId}
    order by m.created_at, m.user_id`
  return rows.map((row) => {
    const { name, email } = openPerson(instanceKeys, row.user_id, row.person)
    return { userId: row.user_id, name, email, role: row.role, joinedAt: row.created_at, awaySince: row.away_since }
  })
}

export async function findMember(sql: Sql, workspaceId: string, userId: string): Promise<MemberRow | undefined> {
  const [row] = await sql<MemberRow[]>`
    select user_id, role, created_at
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

/** The workspaces of a user, by name. */
export async function listMemberships(sql: Sql, userId: string): Promise<Membership[]> {
  return sql<Membership[]>`
    select w.id, w.name, m.role
    from members m
    join workspaces w on w.id = m.workspace_id
    where m.user_id = ${userId}
    order by lower(w.name), w.id`
}

/** Returns false when the user is a member already. */
export async function addMember(tx: Tx, workspaceId: string, userId: string, role: Role, now: Date): Promise<boolean> {
  const added = await tx`
    insert into members (workspace_id, user_id, role, created_at)
    values (${workspaceId}, ${userId}, ${role}, ${now})
    on conflict do nothing`
  return added.count > 0
}

/** Throws 409 when this would leave the workspace without an owner. Call it with `lockMembers` held. */
export async function setRole(tx: Tx, workspaceId: string, userId: string, role: Role): Promise<void> {
  await tx`
    update members
    set role = ${role}
    where workspace_id = ${workspaceId}
      and user_id = ${userId}`
  await keepAnOwner(tx, workspaceId)
}

/** Keeps that a member is away, and since when, or (null) here. Nothing changes for who is away already. */
export async function setAway(tx: Tx, workspaceId: string, userId: string, since: Date | null): Promise<void> {
  await tx`
    update members
    set away_since = case when ${since}::timestamptz is null then null else coalesce(away_since, ${since}) end
    where workspace_id = ${workspaceId}
      and user_id = ${userId}`
}

export async function removeMember(tx: Tx, workspaceId: string, userId: string): Promise<void> {
  if (isDistributed(tx)) await lockExclusive(tx, membersLock(workspaceId))
  await tx`
    delete from members
    where workspace_id = ${workspaceId}
      and user_id = ${userId}`
  await keepAnOwner(tx, workspaceId)
}

/** One change of the team at a time: two owners who remove each other at once must not both succeed. */
export async function lockMembers(tx: Tx, workspaceId: string): Promise<void> {
  await tx`
    select id
    from workspaces
    where id = ${workspaceId}
    for no key update`
}

async function keepAnOwner(tx: Tx, workspaceId: string): Promise<void> {
  const [owner] = await tx`
    select user_id
    from members
    where workspace_id = ${workspaceId}
      and role = 'owner'
    limit 1`
  if (owner === undefined) throw conflict('A workspace needs an owner. Make another member owner first.')
}

export const memberNotFound = (): ApiError => notFound('Member not found')

/** Nobody hands out, or takes away, more than they have. */
export function refuseAbove(by: Pick<Member, 'role'>, role: Role): void {
  if (!roleCovers(by.role, role)) throw forbidden(`Only an ${role} may do this`)
}

/** Tells every process, once the transaction commits, that somebody may do less than before, or is to be asked anew. */
export const revokedAccessTopic = 'standing'

/** Somebody whose requests go on: a browser that follows a workspace. */
interface Follower {
  workspaceId: string
  userId: string | null
  sessionId: string | null
  tokenId: string | null
}

/** The person's role in this workspace has changed, or is gone. */
export const publishMemberRevoked = (tx: Tx, workspaceId: string, userId: string): void =>
  publish(tx, revokedAccessTopic, `member ${workspaceId} ${userId}`)

/** Every session of the person has ended. */
export const publishUserRevoked = (tx: Tx, userId: string): void => publish(tx, revokedAccessTopic, `user ${userId}`)

export const publishSessionRevoked = (tx: Tx, sessionId: string): void =>
  publish(tx, revokedAccessTopic, `session ${sessionId}`)

export const publishTokenRevoked = (tx: Tx, tokenId: string): void =>
  publish(tx, revokedAccessTopic, `token ${tokenId}`)

/** Whether an announcement is about this one. */
export function isAbout(news: string, { workspaceId, userId, sessionId, tokenId }: Follower): boolean {
  const [what, id, who] = news.split(' ')
  switch (what) {
    case 'member':
      return id === workspaceId && who === userId
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
