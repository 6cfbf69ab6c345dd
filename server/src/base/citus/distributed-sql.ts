import { type Db, type Fragment, processName, type Sql } from '../db.ts'
import { hasCitus } from './table-placement.ts'

// By the names of the processes that have learned it: a transaction is known by the one that it is of.
const distributed = new Set<string>()

/** Finds out, once when a process starts, whether the rows of workspaces lie on several servers. */
export async function detectDistribution({ sql }: Db): Promise<void> {
  if (!(await hasCitus(sql))) return
  const [found] = await sql<{ isSpread: boolean }[]>`
    select exists (select from pg_dist_partition where partmethod = 'h') as "isSpread"`
  if (found?.isSpread) assumeDistributed(sql)
}

/** Has statements written as for several servers, which is right on one server as well, though slower. */
export function assumeDistributed(sql: Sql): void {
  distributed.add(processName(sql))
}

/**
 * Whether the rows of workspaces lie on several servers, as far as this process has learned: then a statement that locks or
 * changes rows has to name the workspace that they are of.
 */
export const isDistributed = (sql: Sql): boolean => distributed.has(processName(sql))

/** Whose rows a statement is about that can be about those of many workspaces: of one, or (null) of all that it is given. */
export type OneWorkspace = string | null

/**
 * Has `work` done with all items at once, or where rows are spread with those of one workspace after the other, each by a
 * statement that names it. Returns what they returned.
 */
export async function byWorkspace<I, R>(
  sql: Sql,
  items: readonly I[],
  workspaceOf: (item: I) => string,
  work: (items: readonly I[], only: OneWorkspace) => Promise<readonly R[]>,
): Promise<readonly R[]> {
  if (items.length === 0) return []
  if (!isDistributed(sql)) return work(items, null)
  const answers: R[] = []
  for (const [workspaceId, ofOne] of Map.groupBy(items, workspaceOf)) answers.push(...(await work(ofOne, workspaceId)))
  return answers
}

/** How many candidates are listed for one claim: enough for all but the unluckiest when others claim the first ones. */
export const maxCandidates = 20

/**
 * What `claim` gets in the first of these workspaces in which it gets something; each is asked once. For claims in two steps, right
 * wherever rows lie: candidates are listed without a lock, and the claim, which names its workspace, finds out what is still free.
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

/** SQL, after other conditions: only rows of this workspace, in each of these tables. */
export const andOnlyOf = (sql: Sql, only: OneWorkspace, ...tables: readonly string[]): Fragment =>
  only === null
    ? sql``
    : tables.reduce<Fragment>((all, table) => sql`${all} and ${sql(`${table}.workspace_id`)} = ${only}`, sql``)

/**
 * SQL, after other conditions: the workspace of these tables once more where rows are spread, in the words that their server is found
 * by. On one server the planner is not shown it.
 */
export const andNamed = (sql: Sql, workspaceId: string, ...tables: readonly string[]): Fragment =>
  andOnlyOf(sql, isDistributed(sql) ? workspaceId : null, ...tables)

/**
 * SQL: the workspace, which the planner must not see: of one that its statistics do not tell of it believes that it has a row at
 * most. Where rows are spread it has to, for it finds the server by it.
 */
export const unseenWorkspace = (sql: Sql, workspaceId: string): Fragment =>
  isDistributed(sql) ? sql`${workspaceId}::uuid` : sql`(select ${workspaceId}::uuid)`

/**
 * SQL: the time by the clock that all processes share, for what only reads. Where rows are spread it is asked for, since such a
 * statement would go by the clock of the server that has the rows; what changes rows goes by the one clock anyway.
 */
export function momentOf(sql: Sql): { now: Fragment } | Promise<{ now: Fragment }> {
  return isDistributed(sql) ? askMoment(sql) : { now: sql`statement_timestamp()` }
}

async function askMoment(sql: Sql): Promise<{ now: Fragment }> {
  const [row] = await sql<{ now: string }[]>`select clock_timestamp()::text as now`
  return { now: sql`${row?.now ?? null}::timestamptz` }
}

// Rows of tables that are on every server (workspaces, members, keys) cannot be held there by several at once: Citus locks the whole
// table for it, and two who hold a row of it each wait for the other. Names stand for such rows, which the coordinator locks.

/** SQL, at the end of a statement that reads such rows: `lock`, except where `lockShared` was asked for the same. */
export const lockUnlessDistributed = (sql: Sql, lock: Fragment): Fragment => (isDistributed(sql) ? sql`` : lock)

/**
 * To be called before that statement where rows are spread: they stay as they are until the transaction ends, beside others who hold
 * them. Whoever changes them calls `lockExclusive` first. Who calls either looks whether they are spread: elsewhere nothing is waited for, and
 * the statement goes in its place among those that are sent together.
 */
export async function lockShared(sql: Sql, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(hashtextextended(${name}, 0))`
}

/** Where rows are spread: waits until nobody holds these any more, and nobody does from then on until the transaction ends. */
export async function lockExclusive(sql: Sql, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`
}

export const rulesLock = (workspaceId: string): string => `rules of ${workspaceId}`
export const membersLock = (workspaceId: string): string => `members of ${workspaceId}`
export const keysOf = (workspaceId: string): string => `keys of ${workspaceId}`
