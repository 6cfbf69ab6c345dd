import { byWorkspace, type OnlyWorkspace } from './citus/distributed-sql.ts'
import type { Db, Tx } from './db.ts'

/** A table whose rows are kept for some days, and whose key grows with time. */
export interface RetentionTable {
  table: string
  /** First column of the key: a workspace id, or the scope id of rows of the whole installation. */
  scope: 'workspace_id' | 'scope_id'
  /** Column that orders the rows of a scope, oldest first; indexed after the scope. */
  order: string
  /** Column with the creation time. */
  time: string
  /** Column of `workspaces` with the number of days, or a number for all workspaces. */
  days: string | number
}

/** Workspaces per transaction, and rows removed per workspace. */
const page = 50
const batch = 100
/** Duration of one run; the next run continues. */
const maxRunMs = 10_000

/**
 * Removes expired rows in rounds: each round removes a batch from every workspace, and each transaction at most 5,000
 * rows. Skips locked rows until the next run. Returns the number of removed rows.
 */
export async function removeExpired(db: Db, tables: readonly RetentionTable[], now: Date): Promise<number> {
  const endsAt = performance.now() + maxRunMs
  let removed = 0
  for (;;) {
    let removedInRound = 0
    for await (const workspaceIds of listWorkspacePages(db)) {
      for (const table of tables) {
        if (performance.now() > endsAt) return removed + removedInRound
        removedInRound += await removeBatch(db, table, workspaceIds, now)
      }
    }
    if (removedInRound === 0) return removed
    removed += removedInRound
  }
}

/** Lists every workspace once, starting at a random one, so that an aborted run does not always skip the same ones. */
export async function* listWorkspacePages(db: Db): AsyncGenerator<string[]> {
  const rows = await db.sql<{ id: string }[]>`
    with start as (select gen_random_uuid() as id)
    select w.id
    from workspaces w, start
    order by md5(w.id::text) < md5(start.id::text), md5(w.id::text)`
  for (let at = 0; at < rows.length; at += page) yield rows.slice(at, at + page).map(({ id }) => id)
}

/**
 * Removes one batch for each of these workspaces, or for another scope whose number of days is not a setting. Takes the
 * oldest rows of each and then checks their time: the index scan is as short as the batch, however many rows there are
 * and however few have expired.
 */
export async function removeBatch(
  db: Db,
  table: RetentionTable,
  scopes: readonly string[],
  now: Date,
): Promise<number> {
  const counts = await byWorkspace(
    db.sql,
    scopes,
    (scope) => scope,
    async (some, only) => [await db.statement((tx) => removeOldest(tx, table, { scopes: some, only }, now))],
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

async function removeOldest(
  tx: Tx,
  { table, scope, order, time, days }: RetentionTable,
  { scopes, only }: { scopes: readonly string[]; only: OnlyWorkspace },
  now: Date,
): Promise<number> {
  const andOnly = only === null ? tx`` : tx`and ${tx(scope)} = ${only}`
  const keptDays =
    typeof days === 'number' ? tx`${days}::integer` : tx`(select ${tx(days)} from workspaces where id = s.id)`
  const removed = await tx`
    delete from ${tx(table)}
    where ctid = any (array(
      select o.ctid
      from unnest(${[...scopes]}::uuid[]) as s (id)
      cross join lateral (
        select ctid, ${tx(time)} as made_at
        from ${tx(table)}
        where ${tx(scope)} = s.id
          ${andOnly}
        order by ${tx(order)}
        limit ${batch}
        for update skip locked
      ) as o
      where o.made_at < ${now}::timestamptz - ${keptDays} * interval '1 day'
    ))
      ${andOnly}`
  return removed.count
}
