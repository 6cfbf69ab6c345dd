import type { Tx } from '../../base/db.ts'
import { unauthorized } from '../../base/errors.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import { instanceScope } from '../../base/sealing/vault.ts'
import { emailKey } from '../../base/text/email.ts'
import { countAudit, recordAudit } from '../../team/audit.ts'
import type { TeamDeps, Visitor } from '../users/team-deps.ts'
import { findUserByEmail, type UserRow } from '../users/users.ts'
import { forgetSignIns, rememberSignIn } from './known-sign-ins.ts'
import { type Counter, forgiveAttempt, signInAttempt, takeAttempt } from './login-throttle.ts'
import { endAllSessions, type NewSession, type SignedInBy, startSession } from './sessions.ts'
import { type Challenge, startChallenge } from './sign-in-challenge.ts'

export type SignInStep = { step: 'done'; session: NewSession } | { step: 'totp'; challenge: Challenge }

/**
 * Checks e-mail and password; with a second factor on, returns a challenge for it instead of a session. A wrong
 * password and an unknown e-mail get the same 401 in the same time; too many tries a 429.
 */
export async function signIn(
  deps: TeamDeps,
  visitor: Visitor,
  { email, password }: { email: string; password: string },
): Promise<SignInStep> {
  const instanceKeys = await deps.vault.keyring(instanceScope)
  const user = await findUserByEmail(deps.db.sql, instanceKeys, email)
  const who = { account: emailKey(email), userId: user?.id ?? null }
  const counters = await deps.db.tx(async (tx): Promise<Counter[]> => {
    const taken = await signInAttempt(tx, instanceKeys, who, visitor)
    await takeAttempt(tx, taken, deps.wallClock.now())
    return taken
  })
  const isRight = await deps.passwords.matches(password, user?.password_hash ?? null)
  if (user === undefined || !isRight) {
    await recordFailure(deps, 'sign-in.failed', user?.id ?? null)
    throw unauthorized('Wrong e-mail or password')
  }
  return deps.db.tx(async (tx) => {
    const now = deps.wallClock.now()
    await forgiveAttempt(tx, counters, now)
    return admit(tx, instanceKeys, user, 'password', visitor, now)
  })
}

/** For the log: whose account it was, and nothing where there is none. What was typed may be a password. */
export function recordFailure(
  { db, wallClock }: Pick<TeamDeps, 'db' | 'wallClock'>,
  action: 'sign-in.failed' | 'second-factor.failed',
  userId: string | null,
): Promise<void> {
  const target = userId === null ? null : `user:${userId}`
  const actor = { type: 'system', id: null } as const
  return db.tx((tx) => countAudit(tx, { scopeId: instanceScope, actor, action, target }, wallClock.now()))
}

/** The first factor was right: on to the second one, or in. */
export async function admit(
  tx: Tx,
  instanceKeys: Keyring,
  user: Pick<UserRow, 'id' | 'totp_confirmed_at'>,
  signedInBy: Exclude<SignedInBy, 'invitation'>,
  visitor: Visitor,
  now: Date,
): Promise<SignInStep> {
  if (user.totp_confirmed_at !== null) {
    return { step: 'totp', challenge: await startChallenge(tx, user.id, signedInBy, now) }
  }
  return { step: 'done', session: await enter(tx, instanceKeys, user.id, signedInBy, visitor, now) }
}

export async function enter(
  tx: Tx,
  instanceKeys: Keyring,
  userId: string,
  signedInBy: SignedInBy,
  visitor: Visitor,
  now: Date,
): Promise<NewSession> {
  const { device, sessionToken } = visitor
  const session = await startSession(tx, { userId, signedInBy, device, previousToken: sessionToken }, now)
  const deviceToken = await rememberSignIn(tx, instanceKeys, userId, visitor, now)
  const actor = { type: 'user', id: userId } as const
  const target = `session:${session.id}`
  await recordAudit(tx, { scopeId: instanceScope, actor, action: 'session.started', target }, now)
  return { ...session, deviceToken }
}

/** After a change of what proves who one is: every session ends, and this browser, known alone, gets a new one. */
export async function renewSession(
  tx: Tx,
  instanceKeys: Keyring,
  userId: string,
  signedInBy: SignedInBy,
  visitor: Visitor,
  now: Date,
): Promise<NewSession> {
  await endAllSessions(tx, userId)
  await forgetSignIns(tx, userId)
  const session = await startSession(tx, { userId, signedInBy, device: visitor.device, previousToken: null }, now)
  return { ...session, deviceToken: await rememberSignIn(tx, instanceKeys, userId, visitor, now) }
}
