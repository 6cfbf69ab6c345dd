import { randomInt } from 'node:crypto'
import type { Db, Tx } from '../../../src/base/db.ts'
import { newId } from '../../../src/base/id.ts'
import { recordEvents } from '../../../src/events/record.ts'
import { bodyOf, type FeedWorld } from './feed-world.ts'

const subjects = 20

class RolledBack extends Error {}

/**
 * Writers at once, each with transactions of random length that change random subjects, a quarter of which roll back.
 * Every event tells its subject (`externalRef`) and the how-manyth of that subject it is (`estimatedValue`).
 */
export async function writeEvents(w: FeedWorld, db: Db, writers: number, events: number): Promise<void> {
  const ids = Array.from({ length: subjects }, () => newId(w.clock.now()))
  await w.db.sql`create table if not exists test_subjects (id uuid primary key, told integer not null)`
  await w.db.sql`insert into test_subjects select id, 0 from unnest(${ids}::uuid[]) as id`
  let left = events
  const write = async () => {
    while (left > 0) {
      const count = randomInt(1, 6)
      const commits = randomInt(4) > 0
      if (commits) left -= count
      await db
        .tx((tx) => change(w, tx, ids, count, commits))
        .catch((error: unknown) => {
          if (!(error instanceof RolledBack)) throw error
        })
    }
  }
  await Promise.all(Array.from({ length: writers }, write))
}

async function change(w: FeedWorld, tx: Tx, ids: readonly string[], count: number, commits: boolean): Promise<void> {
  const keyring = await w.vault.keyring(w.workspaceId)
  // In one order, for they would lock each other out.
  const changed = Array.from({ length: count }, () => ids[randomInt(ids.length)] ?? '').sort()
  for (const subjectId of changed) {
    // Holds the subject until the end, as whoever changes a lead or a conversation does.
    const [row] = await tx<{ told: number }[]>`
      update test_subjects
      set told = told + 1
      where id = ${subjectId}
      returning told`
    const payload = { ...bodyOf('lead.updated'), externalRef: subjectId, estimatedValue: row?.told ?? 0 }
    await recordEvents(
      tx,
      keyring,
      w.workspaceId,
      [{ name: 'lead.updated', subjectId, connectionId: null, payload }],
      w.clock.now(),
    )
    await tx`select pg_sleep(random() * 0.004)`
  }
  if (!commits) throw new RolledBack()
}
