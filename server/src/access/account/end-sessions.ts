import type { Tx } from '../../base/db.ts'
import { notFound } from '../../base/errors.ts'
import { instanceScope } from '../../base/sealing/vault.ts'
import { recordAudit } from '../../team/audit.ts'
import type { Member, TeamActor } from '../../team/member.ts'
import { forgetSignIns } from '../sign-in/known-sign-ins.ts'
import { endAllSessions, endOtherSessions } from '../sign-in/sessions.ts'
import { dropSignIns } from '../sign-in/sign-in-link.ts'
import { findMember, memberNotFound } from '../users/members.ts'
import type { TeamDeps } from '../users/team-deps.ts'
import { findUserByEmail } from '../users/users.ts'

/** Signs a member of the workspace out everywhere, and voids the ways in that are half gone. */
export async function endSessionsOfMember(deps: TeamDeps, by: Member, userId: string): Promise<void> {
  await deps.db.tx(async (tx) => {
    if ((await findMember(tx, by.workspaceId, userId)) === undefined) throw memberNotFound()
    await endSessions(tx, userId, by.actor, by.workspaceId, deps.wallClock.now())
  })
}

/** The same of any user, for an operator. */
export async function endSessionsOfEmail(deps: TeamDeps, by: TeamActor, email: string): Promise<void> {
  const instanceKeys = await deps.vault.keyring(instanceScope)
  await deps.db.tx(async (tx) => {
    const user = await findUserByEmail(tx, instanceKeys, email)
    if (user === undefined) throw notFound('No user has this e-mail')
    await endSessions(tx, user.id, by, instanceScope, deps.wallClock.now())
  })
}

/** Ends the user's own sessions but this one; returns how many. */
export async function endMyOtherSessions(deps: TeamDeps, userId: string, sessionId: string): Promise<number> {
  return deps.db.tx(async (tx) => {
    const count = await endOtherSessions(tx, userId, sessionId)
    const actor = { type: 'user', id: userId } as const
    const entry = { scopeId: instanceScope, actor, action: 'session.others-ended', target: `user:${userId}` }
    if (count > 0) await recordAudit(tx, entry, deps.wallClock.now(), count)
    return count
  })
}

async function endSessions(tx: Tx, userId: string, actor: TeamActor, scopeId: string, now: Date): Promise<void> {
  await endAllSessions(tx, userId)
  await dropSignIns(tx, userId)
  await forgetSignIns(tx, userId)
  await recordAudit(tx, { scopeId, actor, action: 'session.all-ended', target: `user:${userId}` }, now)
}
