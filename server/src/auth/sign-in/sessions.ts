import { Type } from 'typebox'
import type { Fragment, Tx } from '../../base/db.ts'
import { createToken, hashToken } from '../../base/encryption/secret-token.ts'
import { newId } from '../../base/id.ts'
import { selectedAs, withColumnNames } from '../../base/postgres/rows.ts'
import { oneOf, timestamp, titled } from '../../base/route.ts'
import { text } from '../../base/schema-types.ts'
import { withIsoTimes } from '../../base/time.ts'
import { idSchema } from '../../team/team-schema.ts'
import { publishSessionRevoked, publishUserRevoked } from '../users/members.ts'
import type { TeamDeps } from '../users/users.ts'
import { rememberedForMs } from './login-throttle.ts'

/** Maximum age of a session, even if it is used. */
const maxSessionMs = 90 * 24 * 3_600_000
const touchEveryMs = 60_000

export const signInMethods = ['password', 'link', 'invitation', 'sso'] as const
export type SignInMethod = (typeof signInMethods)[number]

export interface NewSession {
  id: string
  userId: string
  /** Value of the cookie. Only the browser has it. */
  token: string
  expiresAt: Date
  /** Token that the browser keeps longer than the session, to be recognized at the next sign-in. */
  deviceToken?: string
}

export interface SessionRow {
  id: string
  userId: string
  signedInBy: SignInMethod
  device: string
  createdAt: Date
  lastSeenAt: Date
  expiresAt: Date
}

interface SessionStart {
  userId: string
  signedInBy: SignInMethod
  device: string
  /** Token that the browser sent. That session ends, to prevent session fixation. */
  previousToken: string | null
  /** Session of the identity provider that this one depends on. */
  sso?: ProviderSession | null
}

export interface ProviderSession {
  providerId: string
  /** Digest of its id; null if the provider names none. */
  sid: Buffer | null
}

export async function startSession(tx: Tx, start: SessionStart, now: Date): Promise<NewSession> {
  if (start.previousToken !== null) await endSessionsWhere(tx, tx`token_hash = ${hashToken(start.previousToken)}`)
  const { userId, signedInBy, device, sso } = start
  const session = { id: newId(now), userId, expiresAt: new Date(now.getTime() + maxSessionMs) }
  const token = createToken()
  const row = {
    ...{ ...session, signedInBy, device, tokenHash: hashToken(token), createdAt: now, lastSeenAt: now },
    ...{ ssoProviderId: sso?.providerId ?? null, ssoSid: sso?.sid ?? null },
  }
  await tx`insert into sessions ${tx.row(withColumnNames(row))}`
  return { ...session, token }
}

type SessionDeps = Pick<TeamDeps, 'db' | 'sessionIdleMs'>

const columns = selectedAs('sessions', [
  ...['id', 'userId', 'signedInBy', 'device', 'createdAt', 'lastSeenAt', 'expiresAt'],
])

/** Returns live sessions. A session ends some time after its last use, and 90 days after its start. */
const selectSessions = (
  { db: { sql }, sessionIdleMs }: SessionDeps,
  now: Date,
  rest: Fragment,
): Promise<SessionRow[]> => sql<SessionRow[]>`
  select ${columns}
  from sessions
  where expires_at > ${now}
    and last_seen_at > ${subtractMs(now, sessionIdleMs)}
    and ${rest}`

/** Returns the live session of a cookie; undefined without one. */
export async function findSession(deps: SessionDeps, token: string | null, now: Date): Promise<SessionRow | undefined> {
  if (token === null) return undefined
  const [row] = await selectSessions(deps, now, deps.db.sql`token_hash = ${hashToken(token)}`)
  return row
}

export function needsTouch(session: SessionRow, now: Date): boolean {
  return now.getTime() - session.lastSeenAt.getTime() >= touchEveryMs
}

export async function touchSession(tx: Tx, sessionId: string, now: Date): Promise<void> {
  await tx`
    update sessions
    set last_seen_at = greatest(last_seen_at, ${now})
    where id = ${sessionId}`
}

/** Returns the live sessions of a user, the last used first. */
export const listSessions = (deps: SessionDeps, userId: string, now: Date): Promise<SessionRow[]> =>
  selectSessions(deps, now, deps.db.sql`user_id = ${userId} order by last_seen_at desc, id desc`)

/** Ends the sessions that meet a condition, on every node. Returns how many. */
export async function endSessionsWhere(tx: Tx, condition: Fragment): Promise<number> {
  const ended = await tx<{ id: string }[]>`
    delete from sessions
    where ${condition}
    returning id`
  for (const { id } of ended) publishSessionRevoked(tx, id)
  return ended.length
}

/** Ends a session of the user. Returns whether it existed. */
export const endSession = async (tx: Tx, userId: string, sessionId: string): Promise<boolean> =>
  (await endSessionsWhere(tx, tx`user_id = ${userId} and id = ${sessionId}`)) > 0

/** Ends the sessions that began at an identity provider: one of its sessions, or all of a user. Returns how many. */
export const endProviderSessions = (
  tx: Tx,
  providerId: string,
  { sid, userId }: { sid: Buffer | null; userId: string | null },
): Promise<number> =>
  endSessionsWhere(
    tx,
    tx`
      sso_provider_id = ${providerId}
      and (${sid}::bytea is null or sso_sid = ${sid})
      and (${userId}::uuid is null or user_id = ${userId})
      and (${sid}::bytea is not null or ${userId}::uuid is not null)`,
  )

/** Ends every session of the user, including this one, after a change of password or second factor. */
export async function endAllSessions(tx: Tx, userId: string): Promise<void> {
  await tx`
    delete from sessions
    where user_id = ${userId}`
  publishUserRevoked(tx, userId)
}

/** Ends the user's sessions except this one. Returns how many. */
export const endOtherSessions = (tx: Tx, userId: string, keptId: string): Promise<number> =>
  endSessionsWhere(tx, tx`user_id = ${userId} and id <> ${keptId}`)

const dayMs = 24 * 3_600_000

/** Deletes expired sessions, links, challenges, invitations, attempts and sign-in origins. Call it every hour. */
export async function deleteExpiredSignIns(tx: Tx, now: Date, sessionIdleMs: number): Promise<void> {
  const yesterday = subtractMs(now, dayMs)
  await tx`delete from sessions where expires_at < ${now} or last_seen_at < ${subtractMs(now, sessionIdleMs)}`
  await tx`delete from sign_in_challenges where expires_at < ${now}`
  await tx`delete from sign_in_links where expires_at < ${yesterday}`
  await tx`delete from invitations where expires_at < ${subtractMs(now, 30 * dayMs)}`
  await tx`delete from login_attempts where last_at < ${yesterday}`
  await tx`delete from sso_logouts where expires_at < ${now}`
  await tx`delete from known_sign_ins where last_at < ${subtractMs(now, rememberedForMs)}`
}

const subtractMs = (now: Date, ms: number): Date => new Date(now.getTime() - ms)

export const csrfTokenSchema = Type.String({
  maxLength: 100,
  description: 'Send it in the `x-parley-csrf` header of every change made with this session.',
  example: 'Zx0S3mY2cJm5Tq0oZ1y8pKk4bq9n2Q7uVw6sL1rH0aE',
})

export const codeSchema = Type.String({
  minLength: 6,
  maxLength: 40,
  description: 'Six digits from the authenticator, or a recovery code.',
  example: '492039',
})

/** Fields that verify the caller again, where a session alone is not enough. */
export const reauthenticationFields = {
  password: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'Your own password. Required for signed-in users, not for tokens.',
      example: 'four plain words together',
    }),
  ),
  code: Type.Optional(codeSchema),
}

/** Result of a sign-in step: signed in, or second factor required. */
export const signInSchema = titled('SignInStep', {
  step: Type.Unsafe<'done' | 'totp'>({
    type: 'string',
    enum: ['done', 'totp'],
    description: '`done`: the session cookie is set. `totp`: send a code with the challenge to /sign-in/totp.',
    example: 'done',
  }),
  csrfToken: Type.Optional(csrfTokenSchema),
  challenge: Type.Optional(text(100, 'Valid for five minutes.', { example: 'q3v0nYxB0d…' })),
})

export const sessionSchema = titled('Session', {
  id: idSchema('The session.'),
  device: text(100, 'Browser and system.', { example: 'Firefox on Linux' }),
  signedInBy: oneOf(signInMethods, {
    description: 'How it began; `sso`: at an identity provider, with its second factor instead of ours.',
    example: 'password',
  }),
  current: Type.Boolean({ description: 'Whether it is the session of this request.', example: true }),
  createdAt: timestamp('Start time.'),
  lastSeenAt: timestamp(
    'Time of its last request, to the minute. Without use it ends 14 days later, unless the installation configures another period.',
  ),
  expiresAt: timestamp('Time at which it ends even if it is used.'),
})

export const presentSession = ({ userId: _, ...row }: SessionRow, currentId: string) => ({
  ...withIsoTimes(row),
  current: row.id === currentId,
})
