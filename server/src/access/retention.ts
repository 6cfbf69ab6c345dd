import type { Db } from '../base/db.ts'

const keptDays = 365

/** Forgets team tokens that were revoked or expired a year ago. What they did stays in the audit log, by their id. */
export async function forgetTokens(db: Db, now: Date): Promise<number> {
  const forgotten = await db.tx(
    (tx) => tx`
      delete from team_tokens
      where least(revoked_at, expires_at) < ${now}::timestamptz - ${keptDays}::integer * interval '1 day'`,
  )
  return forgotten.count
}
