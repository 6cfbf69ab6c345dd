import { randomUUID } from 'node:crypto'
import type { Db } from '../../src/base/db.ts'

const channel = 'parley_tests'

/** Resolves when the pool's LISTEN connection has received all earlier notifications; the database keeps the order. */
export async function waitForNotifications(db: Db): Promise<void> {
  const mark = randomUUID()
  const { promise, resolve } = Promise.withResolvers<void>()
  await db.listen(channel, (payload) => void (payload === mark && resolve()))
  await db.sql`select pg_notify(${channel}, ${mark})`
  await promise
}
