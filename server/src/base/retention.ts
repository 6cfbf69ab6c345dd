import { byWorkspace, type OneWorkspace } from './citus/distributed-sql.ts'
import type { Db, Tx } from './db.ts'

/** Rows of a table that are kept for some days, and whose key grows with time. */
export interface AgingTable {
  table: string
  /** The column that begins the key: a workspace's id, or null for rows of the whole installation. */
  scope: 'workspace_id' | 'scope_id'
  /** What rows of one scope are ordered by, the oldest first; it has an index behind the scope. */
  order: string
  /** When a row was made. */
  time: string
  /** The column of `workspaces` that says for how many days, or a number that holds for all. */
  days: string | number
}

/** Workspaces that one transaction works for, and rows that it removes of each. */
const page = 50
const batch = 100
/** One turn of a scheduled job; the next turn goes on. */
const turnMs = 10_000

/**
 * Removes rows that are over their days, in rounds: in each round every workspace has its turn, with a batch, and each
 * transaction removes 5,000 rows at most. Returns how many it removed. What others hold locked waits for the next turn.
 */
export async function removeAged(db: Db, tables: readonly AgingTable[], now: Date): Promise<number> {
  const endsAt = performance.now() + turnMs
  let removed = 0
  for (;;) {
    let ofRound = 0
    for await (const workspaceIds of pagesOfWorkspaces(db)) {
      for (const table of tables) {
        if (performance.now() > endsAt) return removed + ofRound
        ofRound += await removeBatch(db, table, workspaceIds, now)
      }
    }
    if (ofRound === 0) return removed
    removed += ofRound
  }
}

/** Every workspace once, from a random one on: what a turn does not come to is not always the same. */
export async function* pagesOfWorkspaces(db: Db): AsyncGenerator<string[]> {
  const rows = await db.sql<{ id: string }[]>`
    with start as (select gen_random_uuid() as id)
    select w.id
    from workspaces w, start
    order by md5(w.id::text) < md5(start.id::text), md5(w.id::text)`
  for (let at = 0; at < rows.length; at += page) yield rows.slice(at, at + page).map(({ id }) => id)
}

/** The same for rows of one scope that is no workspace. */
export async function removeAgedOf(
  db: Db,
  table: AgingTable & { days: number },
  scope: string,
  now: Date,
): Promise<number> {
  return removeBatch(db, table, [scope], now)
}

// The oldest rows of each workspace are looked at, and their time is asked of them: whatever their number and that of the
// young ones, the index is read as far as the batch is long.
async function removeBatch(db: Db, table: AgingTable, scopes: readonly string[], now: Date): Promise<number> {
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
  { table, scope, order, time, days }: AgingTable,
  { scopes, only }: { scopes: readonly string[]; only: OneWorkspace },
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
