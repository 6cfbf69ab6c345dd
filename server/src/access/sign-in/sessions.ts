import type { Tx } from '../../base/db.ts'
import { newId } from '../../base/id.ts'
import { hashToken, makeToken } from '../../base/sealing/secret-token.ts'
import { announceSession, announceUser } from '../users/ended-access.ts'
import type { TeamDeps } from '../users/team-deps.ts'
import { knownForMs } from './known-sign-ins.ts'

/** However much it is used. */
const longestMs = 90 * 24 * 3_600_000
const touchEveryMs = 60_000

export type SignedInBy = 'password' | 'link' | 'invitation'

export interface NewSession {
  id: string
  userId: string
  /** The cookie's value: known to the browser alone. */
  token: string
  expiresAt: Date
  /** What the browser keeps longer than the session, to be known by at the next sign-in. */
  deviceToken?: string
}

export interface SessionRow {
  id: string
  user_id: string
  signed_in_by: SignedInBy
  device: string
  created_at: Date
  last_seen_at: Date
  expires_at: Date
}

export interface SessionStart {
  userId: string
  signedInBy: SignedInBy
  device: string
  /** The token that the browser came with: that session ends, so that nobody can plant one. */
  previousToken: string | null
}

export async function startSession(tx: Tx, start: SessionStart, now: Date): Promise<NewSession> {
  if (start.previousToken !== null) await endSessionOf(tx, start.previousToken)
  const session = {
    id: newId(now),
    userId: start.userId,
    token: makeToken(),
    expiresAt: new Date(now.getTime() + longestMs),
  }
  await tx`
    insert into sessions (id, user_id, token_hash, signed_in_by, device, created_at, last_seen_at, expires_at)
    values (
      ${session.id},
      ${start.userId},
      ${hashToken(session.token)},
      ${start.signedInBy},
      ${start.device},
      ${now},
      ${now},
      ${session.expiresAt}
    )`
  return session
}

type SessionDeps = Pick<TeamDeps, 'db' | 'sessionIdleMs'>

/** The live session of a cookie: it ends some time after its last use, and 90 days after its start. */
export async function findSession(
  { db, sessionIdleMs }: SessionDeps,
  token: string,
  now: Date,
): Promise<SessionRow | undefined> {
  const [row] = await db.sql<SessionRow[]>`
    select id, user_id, signed_in_by, device, created_at, last_seen_at, expires_at
    from sessions
    where token_hash = ${hashToken(token)}
      and expires_at > ${now}
      and last_seen_at > ${before(now, sessionIdleMs)}`
  return row
}

export function needsTouch(session: SessionRow, now: Date): boolean {
  return now.getTime() - session.last_seen_at.getTime() >= touchEveryMs
}

export async function touchSession(tx: Tx, sessionId: string, now: Date): Promise<void> {
  await tx`
    update sessions
    set last_seen_at = greatest(last_seen_at, ${now})
    where id = ${sessionId}`
}

export async function listSessions(
  { db, sessionIdleMs }: SessionDeps,
  userId: string,
  now: Date,
): Promise<SessionRow[]> {
  return db.sql<SessionRow[]>`
    select id, user_id, signed_in_by, device, created_at, last_seen_at, expires_at
    from sessions
    where user_id = ${userId}
      and expires_at > ${now}
      and last_seen_at > ${before(now, sessionIdleMs)}
    order by last_seen_at desc, id desc`
}

/** Returns whether the user had such a session. */
export async function endSession(tx: Tx, userId: string, sessionId: string): Promise<boolean> {
  const ended = await tx`
    delete from sessions
    where user_id = ${userId}
      and id = ${sessionId}`
  announceSession(tx, sessionId)
  return ended.count > 0
}

/** Ends every session of the user, this one too: after a change of password or second factor. */
export async function endAllSessions(tx: Tx, userId: string): Promise<void> {
  await tx`
    delete from sessions
    where user_id = ${userId}`
  announceUser(tx, userId)
}

/** Ends those of the user's sessions that are not this one; returns how many. */
export async function endOtherSessions(tx: Tx, userId: string, keptId: string): Promise<number> {
  const ended = await tx<{ id: string }[]>`
    delete from sessions
    where user_id = ${userId}
      and id <> ${keptId}
    returning id`
  for (const { id } of ended) announceSession(tx, id)
  return ended.length
}

async function endSessionOf(tx: Tx, token: string): Promise<void> {
  const ended = await tx<{ id: string }[]>`
    delete from sessions
    where token_hash = ${hashToken(token)}
    returning id`
  for (const { id } of ended) announceSession(tx, id)
}

const dayMs = 24 * 3_600_000

/** Deletes what has run out: sessions, links, challenges, invitations, forgotten guesses and places. Call it every hour. */
export async function sweepSignIns(tx: Tx, now: Date, sessionIdleMs: number): Promise<void> {
  const yesterday = before(now, dayMs)
  await tx`delete from sessions where expires_at < ${now} or last_seen_at < ${before(now, sessionIdleMs)}`
  await tx`delete from sign_in_challenges where expires_at < ${now}`
  await tx`delete from sign_in_links where expires_at < ${yesterday}`
  await tx`delete from invitations where expires_at < ${before(now, 30 * dayMs)}`
  await tx`delete from login_attempts where last_at < ${yesterday}`
  await tx`delete from known_sign_ins where last_at < ${before(now, knownForMs)}`
}

const before = (now: Date, ms: number): Date => new Date(now.getTime() - ms)
