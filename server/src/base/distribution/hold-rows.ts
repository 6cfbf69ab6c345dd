import type { Fragment, Sql } from '../db.ts'
import { isSpread } from './spread.ts'

// Rows of tables that are on every server (workspaces, members, keys) cannot be held there by several at once: Citus locks the whole
// table for it, and two who hold a row of it each wait for the other. Names stand for such rows, which the coordinator locks.

/** SQL, at the end of a statement that reads such rows: `lock`, except where `holdRows` was asked for the same. */
export const heldBy = (sql: Sql, lock: Fragment): Fragment => (isSpread(sql) ? sql`` : lock)

/**
 * To be called before that statement where rows are spread: they stay as they are until the transaction ends, beside others who hold
 * them. Whoever changes them calls `takeRows` first. Who calls either looks whether they are spread: elsewhere nothing is waited for, and
 * the statement goes in its place among those that are sent together.
 */
export async function holdRows(sql: Sql, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(hashtextextended(${name}, 0))`
}

/** Where rows are spread: waits until nobody holds these any more, and nobody does from then on until the transaction ends. */
export async function takeRows(sql: Sql, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`
}

export const rulesOf = (workspaceId: string): string => `rules of ${workspaceId}`
export const membersOf = (workspaceId: string): string => `members of ${workspaceId}`
export const keysOf = (workspaceId: string): string => `keys of ${workspaceId}`
