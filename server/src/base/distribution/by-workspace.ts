import type { Db, Fragment, Sql } from '../db.ts'

/**
 * Whether the rows of workspaces lie on several servers, by Citus: then no statement locks rows of more than one workspace.
 * Asked once of a database; not to be asked first in a transaction.
 */
export function isSharded(db: Db): Promise<boolean> {
  const known = answers.get(db)
  if (known !== undefined) return known
  const answer = askIsSharded(db.sql)
  answers.set(db, answer)
  answer.catch(() => answers.delete(db))
  return answer
}

const answers = new WeakMap<Db, Promise<boolean>>()

async function askIsSharded(sql: Sql): Promise<boolean> {
  const [citus] = await sql<{ isThere: boolean }[]>`
    select to_regclass('pg_catalog.pg_dist_partition') is not null as "isThere"`
  if (!citus?.isThere) return false
  const [distributed] = await sql<{ hasSome: boolean }[]>`
    select exists (select from pg_dist_partition where partmethod = 'h') as "hasSome"`
  return distributed?.hasSome ?? false
}

/** Whose rows a statement is about that can be about those of many workspaces: of one, or (null) of all that it is given. */
export type OneWorkspace = string | null

/**
 * Has `work` done with all items in one statement, or on shards with those of one workspace after the other, each in a
 * statement that names it. Returns what they returned.
 */
export async function byWorkspace<I, R>(
  db: Db,
  items: readonly I[],
  workspaceOf: (item: I) => string,
  work: (items: readonly I[], workspaceId: OneWorkspace) => Promise<readonly R[]>,
): Promise<readonly R[]> {
  if (items.length === 0) return []
  if (!(await isSharded(db))) return work(items, null)
  const answers: R[] = []
  for (const [workspaceId, ofOne] of Map.groupBy(items, workspaceOf)) answers.push(...(await work(ofOne, workspaceId)))
  return answers
}

/** SQL, after other conditions: only rows of this workspace, in each of these tables. */
export const andOnlyOf = (sql: Sql, workspaceId: OneWorkspace, ...tables: readonly string[]): Fragment =>
  workspaceId === null
    ? sql``
    : tables.reduce<Fragment>((all, table) => sql`${all} and ${sql(`${table}.workspace_id`)} = ${workspaceId}`, sql``)
