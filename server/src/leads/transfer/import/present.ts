import type { Keyring } from '../../../base/sealing/keyring.ts'
import type { ImportRow } from './imports.ts'
import { openReport, openSettings } from './settings.ts'

/** An import as the team sees it. */
export function presentImport(keyring: Keyring, row: ImportRow, now: Date) {
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

function rateOf({ rows, started_at, ended_at }: ImportRow, now: Date): number {
  if (started_at === null || rows === 0) return 0
  const ms = (ended_at ?? now).getTime() - started_at.getTime()
  return Math.round((rows / Math.max(ms, 1)) * 1000)
}
