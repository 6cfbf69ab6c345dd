import type { Fragment, Sql } from '../db.ts'
import { type Columns, columnNames, unnested, valuesOf } from '../postgres/rows.ts'
import { isDistributed } from './distributed-sql.ts'

/** Each number of rows is a statement of its own. */
const maxFewRows = 16

/**
 * Returns true if rows should be written by their values, not by arrays: with distributed tables. Citus caches the plan
 * of such a statement and sends it to one server, but plans a join with `unnest` each time, and copies what a
 * `select` inserts.
 */
export const areFewRows = (sql: Sql, rows: readonly unknown[]): boolean =>
  isDistributed(sql) && rows.length <= maxFewRows

/**
 * SQL, after `insert into … (…)`: the rows. `shared`: the values of the first columns, equal in all rows. `source`: what
 * follows the columns of a `select` instead of `from unnest(…)`; with a condition, pass `isConditional`.
 */
export function insertedRows<R extends object>(
  sql: Sql,
  shared: Fragment,
  rows: readonly R[],
  columns: Columns<R>,
  {
    source = sql`from ${unnested(rows, columns)}`,
    isConditional = false,
  }: { source?: Fragment; isConditional?: boolean } = {},
): Fragment {
  if (isConditional || !areFewRows(sql, rows)) return sql`select ${shared}, ${columnNames(columns)} ${source}`
  const [first, ...others] = rows.map((row) => sql`(${shared}, ${valuesOf(row, columns)})`)
  return others.reduce<Fragment>((all, row) => sql`${all}, ${row}`, sql`values ${first ?? sql``}`)
}
