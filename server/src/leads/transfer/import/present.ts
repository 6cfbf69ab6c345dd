import type { Sql } from '../../../base/db.ts'
import type { Keyring } from '../../../base/sealing/keyring.ts'
import { type BulkChangeRow, undoUntilOf } from '../../bulk/bulk-changes.ts'
import type { ImportRow } from './imports.ts'
import { openReport, openSettings } from './settings.ts'
import { readTracked } from './track.ts'

/** An import as the team sees it. */
export async function presentImport(sql: Sql, keyring: Keyring, row: ImportRow, now: Date) {
  const tracked = await readTracked(sql, row.workspace_id, [row.id])
  return present(keyring, row, tracked.get(row.id), now)
}

/** Several of a workspace. */
export async function presentImports(
  sql: Sql,
  workspaceId: string,
  keyring: Keyring,
  rows: readonly ImportRow[],
  now: Date,
) {
  const tracked = await readTracked(
    sql,
    workspaceId,
    rows.map(({ id }) => id),
  )
  return rows.map((row) => present(keyring, row, tracked.get(row.id), now))
}

function present(keyring: Keyring, row: ImportRow, tracked: BulkChangeRow | undefined, now: Date) {
  const { fileName, choice } = openSettings(keyring, row.id, row.settings)
  return {
    id: row.id,
    fileName,
    format: row.format,
    state: row.state,
    dryRun: row.dry_run,
    sizeBytes: row.size,
    uploadedBytes: row.uploaded,
    doneBytes: row.position,
    rows: row.rows,
    created: row.created,
    updated: row.updated,
    unchanged: row.unchanged,
    refused: row.refused,
    rowsPerSecond: rateOf(row, now),
    refusals: openReport(keyring, row.id, row.report),
    choice: choice === null ? null : presentChoice(choice),
    problem: row.problem,
    resumesAt: row.state === 'paused' ? row.due_at.toISOString() : null,
    startedBy: { type: row.actor_type, id: row.actor_id },
    createdAt: row.created_at.toISOString(),
    startedAt: row.started_at?.toISOString() ?? null,
    endedAt: row.ended_at?.toISOString() ?? null,
    undo: tracked === undefined || tracked.state === 'running' ? null : presentUndo(tracked, now),
    filesUntil: row.expires_at?.toISOString() ?? null,
  }
}

function presentChoice({
  columns,
  targets,
  format: _,
  ...rest
}: NonNullable<ReturnType<typeof openSettings>['choice']>) {
  return { ...rest, columns: columns.map((name, at) => ({ name, target: targets[at] ?? null })) }
}

function presentUndo(tracked: BulkChangeRow, now: Date) {
  const { state, total: leads, undone, kept } = tracked
  const until = undoUntilOf(tracked, now)
  const standing = state === 'undoing' || state === 'undone' ? state : until === null ? 'over' : 'possible'
  return { state: standing, leads, undone, kept, until } as const
}

function rateOf({ rows, started_at, ended_at }: ImportRow, now: Date): number {
  if (started_at === null || rows === 0) return 0
  const ms = (ended_at ?? now).getTime() - started_at.getTime()
  return Math.round((rows / Math.max(ms, 1)) * 1000)
}
