import { type Db, type Fragment, processName, type Sql } from '../db.ts'
import { hasCitus } from './table-placement.ts'

// Keyed by process name, which a transaction shares with its pool.
const distributed = new Set<string>()

/** Detects, once at process start, whether the tables of workspaces are distributed. */
export async function detectDistribution({ sql }: Db): Promise<void> {
  if (!(await hasCitus(sql))) return
  const [found] = await sql<{ isSpread: boolean }[]>`
    select exists (select 1 from pg_dist_partition where partmethod = 'h') as "isSpread"`
  if (found?.isSpread) assumeDistributed(sql)
}

/** Makes statements suit several servers; on one server they are correct too, but slower. */
export function assumeDistributed(sql: Sql): void {
  distributed.add(processName(sql))
}

/** Returns true if tables are distributed: statements that lock or change rows must then name their workspace. */
export const isDistributed = (sql: Sql): boolean => distributed.has(processName(sql))

/** The workspace that a statement is restricted to; null for all that it receives. */
export type OnlyWorkspace = string | null

/** Runs `work` for all items at once, or with distributed tables for each workspace, which the statement must name. */
export async function byWorkspace<I, R>(
  sql: Sql,
  items: readonly I[],
  workspaceOf: (item: I) => string,
  work: (items: readonly I[], only: OnlyWorkspace) => Promise<readonly R[]>,
): Promise<readonly R[]> {
  if (items.length === 0) return []
  if (!isDistributed(sql)) return work(items, null)
  const results: R[] = []
  for (const [workspaceId, ownItems] of Map.groupBy(items, workspaceOf))
    results.push(...(await work(ownItems, workspaceId)))
  return results
}

/** Candidates listed per claim, enough unless others claim almost all of the first ones. */
export const maxCandidates = 20

/**
 * Returns the first successful claim in these workspaces; tries each once. For claims in two steps that work on one or
 * several servers: list candidates without a lock, then claim in one workspace what is still free.
 */
export async function claimFirst<R>(
  candidates: readonly { workspaceId: string }[],
  claim: (workspaceId: string) => Promise<R | undefined>,
): Promise<R | undefined> {
  for (const workspaceId of new Set(candidates.map((candidate) => candidate.workspaceId))) {
    const claimed = await claim(workspaceId)
    if (claimed !== undefined) return claimed
  }
  return undefined
}

/** SQL, after other conditions: restricts each of these tables to the workspace. */
export const andOnlyWorkspace = (sql: Sql, only: OnlyWorkspace, ...tables: readonly string[]): Fragment =>
  only === null
    ? sql``
    : tables.reduce<Fragment>((all, table) => sql`${all} and ${sql(`${table}.workspace_id`)} = ${only}`, sql``)

/**
 * SQL, after other conditions: with distributed tables, repeats the workspace of these tables in the form by which
 * Citus finds the server. On one server it is hidden from the planner.
 */
export const andWorkspace = (sql: Sql, workspaceId: string, ...tables: readonly string[]): Fragment =>
  andOnlyWorkspace(sql, isDistributed(sql) ? workspaceId : null, ...tables)

/**
 * SQL: the workspace id, hidden from the planner, which expects at most one row for a workspace that its statistics
 * don't contain. With distributed tables it is visible, because Citus finds the server by it.
 */
export const hiddenWorkspace = (sql: Sql, workspaceId: string): Fragment =>
  isDistributed(sql) ? sql`${workspaceId}::uuid` : sql`(select ${workspaceId}::uuid)`

/**
 * SQL: the time of the clock that all processes share, for statements that only read. With distributed tables it is
 * queried, because such a statement would use the clock of the server with the rows; writes use the shared clock
 * anyway.
 */
export function sharedTime(sql: Sql): { now: Fragment } | Promise<{ now: Fragment }> {
  return isDistributed(sql) ? readSharedTime(sql) : { now: sql`statement_timestamp()` }
}

async function readSharedTime(sql: Sql): Promise<{ now: Fragment }> {
  const [row] = await sql<{ now: string }[]>`select clock_timestamp()::text as now`
  return { now: sql`${row?.now ?? null}::timestamptz` }
}

// Several transactions can't share-lock rows of reference tables (workspaces, members, keys): Citus locks the whole
// table, and two transactions that each lock a row deadlock. Advisory locks on the coordinator replace these row locks.

/** SQL, at the end of a statement that reads such rows: `lock`, unless `lockShared` replaces it. */
export const lockUnlessDistributed = (sql: Sql, lock: Fragment): Fragment => (isDistributed(sql) ? sql`` : lock)

/**
 * Locks such rows against changes until the transaction ends; others can hold the same lock. Changes call
 * `lockExclusive` first. Callers check `isDistributed` and call both only then, so that on one server nothing is
 * awaited and the statement stays in its pipeline.
 */
export async function lockShared(sql: Sql, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(hashtextextended(${name}, 0))`
}

/** Waits until no one holds the lock, shared or not, and excludes others until the transaction ends. */
export async function lockExclusive(sql: Sql, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`
}

export const rulesLock = (workspaceId: string): string => `rules of ${workspaceId}`
export const membersLock = (workspaceId: string): string => `members of ${workspaceId}`
/** Not for rows: who decides who gets the conversations of a workspace, on one server too. */
export const routingLock = (workspaceId: string): string => `routing of ${workspaceId}`
export const keysLock = (workspaceId: string): string => `keys of ${workspaceId}`
