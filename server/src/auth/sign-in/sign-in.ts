import type { Sql, Tx } from '../../base/db.ts'
import { instanceScope } from '../../base/encryption/key-store.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { createToken, hashToken } from '../../base/encryption/secret-token.ts'
import { unauthorized } from '../../base/errors.ts'
import { emailKey } from '../../base/text/email.ts'
import { countAudit, instanceEntry, recordAudit, systemActor, userActor } from '../../team/audit.ts'
import { refuseLocalSignIn } from '../providers/forced.ts'
import { findUser, findUserByEmail, type TeamDeps, type UserRow, type Visitor } from '../users/users.ts'
import {
  type Counter,
  clearAttempt,
  countAttempt,
  forgetSignInOrigins,
  ownAttempt,
  rememberSignInOrigin,
  signInAttempt,
} from './login-throttle.ts'
import { useSecondFactor } from './second-factor.ts'
import { endAllSessions, type NewSession, type ProviderSession, type SignInMethod, startSession } from './sessions.ts'

export type SignInStep = { step: 'done'; session: NewSession } | { step: 'totp'; challenge: Challenge }

/**
 * Checks e-mail and password. Returns a challenge instead of a session if a second factor is on. Throws the same 401 in
 * the same time for a wrong password and an unknown e-mail, and 429 after too many attempts.
 */
export async function signIn(
  deps: TeamDeps,
  visitor: Visitor,
  { email, password }: { email: string; password: string },
): Promise<SignInStep> {
  const instanceKeys = await deps.keyStore.keyring(instanceScope)
  const user = await findUserByEmail(deps.db.sql, instanceKeys, email)
  const accountRef = { account: emailKey(email), userId: user?.id ?? null }
  const counters = await deps.db.tx(async (tx): Promise<Counter[]> => {
    const attemptCounters = await signInAttempt(tx, instanceKeys, accountRef, visitor)
    await countAttempt(tx, attemptCounters, deps.wallClock.now())
    return attemptCounters
  })
  const isRight = await deps.passwords.matches(password, user?.password_hash ?? null)
  if (user === undefined || !isRight) {
    await recordFailure(deps, 'sign-in.failed', user?.id ?? null)
    throw unauthorized('Wrong e-mail or password')
  }
  return deps.db.tx(async (tx) => {
    const now = deps.wallClock.now()
    await clearAttempt(tx, counters, now)
    return continueSignIn(tx, instanceKeys, user, 'password', visitor, now)
  })
}

/** Logs the account of a failed sign-in, or none if unknown. Never logs the input, which may be a password. */
function recordFailure(
  { db, wallClock }: Pick<TeamDeps, 'db' | 'wallClock'>,
  action: 'sign-in.failed' | 'second-factor.failed',
  userId: string | null,
): Promise<void> {
  const entry = instanceEntry(systemActor, action, userId === null ? null : `user:${userId}`)
  return db.tx((tx) => countAudit(tx, entry, wallClock.now()))
}

/** Starts the second factor after a right first one, or signs in if there is none. */
async function continueSignIn(
  tx: Tx,
  instanceKeys: Keyring,
  user: UserRow,
  signedInBy: LocalMethod,
  visitor: Visitor,
  now: Date,
): Promise<SignInStep> {
  await refuseLocalSignIn(tx, instanceKeys, user, signedInBy)
  if (user.totp_confirmed_at !== null) {
    return { step: 'totp', challenge: await startChallenge(tx, user.id, signedInBy, now) }
  }
  return { step: 'done', session: await completeSignIn(tx, instanceKeys, user.id, signedInBy, visitor, now) }
}

export async function completeSignIn(
  tx: Tx,
  instanceKeys: Keyring,
  userId: string,
  signedInBy: SignInMethod,
  visitor: Visitor,
  now: Date,
  sso: ProviderSession | null = null,
): Promise<NewSession> {
  const { device, sessionToken } = visitor
  const session = await startSession(tx, { userId, signedInBy, device, previousToken: sessionToken, sso }, now)
  const deviceToken = await rememberSignInOrigin(tx, instanceKeys, userId, visitor, now)
  await recordAudit(tx, instanceEntry(userActor(userId), 'session.started', `session:${session.id}`), now)
  return { ...session, deviceToken }
}

/** Ends every session and starts a new one for this browser, the only one remembered. For changes of credentials. */
export async function renewSession(
  tx: Tx,
  instanceKeys: Keyring,
  userId: string,
  signedInBy: SignInMethod,
  visitor: Visitor,
  now: Date,
): Promise<NewSession> {
  await endAllSessions(tx, userId)
  await forgetSignInOrigins(tx, userId)
  const session = await startSession(tx, { userId, signedInBy, device: visitor.device, previousToken: null }, now)
  return { ...session, deviceToken: await rememberSignInOrigin(tx, instanceKeys, userId, visitor, now) }
}

const challengeLifeMs = 5 * 60_000

interface Challenge {
  /** Must be sent back with the code. */
  token: string
  expiresAt: Date
}

/** Ways in that our second factor follows. The provider of a single sign-on has asked for its own. */
type LocalMethod = 'password' | 'link'

interface ChallengeRow {
  user_id: string
  signed_in_by: LocalMethod
}

async function startChallenge(
  tx: Tx,
  userId: string,
  signedInBy: ChallengeRow['signed_in_by'],
  now: Date,
): Promise<Challenge> {
  const challenge = { token: createToken(), expiresAt: new Date(now.getTime() + challengeLifeMs) }
  await tx`
    insert into sign_in_challenges (token_hash, user_id, signed_in_by, expires_at)
    values (${hashToken(challenge.token)}, ${userId}, ${signedInBy}, ${challenge.expiresAt})`
  return challenge
}

async function findChallenge(sql: Sql, token: string, now: Date): Promise<ChallengeRow | undefined> {
  const [row] = await sql<ChallengeRow[]>`
    select user_id, signed_in_by
    from sign_in_challenges
    where token_hash = ${hashToken(token)}
      and expires_at > ${now}`
  return row
}

/** Deletes the challenge. Returns whether it existed: of several concurrent right answers, one signs in. */
async function endChallenge(tx: Tx, token: string): Promise<boolean> {
  const ended = await tx`
    delete from sign_in_challenges
    where token_hash = ${hashToken(token)}`
  return ended.count > 0
}

/** Signs in by a code of the authenticator or a recovery code. Attempts are throttled like passwords. */
export async function signInWithCode(
  deps: TeamDeps,
  visitor: Visitor,
  { challenge, code }: { challenge: string; code: string },
): Promise<NewSession> {
  const found = await findChallenge(deps.db.sql, challenge, deps.wallClock.now())
  if (found === undefined) throw challengeExpired()
  const instanceKeys = await deps.keyStore.keyring(instanceScope)
  const counters = ownAttempt(instanceKeys, `totp ${found.user_id}`, visitor)
  await deps.db.tx((tx) => countAttempt(tx, counters, deps.wallClock.now()))
  const session = await deps.db.tx(async (tx) => {
    const now = deps.wallClock.now()
    const user = await findUser(tx, found.user_id)
    if (user === undefined) throw challengeExpired()
    await refuseLocalSignIn(tx, instanceKeys, user, found.signed_in_by)
    if (!(await useSecondFactor(tx, instanceKeys, found.user_id, code, now))) return null
    if (!(await endChallenge(tx, challenge))) throw challengeExpired()
    await clearAttempt(tx, counters, now)
    return completeSignIn(tx, instanceKeys, found.user_id, found.signed_in_by, visitor, now)
  })
  if (session !== null) return session
  await recordFailure(deps, 'second-factor.failed', found.user_id)
  throw unauthorized('Wrong code')
}

const challengeExpired = () => unauthorized('This sign-in took too long. Sign in again.')

const linkLifeMs = 24 * 3_600_000

interface SignInLink {
  url: string
  expiresAt: Date
}

/** Creates a link that signs in as this user, once. Valid for 24 hours by default. For no user it signs nobody in. */
export async function createSignInLink(
  tx: Tx,
  publicUrl: string,
  userId: string,
  now: Date,
  validMs: number = linkLifeMs,
): Promise<SignInLink> {
  const token = createToken()
  const expiresAt = new Date(now.getTime() + validMs)
  await tx`
    insert into sign_in_links (token_hash, user_id, created_at, expires_at)
    select ${hashToken(token)}::bytea, id, ${now}::timestamptz, ${expiresAt}::timestamptz
    from users
    where id = ${userId}`
  return { url: `${publicUrl}/sign-in/${token}`, expiresAt }
}

/** Consumes the link: of several concurrent uses, one succeeds. A second factor is still required. */
export async function signInByLink(deps: TeamDeps, visitor: Visitor, token: string): Promise<SignInStep> {
  const instanceKeys = await deps.keyStore.keyring(instanceScope)
  return deps.db.tx(async (tx) => {
    const now = deps.wallClock.now()
    const userId = await consumeLink(tx, token, now)
    const user = userId === undefined ? undefined : await findUser(tx, userId)
    if (user === undefined) throw unauthorized('This link is no longer valid. Ask for a new one.')
    return continueSignIn(tx, instanceKeys, user, 'link', visitor, now)
  })
}

/** Deletes unused links, and sign-ins that wait for their second factor. */
export async function deletePendingSignIns(tx: Tx, userId: string): Promise<void> {
  await tx`
    delete from sign_in_links
    where user_id = ${userId}
      and used_at is null`
  await tx`
    delete from sign_in_challenges
    where user_id = ${userId}`
}

async function consumeLink(tx: Tx, token: string, now: Date): Promise<string | undefined> {
  const [row] = await tx<{ user_id: string }[]>`
    update sign_in_links
    set used_at = ${now}
    where token_hash = ${hashToken(token)}
      and used_at is null
      and expires_at > ${now}
    returning user_id`
  return row?.user_id
}
