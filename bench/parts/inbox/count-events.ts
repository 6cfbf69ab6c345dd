import type { Db } from '../../../server/src/base/db.ts'

/** How many events of a name there are. */
export async function countEvents(db: Db, name: string): Promise<number> {
  const [row] = await db.sql<{ count: number }[]>`select count(*)::integer as count from events where name = ${name}`
  return row?.count ?? 0
}
