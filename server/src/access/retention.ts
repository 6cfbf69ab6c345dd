import type { Tx } from '../base/db.ts'
import { knownForMs } from './sign-in/known-sign-ins.ts'
import { sweepSessions } from './sign-in/sessions.ts'

const dayMs = 24 * 3_600_000

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
