import type { Db, Tx } from '../base/db.ts'
import { knownForMs } from './sign-in/known-sign-ins.ts'
import { sweepSessions } from './sign-in/sessions.ts'

const keptDays = 365
const dayMs = 24 * 3_600_000

/** Forgets team tokens that were revoked or expired a year ago. What they did stays in the audit log, by their id. */
export async function forgetTokens(db: Db, now: Date): Promise<number> {
  const forgotten = await db.tx(
    (tx) => tx`
      delete from team_tokens
      where least(revoked_at, expires_at) < ${now}::timestamptz - ${keptDays}::integer * interval '1 day'`,
  )
  return forgotten.count
}

/** Deletes what has run out: sessions, links, challenges, invitations, forgotten guesses and places. Call it every hour. */
export async function sweepSignIns(tx: Tx, now: Date, sessionIdleMs: number): Promise<void> {
  const yesterday = new Date(now.getTime() - dayMs)
  const lastMonth = new Date(now.getTime() - 30 * dayMs)
  await sweepSessions(tx, now, sessionIdleMs)
  await tx`delete from sign_in_challenges where expires_at < ${now}`
  await tx`delete from sign_in_links where expires_at < ${yesterday}`
  await tx`delete from invitations where expires_at < ${lastMonth}`
  await tx`delete from login_attempts where last_at < ${yesterday}`
  await tx`delete from known_sign_ins where last_at < ${new Date(now.getTime() - knownForMs)}`
}
