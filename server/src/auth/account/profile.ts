import type { Tx } from '../../base/db.ts'
import { instanceScope } from '../../base/encryption/key-store.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { conflict, invalid } from '../../base/errors.ts'
import { instanceEntry, recordAudit, userActor } from '../../team/audit.ts'
import type { TeamCaller } from '../../team/member.ts'
import { refuseLocalSignIn } from '../providers/forced.ts'
import { clearAttempt, countAttempt, ownAttempt } from '../sign-in/login-throttle.ts'
import {
  createEnrolment,
  type Enrolment,
  hashRecoveryCode,
  makeRecoveryCodes,
  totpSecretContext,
  useSecondFactor,
  useTotpCode,
} from '../sign-in/second-factor.ts'
import { findSession, type NewSession, type SessionRow } from '../sign-in/sessions.ts'
import { deletePendingSignIns, renewSession } from '../sign-in/sign-in.ts'
import {
  changePerson,
  decryptPerson,
  findUser,
  setPasswordHash,
  type TeamDeps,
  type UserRow,
  type Visitor,
} from '../users/users.ts'

const linkTrustMs = 15 * 60_000

export async function renameProfile(deps: TeamDeps, userId: string, name: string): Promise<void> {
  const instanceKeys = await deps.keyStore.keyring(instanceScope)
  await deps.db.tx((tx) => changePerson(tx, instanceKeys, userId, { name }))
}

/**
 * Sets a new password, ends every other session and voids unused sign-in links. Requires the current password, unless there is none or the user
 * signed in with a link in the last 15 minutes, which is how a forgotten password is replaced.
 */
export async function changePassword(
  deps: TeamDeps,
  visitor: Visitor,
  userId: string,
  change: { newPassword: string; currentPassword: string | undefined },
): Promise<NewSession> {
  const user = await findUser(deps.db.sql, userId)
  if (user !== undefined) {
    // A password would be of no use to those who sign in only at an identity provider.
    await deps.keyStore.withKeyring(instanceScope, (keys) => refuseLocalSignIn(deps.db.sql, keys, user, 'password'))
  }
  const session = await findSession(deps, visitor.sessionToken, deps.wallClock.now())
  const isVerified = user?.password_hash === null || isRecentLinkSession(session, deps.wallClock.now())
  if (!isVerified) {
    const currentHash = user?.password_hash ?? null
    await checkPassword(deps, visitor, userId, 'currentPassword', change.currentPassword, currentHash)
  }
  const [passwordHash, instanceKeys] = await Promise.all([
    deps.passwords.hash(change.newPassword),
    deps.keyStore.keyring(instanceScope),
  ])
  return deps.db.tx(async (tx) => {
    const now = deps.wallClock.now()
    await setPasswordHash(tx, userId, passwordHash)
    // Further links in the mailbox must not sign in either.
    await deletePendingSignIns(tx, userId)
    await recordUserChange(tx, userId, 'password.changed', now)
    return renewSession(tx, instanceKeys, userId, 'password', visitor, now)
  })
}

function isRecentLinkSession(session: SessionRow | undefined, now: Date): boolean {
  return session?.signedInBy === 'link' && now.getTime() - session.createdAt.getTime() < linkTrustMs
}

/** Checks the password. A stolen session alone must not be able to lock its owner out. */
async function checkPassword(
  deps: TeamDeps,
  visitor: Visitor,
  userId: string,
  field: string,
  password: string | undefined,
  passwordHash: string | null,
): Promise<void> {
  if (password === undefined) throw invalid(field, 'is required: enter your current password')
  const instanceKeys = await deps.keyStore.keyring(instanceScope)
  const counters = ownAttempt(instanceKeys, `password ${userId}`, visitor)
  await deps.db.tx((tx) => countAttempt(tx, counters, deps.wallClock.now()))
  if (!(await deps.passwords.matches(password, passwordHash))) throw invalid(field, 'is not right')
  await deps.db.tx((tx) => clearAttempt(tx, counters, deps.wallClock.now()))
}

/**
 * Creates a secret for an authenticator. Sign-in does not require it until `confirmTotp` proves that it works. Requires
 * the password: otherwise a stolen session could lock its owner out.
 */
export async function enrolTotp(
  deps: TeamDeps,
  visitor: Visitor,
  userId: string,
  password: string,
): Promise<Enrolment> {
  await requirePassword(deps, visitor, userId, password)
  const instanceKeys = await deps.keyStore.keyring(instanceScope)
  return deps.db.tx(async (tx) => {
    const user = await findUser(tx, userId)
    if (user === undefined) throw new Error('The signed-in user no longer exists')
    const enrolment = createEnrolment(decryptPerson(instanceKeys, userId, user.person).email)
    const stored = await tx`
      update users
      set totp_secret = ${instanceKeys.encrypt(totpSecretContext(userId), enrolment.secret)},
        totp_last_step = null
      where id = ${userId}
        and totp_confirmed_at is null`
    if (stored.count === 0) throw conflict('Two-factor sign-in is already on. Turn it off first.')
    return enrolment
  })
}

/** Turns the second factor on, ends every other session and returns ten recovery codes, which are shown only once. */
export async function confirmTotp(
  deps: TeamDeps,
  visitor: Visitor,
  userId: string,
  code: string,
): Promise<{ recoveryCodes: string[]; session: NewSession }> {
  const attempt = { use: useTotpCode, code, refusal: 'is not the current code' }
  return consumeCode(deps, visitor, userId, attempt, async (tx, instanceKeys, now) => {
    const recoveryCodes = makeRecoveryCodes()
    const stored = await tx`
      update users
      set totp_confirmed_at = ${now},
        recovery_hashes = ${recoveryCodes.map(hashRecoveryCode)}::text[]
      where id = ${userId}
        and totp_confirmed_at is null`
    if (stored.count === 0) throw conflict('Two-factor sign-in is already on')
    await recordUserChange(tx, userId, 'two-factor.enabled', now)
    return { recoveryCodes, session: await renewSession(tx, instanceKeys, userId, 'password', visitor, now) }
  })
}

/** Turns the second factor off. Requires the password and a code, as sign-in does. */
export async function disableTotp(
  deps: TeamDeps,
  visitor: Visitor,
  userId: string,
  proof: { password: string; code: string },
): Promise<NewSession> {
  await requirePassword(deps, visitor, userId, proof.password)
  return consumeCode(deps, visitor, userId, anyCodeAttempt(proof.code), async (tx, instanceKeys, now) => {
    await tx`
      update users
      set totp_secret = null, totp_confirmed_at = null, totp_last_step = null, recovery_hashes = '{}'
      where id = ${userId}`
    await recordUserChange(tx, userId, 'two-factor.disabled', now)
    return renewSession(tx, instanceKeys, userId, 'password', visitor, now)
  })
}

/**
 * Verifies the caller again where a session alone could lock its owner out: by password, and by a code if two-factor
 * sign-in is on. Does nothing for a token, because no open browser exposes it.
 */
export async function reauthenticate(
  deps: TeamDeps,
  visitor: Visitor,
  { userId }: TeamCaller,
  proof: { password?: string; code?: string },
): Promise<void> {
  if (userId === null) return
  const { totp_confirmed_at } = await requirePassword(deps, visitor, userId, proof.password)
  if (totp_confirmed_at === null) return
  if (proof.code === undefined) throw invalid('code', 'is required: enter a code from your authenticator')
  await consumeCode(deps, visitor, userId, anyCodeAttempt(proof.code), async () => {})
}

interface CodeAttempt {
  use: typeof useTotpCode
  code: string
  refusal: string
}

/** Accepts a code of the authenticator or a recovery code. */
const anyCodeAttempt = (code: string): CodeAttempt => ({ use: useSecondFactor, code, refusal: 'is not right' })

/** Runs the work in the transaction that consumes the code. */
async function consumeCode<T>(
  deps: TeamDeps,
  visitor: Visitor,
  userId: string,
  { use, code, refusal }: CodeAttempt,
  work: (tx: Tx, instanceKeys: Keyring, now: Date) => Promise<T>,
): Promise<T> {
  const instanceKeys = await deps.keyStore.keyring(instanceScope)
  const counters = ownAttempt(instanceKeys, `totp ${userId}`, visitor)
  await deps.db.tx((tx) => countAttempt(tx, counters, deps.wallClock.now()))
  return deps.db.tx(async (tx) => {
    const now = deps.wallClock.now()
    if (!(await use(tx, instanceKeys, userId, code, now))) throw invalid('code', refusal)
    await clearAttempt(tx, counters, now)
    return work(tx, instanceKeys, now)
  })
}

async function requirePassword(
  deps: TeamDeps,
  visitor: Visitor,
  userId: string,
  password: string | undefined,
): Promise<UserRow> {
  const user = await findUser(deps.db.sql, userId)
  if (user?.password_hash == null) throw conflict('You have no password yet. Set one first.')
  await checkPassword(deps, visitor, userId, 'password', password, user.password_hash)
  return user
}

const recordUserChange = (tx: Tx, userId: string, action: string, now: Date): Promise<void> =>
  recordAudit(tx, instanceEntry(userActor(userId), action, `user:${userId}`), now)
