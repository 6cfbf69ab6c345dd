import type { Clock } from '../../../base/clock.ts'
import type { Db, Sql, Tx } from '../../../base/db.ts'
import { claimFirst, fewCandidates } from '../../../base/distribution/spread.ts'
import { type ApiError, notFound } from '../../../base/errors.ts'
import { type DueWatch, watchDue } from '../../../base/news.ts'
import { announceImport, announcesImport, teamTopic } from '../../../team/team-news.ts'

export const importStates = [
  'uploading',
  'ready',
  'running',
  'paused',
  'checked',
  'done',
  'failed',
  'cancelled',
] as const
export type ImportState = (typeof importStates)[number]

/** Nothing leads out of these. */
export const endStates: readonly ImportState[] = ['done', 'failed', 'cancelled']

export interface ImportRow {
  workspace_id: string
  id: string
  state: ImportState
  format: 'csv' | 'ndjson'
  settings: Buffer
  report: Buffer | null
  actor_type: 'user' | 'token'
  actor_id: string
  dry_run: boolean
  size: number
  uploaded: number
  position: number
  rows: number
  created: number
  updated: number
  unchanged: number
  refused: number
  refused_bytes: number
  problem: string | null
  due_at: Date
  attempts: number
  created_at: Date
  started_at: Date | null
  ended_at: Date | null
  expires_at: Date | null
}

export const importNotFound = (): ApiError => notFound('Import not found')

export async function findImport(sql: Sql, workspaceId: string, id: string): Promise<ImportRow> {
  const [row] = await sql<ImportRow[]>`
    select *
    from lead_imports
    where workspace_id = ${workspaceId}
      and id = ${id}`
  if (row === undefined) throw importNotFound()
  return row
}

export async function lockImport(tx: Tx, workspaceId: string, id: string): Promise<ImportRow> {
  const [row] = await tx<ImportRow[]>`
    select *
    from lead_imports
    where workspace_id = ${workspaceId}
      and id = ${id}
    for update`
  if (row === undefined) throw importNotFound()
  return row
}

const shown = 50

/** The newest 50. */
export async function listImports(sql: Sql, workspaceId: string): Promise<ImportRow[]> {
  return sql<ImportRow[]>`
    select *
    from lead_imports
    where workspace_id = ${workspaceId}
    order by id desc
    limit ${shown}`
}

/** For other nodes to step in after this long without progress of the one at work. */
const leaseMs = 10_000

export const leaseEnd = (now: Date): Date => new Date(now.getTime() + leaseMs)

/** Within the lease: who takes over from a worker that has gone knows when it ends. */
const askEveryMs = 5_000

/** Whether there is an import for `claimImport` to take. */
export function watchImports({ db, clock }: { db: Db; clock: Clock }): DueWatch {
  const nextAt = async () => {
    const [row] = await db.sql<{ at: Date | null }[]>`
      select min(due_at) as at
      from lead_imports
      where state in ('running', 'paused')`
    return row?.at ?? null
  }
  return watchDue({ db, clock }, { nextAt, askEveryMs, news: [{ topic: teamTopic, concerns: announcesImport }] })
}

/** Takes an import that waits for work, or whose worker has gone; no other node takes it for the time of the lease. */
export async function claimImport(db: Db, now: Date): Promise<ImportRow | undefined> {
  const due = await db.sql<{ workspaceId: string }[]>`
    select workspace_id as "workspaceId"
    from lead_imports
    where state in ('running', 'paused')
      and due_at <= ${now}
    order by due_at
    limit ${fewCandidates}`
  return claimFirst(due, (workspaceId) => db.tx((tx) => claimIn(tx, workspaceId, now)))
}

async function claimIn(tx: Tx, workspaceId: string, now: Date): Promise<ImportRow | undefined> {
  const [row] = await tx<ImportRow[]>`
    with due as (
      select id
      from lead_imports
      where workspace_id = ${workspaceId}
        and state in ('running', 'paused')
        and due_at <= ${now}
      order by due_at
      limit 1
      for update skip locked
    )
    update lead_imports i
    set state = 'running',
      due_at = ${leaseEnd(now)},
      attempts = i.attempts + 1
    from due
    where i.workspace_id = ${workspaceId}
      and i.id = due.id
    returning i.*`
  if (row !== undefined) announceImport(tx, row.workspace_id, row.id)
  return row
}

/** What a batch of rows came to. */
export interface Progress {
  /** Where the batch began: whoever else has moved it has done the batch. */
  from: number
  position: number
  rows: number
  created: number
  updated: number
  unchanged: number
  refused: number
  refusedBytes: number
  report: Buffer
}

/**
 * Whether the import is still in the run that a worker took up. One that was held up for long may wake when the import
 * was checked by another and started for good, and is at the same place again.
 */
const isThatRun = (tx: Tx, { started_at }: ImportRow) => tx`state = 'running' and started_at = ${started_at}`

/** Moves an import on; false when it was stopped, or another worker has done the batch. */
export async function advanceImport(tx: Tx, row: ImportRow, progress: Progress, now: Date): Promise<boolean> {
  const moved = await tx`
    update lead_imports
    set position = ${progress.position},
      rows = rows + ${progress.rows},
      created = created + ${progress.created},
      updated = updated + ${progress.updated},
      unchanged = unchanged + ${progress.unchanged},
      refused = refused + ${progress.refused},
      refused_bytes = refused_bytes + ${progress.refusedBytes},
      report = ${progress.report},
      due_at = ${leaseEnd(now)},
      attempts = 0
    where workspace_id = ${row.workspace_id}
      and id = ${row.id}
      and ${isThatRun(tx, row)}
      and position = ${progress.from}
    returning id`
  if (moved.length > 0) announceImport(tx, row.workspace_id, row.id)
  return moved.length > 0
}

const keptMs = 7 * 86_400_000

export const expiryOf = (now: Date): Date => new Date(now.getTime() + keptMs)

/** Ends the run that a worker took up; false when it was ended before. */
export async function endRun(
  tx: Tx,
  row: ImportRow,
  state: 'checked' | 'done' | 'failed',
  problem: string | null,
  now: Date,
): Promise<boolean> {
  const ended = await tx`
    update lead_imports
    set state = ${state},
      problem = ${problem},
      ended_at = ${now},
      expires_at = ${expiryOf(now)}
    where workspace_id = ${row.workspace_id}
      and id = ${row.id}
      and ${isThatRun(tx, row)}
    returning id`
  if (ended.length > 0) announceImport(tx, row.workspace_id, row.id)
  return ended.length > 0
}

/** Gives an import back whose worker stops: another one need not wait for the end of the lease. */
export async function letGoOfImport(tx: Tx, row: ImportRow, now: Date): Promise<void> {
  await tx`
    update lead_imports
    set due_at = ${now}
    where workspace_id = ${row.workspace_id}
      and id = ${row.id}
      and ${isThatRun(tx, row)}
      and position = ${row.position}`
  announceImport(tx, row.workspace_id, row.id)
}

/** Lets an import wait, for the day's quota. */
export async function pauseImport(tx: Tx, row: ImportRow, until: Date): Promise<void> {
  await tx`
    update lead_imports
    set state = 'paused',
      due_at = ${until},
      attempts = 0
    where workspace_id = ${row.workspace_id}
      and id = ${row.id}
      and ${isThatRun(tx, row)}`
  announceImport(tx, row.workspace_id, row.id)
}
