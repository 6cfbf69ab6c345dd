import type { Sql, Tx } from '../../base/db.ts'
import { publishConnection } from '../../team/live-updates.ts'
import { type Channel, type ConnectionKey, connectionNotFound } from '../connection/connection.ts'
import { updateColumns } from '../connection/update-columns.ts'
import { type HistoryRequests, noRequests } from './adapter-steps.ts'
import type { CheckReport } from './report.ts'

/** Checks and steps of the setup of one connection that may call the platform within `checksWithinMs`. */
const maxChecks = 5
const checksWithinMs = 10_000

/**
 * Counts a check. Returns the milliseconds after which it may be tried again; null if it may run now, undefined if the
 * connection does not exist.
 */
export async function claimCheck(tx: Tx, one: ConnectionKey, now: Date): Promise<number | null | undefined> {
  const [row] = await tx<{ since: Date | null; count: number | null }[]>`
    select checks_since as since, check_count as count
    from connections
    where workspace_id = ${one.workspaceId}
      and id = ${one.id}
      and removed_at is null
    for no key update`
  if (row === undefined) return undefined
  const age = row.since === null ? checksWithinMs : now.getTime() - row.since.getTime()
  // A clock that was set back must not stop checks.
  const isOver = age >= checksWithinMs || age < 0
  if (!isOver && (row.count ?? 0) >= maxChecks) return checksWithinMs - age
  const [since, count] = isOver ? [now, 1] : [row.since, (row.count ?? 0) + 1]
  await updateColumns(tx, one, tx`checks_since = ${since}, check_count = ${count}`)
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
export async function storeReport(tx: Tx, one: ConnectionKey, report: CheckReport): Promise<void> {
  const isNewest = tx`(check_report is null or (check_report ->> 'checkedAt') <= ${report.checkedAt})`
  const isStored = await updateColumns(tx, one, tx`check_report = ${tx.json(report)}`, isNewest)
  if (isStored) publishConnection(tx, one.workspaceId, one.id)
}

/** Forgets the report: it is about the access that the connection had before. */
export const clearReport = (tx: Tx, one: ConnectionKey): Promise<boolean> =>
  updateColumns(tx, one, tx`check_report = null`)

export const storeHistoryRequests = (tx: Tx, one: ConnectionKey, requests: HistoryRequests): Promise<boolean> =>
  updateColumns(tx, one, tx`history_requests = ${tx.json(requests)}`)
