import type { Tx } from '../../base/db.ts'
import { recordAudit, systemActor, workspaceEntry } from '../../team/audit.ts'
import { type Role, roleCovers, roles } from '../../team/member.ts'
import { revokeTokensOf } from '../credentials/team-tokens.ts'
import { applyRole, endMembership } from '../members/change-members.ts'
import type { Provider } from '../providers/provider.ts'
import type { ProviderSettings } from '../providers/provider-schema.ts'
import { endAllSessions } from '../sign-in/sessions.ts'
import { deletePendingSignIns } from '../sign-in/sign-in.ts'
import { addMember, findMember, lockMembers } from '../users/members.ts'

/** The provider changes roles, not a person: the log names the service. */
const serviceIn = (workspaceId: string) => ({ workspaceId, actor: systemActor })

/** A role that the rules give, and whether they also take it away. */
export interface Grant {
  workspaceId: string
  /** Null: none of the groups gives a role. */
  role: Role | null
  /** False if only a rule for everyone names the workspace: then a role that a member has is kept. */
  isByGroup: boolean
}

/** Returns what the rules grant, by workspace. Of several rules that match, the highest role counts. */
export function grantsOf({ access }: Pick<ProviderSettings, 'access'>, groups: readonly string[]): Grant[] {
  const grants = new Map<string, Grant>()
  const own = new Set(groups)
  for (const { group, workspaceId, role } of access) {
    const grant = grants.get(workspaceId) ?? { workspaceId, role: null, isByGroup: false }
    if (group !== null) grant.isByGroup = true
    const matches = group === null || own.has(group)
    if (matches && (grant.role === null || roleCovers(role, grant.role))) grant.role = role
    grants.set(workspaceId, grant)
  }
  // In one order, because two sign-ins lock the workspaces at once.
  return [...grants.values()].sort((a, b) => (a.workspaceId < b.workspaceId ? -1 : 1))
}

/** Gives the person the roles of the groups. Never takes the last owner of a workspace away. */
export async function applyAccess(
  tx: Tx,
  provider: Provider,
  userId: string,
  groups: readonly string[],
  now: Date,
): Promise<void> {
  for (const grant of grantsOf(provider.settings, groups)) await applyGrant(tx, userId, grant, now)
}

async function applyGrant(tx: Tx, userId: string, { workspaceId, role, isByGroup }: Grant, now: Date): Promise<void> {
  const [workspace] = await tx`select id from workspaces where id = ${workspaceId}`
  if (workspace === undefined) return
  const before = await findMember(tx, workspaceId, userId)
  const isUnchanged = before === undefined ? role === null : !isByGroup || before.role === role
  if (isUnchanged) return
  await lockMembers(tx, workspaceId)
  const found = await findMember(tx, workspaceId, userId)
  if (role === null) {
    if (found !== undefined) await leave(tx, workspaceId, userId, now)
    return
  }
  if (found === undefined) {
    await addMember(tx, workspaceId, userId, role, now)
    await recordAudit(tx, workspaceEntry(serviceIn(workspaceId), 'member.joined', `member:${userId}`), now)
    return
  }
  if (!isByGroup || found.role === role) return
  if (found.role === 'owner' && (await isLastOwner(tx, workspaceId, userId))) return
  await applyRole(tx, serviceIn(workspaceId), userId, role, now)
}

/** Removes the member, as another member would. Keys and webhooks, on which others depend, are kept. */
async function leave(tx: Tx, workspaceId: string, userId: string, now: Date): Promise<void> {
  if (await isLastOwner(tx, workspaceId, userId)) return
  await endMembership(tx, serviceIn(workspaceId), userId, now)
}

/** Whether the workspace would have no owner without this one. The caller must hold `lockMembers`. */
async function isLastOwner(tx: Tx, workspaceId: string, userId: string): Promise<boolean> {
  const owners = await tx<{ user_id: string }[]>`
    select user_id
    from members
    where workspace_id = ${workspaceId}
      and role = 'owner'
    limit 2`
  return owners.length === 1 && owners[0]?.user_id === userId
}

/**
 * Switches the account off: ends every session at once, on every node, and removes it from its workspaces, but never a
 * last owner, who can't sign in either. What the person did keeps their name.
 */
export async function disableUser(tx: Tx, userId: string, now: Date): Promise<void> {
  await tx`
    update users
    set disabled_at = coalesce(disabled_at, ${now})
    where id = ${userId}`
  await endAllSessions(tx, userId)
  await deletePendingSignIns(tx, userId)
  const memberships = await tx<{ workspace_id: string }[]>`
    select workspace_id
    from members
    where user_id = ${userId}
    order by workspace_id`
  for (const { workspace_id: workspaceId } of memberships) {
    await lockMembers(tx, workspaceId)
    const isLast = await isLastOwner(tx, workspaceId, userId)
    if (isLast) await revokeTokensOf(tx, serviceIn(workspaceId), userId, roles, now)
    else await leave(tx, workspaceId, userId, now)
  }
}

export async function enableUser(tx: Tx, userId: string): Promise<void> {
  await tx`
    update users
    set disabled_at = null
    where id = ${userId}`
}
