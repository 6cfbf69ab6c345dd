import type { Sql } from '../db.ts'

/** Is there as long as foreign keys are away, and no longer. */
export const keyTable = 'foreign_keys_to_put_back'

/** Whether tables are being turned over: meanwhile the database does not hold its promises. */
export async function isUnderWay(sql: Sql): Promise<boolean> {
  return (await sql`select where to_regclass(${keyTable}) is not null`).length > 0
}
