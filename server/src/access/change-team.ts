import { recordAudit } from '../base/audit.ts'
import { forbidden } from '../base/errors.ts'
import { type Member, type Role, roleCovers } from '../base/member.ts'
import { findMember, lockMembers, memberNotFound, removeMember, setRole } from './members.ts'
import type { TeamDeps } from './team-deps.ts'

/** Gives a member another role. Only an owner makes or unmakes owners; the last owner stays one (409). */
export async function changeRole(deps: TeamDeps, by: Member, userId: string, role: Role): Promise<void> {
  await deps.db.tx(async (tx) => {
    await lockMembers(tx, by.workspaceId)
    const found = await findMember(tx, by.workspaceId, userId)
    if (found === undefined) throw memberNotFound()
    refuseAbove(by, found.role)
    refuseAbove(by, role)
    if (found.role === role) return
    await setRole(tx, by.workspaceId, userId, role)
    const entry = {
      scopeId: by.workspaceId,
      actor: by.actor,
      action: 'member.role-changed',
      target: `member:${userId}`,
    }
    await recordAudit(tx, entry, deps.clock.now())
  })
}

/** Takes a member out of the workspace; anyone may take out themselves. The last owner cannot go (409). */
export async function leaveTeam(deps: TeamDeps, by: Member, userId: string): Promise<void> {
  await deps.db.tx(async (tx) => {
    await lockMembers(tx, by.workspaceId)
    const found = await findMember(tx, by.workspaceId, userId)
    if (found === undefined) throw memberNotFound()
    if (by.userId !== userId) {
      if (!roleCovers(by.role, 'admin')) throw forbidden('Only admins and owners remove others from the workspace')
      refuseAbove(by, found.role)
    }
    await removeMember(tx, by.workspaceId, userId)
    const entry = { scopeId: by.workspaceId, actor: by.actor, action: 'member.removed', target: `member:${userId}` }
    await recordAudit(tx, entry, deps.clock.now())
  })
}

/** Nobody hands out, or takes away, more than they have. */
export function refuseAbove(by: Member, role: Role): void {
  if (!roleCovers(by.role, role)) throw forbidden(`Only an ${role} may do this`)
}
