import type { Sql, Tx } from '../../base/db.ts'
import { publishConnection } from '../../team/live-updates.ts'
import { type Channel, type ConnectionKey, connectionNotFound } from '../connection/connection.ts'
import { type HistoryRequests, noRequests } from './adapter-steps.ts'
import type { CheckReport } from './report.ts'

/** Checks and steps of the setup of one connection that may call the platform within `checksWithinMs`. */
export const maxChecks = 5
export const checksWithinMs = 10_000

/**
 * Counts a check. Returns the milliseconds after which it may be tried again; null if it may run now, undefined if the
 * connection does not exist.
 */
export async function claimCheck(
  tx: Tx,
  { workspaceId, id }: ConnectionKey,
  now: Date,
): Promise<number | null | undefined> {
  const [row] = await tx<{ since: Date | null; count: number | null }[]>`
    select checks_since as since, check_count as count
    from connections
    where workspace_id = ${workspaceId}
      and id = ${id}
      and removed_at is null
    for no key update`
  if (row === undefined) return undefined
  const age = row.since === null ? checksWithinMs : now.getTime() - row.since.getTime()
  // A clock that was set back must not stop checks.
  const isOver = age >= checksWithinMs || age < 0
  if (!isOver && (row.count ?? 0) >= maxChecks) return checksWithinMs - age
  await tx`
    update connections
    set checks_since = ${isOver ? now : row.since},
      check_count = ${isOver ? 1 : (row.count ?? 0) + 1}
    where workspace_id = ${workspaceId}
      and id = ${id}`
  return null
}

interface StoredCheck {
  channel: Channel
  report: CheckReport | null
  history: HistoryRequests
}

/** Throws 404 if the connection does not exist. */
export async function readCheck(sql: Sql, { workspaceId, id }: ConnectionKey): Promise<StoredCheck> {
  const [row] = await sql<(Omit<StoredCheck, 'history'> & { history: HistoryRequests | null })[]>`
    select channel, check_report as report, history_requests as history
    from connections
    where workspace_id = ${workspaceId}
      and id = ${id}
      and removed_at is null`
  if (row === undefined) throw connectionNotFound()
  return { ...row, history: row.history ?? noRequests }
}

/** Stores a report, unless a later check was faster. */
export async function storeReport(tx: Tx, { workspaceId, id }: ConnectionKey, report: CheckReport): Promise<void> {
  const { count } = await tx`
    update connections
    set check_report = ${tx.json(report)}
    where workspace_id = ${workspaceId}
      and id = ${id}
      and removed_at is null
      and (check_report is null or (check_report ->> 'checkedAt') <= ${report.checkedAt})`
  if (count > 0) publishConnection(tx, workspaceId, id)
}

/** Forgets the report: it is about the access that the connection had before. */
export async function clearReport(tx: Tx, { workspaceId, id }: ConnectionKey): Promise<void> {
  await tx`
    update connections
    set check_report = null
    where workspace_id = ${workspaceId}
      and id = ${id}`
}

export async function storeHistoryRequests(
  tx: Tx,
  { workspaceId, id }: ConnectionKey,
  requests: HistoryRequests,
): Promise<void> {
  await tx`
    update connections
    set history_requests = ${tx.json(requests)}
    where workspace_id = ${workspaceId}
      and id = ${id}
      and removed_at is null`
}
