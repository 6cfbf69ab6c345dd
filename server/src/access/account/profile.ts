import { invalid } from '../../base/errors.ts'
import { instanceScope } from '../../base/sealing/vault.ts'
import { recordAudit } from '../../team/audit.ts'
import { forgiveAttempt, ownAttempt, takeAttempt } from '../sign-in/login-throttle.ts'
import { findSession, type NewSession, type SessionRow } from '../sign-in/sessions.ts'
import { renewSession } from '../sign-in/sign-in.ts'
import type { TeamDeps, Visitor } from '../users/team-deps.ts'
import { findUser, renameUser, setPasswordHash } from '../users/users.ts'

const linkTrustMs = 15 * 60_000

export async function renameMe(deps: TeamDeps, userId: string, name: string): Promise<void> {
  const instanceKeys = await deps.vault.keyring(instanceScope)
  await deps.db.tx((tx) => renameUser(tx, instanceKeys, userId, name))
}

/**
 * Sets a new password and ends every other session. Needs the current one, unless there is none or the user has come
 * by a sign-in link in the last 15 minutes: that is how a forgotten password is replaced.
 */
export async function changePassword(
  deps: TeamDeps,
  visitor: Visitor,
  userId: string,
  change: { newPassword: string; currentPassword: string | undefined },
): Promise<NewSession> {
  const user = await findUser(deps.db.sql, userId)
  const { sessionToken } = visitor
  const session = sessionToken === null ? undefined : await findSession(deps, sessionToken, deps.wallClock.now())
  const isProven = user?.password_hash === null || cameByLink(session, deps.wallClock.now())
  if (!isProven) {
    const currentHash = user?.password_hash ?? null
    await proveWithPassword(deps, visitor, userId, 'currentPassword', change.currentPassword, currentHash)
  }
  const [passwordHash, instanceKeys] = await Promise.all([
    deps.passwords.hash(change.newPassword),
    deps.vault.keyring(instanceScope),
  ])
  return deps.db.tx(async (tx) => {
    const now = deps.wallClock.now()
    await setPasswordHash(tx, userId, passwordHash)
    const actor = { type: 'user', id: userId } as const
    const target = `user:${userId}`
    await recordAudit(tx, { scopeId: instanceScope, actor, action: 'password.changed', target }, now)
    return renewSession(tx, instanceKeys, userId, 'password', visitor, now)
  })
}

function cameByLink(session: SessionRow | undefined, now: Date): boolean {
  return session?.signed_in_by === 'link' && now.getTime() - session.created_at.getTime() < linkTrustMs
}

/** A session alone is not enough for what would keep its owner out: whoever asks must know the password as well. */
export async function proveWithPassword(
  deps: TeamDeps,
  visitor: Visitor,
  userId: string,
  field: string,
  password: string | undefined,
  passwordHash: string | null,
): Promise<void> {
  if (password === undefined) throw invalid(field, 'is required: your current password')
  const instanceKeys = await deps.vault.keyring(instanceScope)
  const counters = ownAttempt(instanceKeys, `password ${userId}`, visitor)
  await deps.db.tx((tx) => takeAttempt(tx, counters, deps.wallClock.now()))
  if (!(await deps.passwords.matches(password, passwordHash))) throw invalid(field, 'is not right')
  await deps.db.tx((tx) => forgiveAttempt(tx, counters, deps.wallClock.now()))
}
