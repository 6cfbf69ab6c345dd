import type { Db } from '../../../server/src/base/db.ts'

/** Returns the number of events with a name. */
export async function countEvents(db: Db, name: string): Promise<number> {
  const [row] = await db.sql<{ count: number }[]>`select count(*)::integer as count from events where name = ${name}`
  return row?.count ?? 0
}
