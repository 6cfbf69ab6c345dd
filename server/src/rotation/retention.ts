import type { Db } from '../base/db.ts'

const keptDays = 365

/** Forgets rotations that ended a year ago; the keys themselves stay. */
export async function forgetRotations(db: Db, now: Date): Promise<number> {
  const forgotten = await db.tx(
    (tx) => tx`
      delete from key_rotations
      where finished_at < ${now}::timestamptz - ${keptDays}::integer * interval '1 day'`,
  )
  return forgotten.count
}
