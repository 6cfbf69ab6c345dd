import { recordAudit } from '../base/audit.ts'
import type { Tx } from '../base/db.ts'
import { unauthorized } from '../base/errors.ts'
import { instanceScope } from '../base/vault.ts'
import { attemptKeys, forgiveAttempt, takeAttempt } from './login-throttle.ts'
import { type NewSession, type SignedInBy, startSession } from './sessions.ts'
import { type Challenge, startChallenge } from './sign-in-challenge.ts'
import type { TeamDeps, Visitor } from './team-deps.ts'
import { findUserByEmail, normalEmail, type UserRow } from './users.ts'

export type SignInStep = { step: 'done'; session: NewSession } | { step: 'totp'; challenge: Challenge }

/**
 * Checks e-mail and password; with a second factor on, answers a challenge for it instead of a session. A wrong
 * password and an unknown e-mail get the same 401 in the same time; too many tries a 429.
 */
export async function signIn(
  deps: TeamDeps,
  visitor: Visitor,
  { email, password }: { email: string; password: string },
): Promise<SignInStep> {
  const instanceKeys = await deps.vault.keyring(instanceScope)
  const keys = attemptKeys(instanceKeys, normalEmail(email), visitor.address)
  await deps.db.tx((tx) => takeAttempt(tx, keys, deps.clock.now()))
  const user = await findUserByEmail(deps.db.sql, instanceKeys, email)
  const isRight = await deps.passwords.matches(password, user?.password_hash ?? null)
  if (user === undefined || !isRight) throw unauthorized('Wrong e-mail or password')
  return deps.db.tx(async (tx) => {
    const now = deps.clock.now()
    await forgiveAttempt(tx, keys, now)
    return admit(tx, user, 'password', visitor, now)
  })
}

/** The first factor was right: on to the second one, or in. */
export async function admit(
  tx: Tx,
  user: Pick<UserRow, 'id' | 'totp_confirmed_at'>,
  signedInBy: Exclude<SignedInBy, 'invitation'>,
  visitor: Visitor,
  now: Date,
): Promise<SignInStep> {
  if (user.totp_confirmed_at !== null) {
    return { step: 'totp', challenge: await startChallenge(tx, user.id, signedInBy, now) }
  }
  return { step: 'done', session: await enter(tx, user.id, signedInBy, visitor, now) }
}

export async function enter(
  tx: Tx,
  userId: string,
  signedInBy: SignedInBy,
  visitor: Visitor,
  now: Date,
): Promise<NewSession> {
  const { device, sessionToken } = visitor
  const session = await startSession(tx, { userId, signedInBy, device, previousToken: sessionToken }, now)
  const actor = { type: 'user', id: userId } as const
  const target = `session:${session.id}`
  await recordAudit(tx, { scopeId: instanceScope, actor, action: 'session.started', target }, now)
  return session
}
