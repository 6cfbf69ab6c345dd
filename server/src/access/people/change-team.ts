import { recordAudit } from '../../team/audit.ts'
import { type Member, type Role, roleCovers, roles } from '../../team/member.ts'
import { revokeTokensOf } from '../team/team-tokens.ts'
import { announceMember } from '../users/ended-access.ts'
import { findMember, lockMembers, memberNotFound, refuseAbove, setRole } from '../users/members.ts'
import type { TeamDeps } from '../users/team-deps.ts'
import { withdrawInvitationsOf } from './invitations.ts'

/**
 * Gives a member another role. Only an owner makes or unmakes owners; the last owner stays one (409). What the member made
 * with a higher role than the new one goes: their tokens above it, and the open invitations that it could not make.
 */
export async function changeRole(deps: TeamDeps, by: Member, userId: string, role: Role): Promise<void> {
  await deps.db.tx(async (tx) => {
    const now = deps.clock.now()
    await lockMembers(tx, by.workspaceId)
    const found = await findMember(tx, by.workspaceId, userId)
    if (found === undefined) throw memberNotFound()
    refuseAbove(by, found.role)
    refuseAbove(by, role)
    if (found.role === role) return
    await setRole(tx, by.workspaceId, userId, role)
    announceMember(tx, by.workspaceId, userId)
    const target = `member:${userId}`
    await recordAudit(tx, { scopeId: by.workspaceId, actor: by.actor, action: 'member.role-changed', target }, now)
    const above = roles.filter((each) => !roleCovers(role, each))
    await revokeTokensOf(tx, by, userId, above, now)
    await withdrawInvitationsOf(tx, by, userId, roleCovers(role, 'admin') ? above : roles, now)
  })
}
