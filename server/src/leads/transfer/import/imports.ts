import { claimFirst, maxCandidates } from '../../../base/citus/distributed-sql.ts'
import type { Clock } from '../../../base/clock.ts'
import type { Db, Fragment, Sql, Tx } from '../../../base/db.ts'
import { conflict, notFound } from '../../../base/errors.ts'
import { type DueWatch, watchDueWork } from '../../../base/pubsub.ts'
import { importUpdates, liveUpdatesTopic, publishImport } from '../../../team/live-updates.ts'
import { lockWorkspace } from '../../../workspaces/workspace.ts'
import { leaseEnd, pollEveryMs } from '../../bulk/bulk-changes.ts'
import { FileProblem } from '../file/file-rows.ts'

export const maxFileBytes = 1024 ** 3
const maxOpenImports = 10
const maxStoredBytes = 2 * maxFileBytes
// A rejected row of two bytes takes fifty in the file of rejected rows.
const maxRefusedBytes = maxFileBytes / 4
const maxDryCreated = 5_000_000

const storedImports = (sql: Sql, workspaceId: string) => sql`
  from lead_imports
  where workspace_id = ${workspaceId}
    and (expires_at is not null or state in ('running', 'paused'))`

const isOpen = (sql: Sql) => sql`state in ('uploading', 'ready', 'running', 'paused', 'checked')`

/** Throws 409 if the workspace has the maximum number of open imports. Locks the workspace, so other calls wait. */
export async function checkOpenImports(tx: Tx, workspaceId: string): Promise<void> {
  await lockWorkspace(tx, workspaceId)
  const [row] = await tx<{ open: number }[]>`
    select count(*)::int as open
    ${storedImports(tx, workspaceId)}
      and ${isOpen(tx)}`
  if ((row?.open ?? 0) < maxOpenImports) return
  throw conflict(`${maxOpenImports} imports are open; finish or cancel one first`, { open: row?.open })
}

/** Throws 409 if more bytes would exceed the limit. Counts stored bytes, whatever size was declared. */
export async function checkStoredBytes(tx: Tx, workspaceId: string, more: number): Promise<void> {
  const [row] = await tx<{ stored: number }[]>`
    select coalesce(sum(refused_bytes + case when ${isOpen(tx)} then uploaded else 0 end), 0)::float8 as stored
    ${storedImports(tx, workspaceId)}`
  if ((row?.stored ?? 0) + more <= maxStoredBytes) return
  throw conflict(
    'The import files of the workspace use all 2 GiB; cancel an import, or wait until rejected rows are deleted (see `filesUntil`)',
    { storedBytes: row?.stored },
  )
}

/** Throws `FileProblem`, which ends the import, if it would store more about its rows than allowed. */
export function checkGrowth(row: ImportRow, refusedBytes: number): void {
  if (row.refused_bytes + refusedBytes > maxRefusedBytes) {
    throw new FileProblem('The rejected rows would exceed 256 MiB; correct the file or its mapping, and start again')
  }
  if (row.dry_run && row.created >= maxDryCreated) {
    throw new FileProblem(
      'A dry run is limited to 5,000,000 new leads; start again without a dry run, or with a part of the file',
    )
  }
}

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

export async function findImport(sql: Sql, workspaceId: string, id: string, lock = sql``): Promise<ImportRow> {
  const [row] = await sql<ImportRow[]>`
    select *
    from lead_imports
    where workspace_id = ${workspaceId}
      and id = ${id}
    ${lock}`
  if (row === undefined) throw notFound('Import not found')
  return row
}

export const lockImport = (tx: Tx, workspaceId: string, id: string): Promise<ImportRow> =>
  findImport(tx, workspaceId, id, tx`for update`)

const maxListed = 50

/** Returns the newest 50 imports. */
export async function listImports(sql: Sql, workspaceId: string): Promise<ImportRow[]> {
  return sql<ImportRow[]>`
    select *
    from lead_imports
    where workspace_id = ${workspaceId}
    order by id desc
    limit ${maxListed}`
}

/** Watches for imports that `claimImport` can claim. */
export function watchImports({ db, clock }: { db: Db; clock: Clock }): DueWatch {
  const nextAt = async () => {
    const [row] = await db.sql<{ at: Date | null }[]>`
      select min(due_at) as at
      from lead_imports
      where state in ('running', 'paused')`
    return row?.at ?? null
  }
  return watchDueWork(
    { db, clock },
    { nextAt, pollEveryMs, watchedTopics: [{ topic: liveUpdatesTopic, isRelevant: importUpdates }] },
  )
}

/** Claims an import that is due or whose lease expired; other nodes cannot claim it until the new lease ends. */
export async function claimImport(db: Db, now: Date): Promise<ImportRow | undefined> {
  const due = await db.sql<{ workspaceId: string }[]>`
    select workspace_id as "workspaceId"
    from lead_imports
    where state in ('running', 'paused')
      and due_at <= ${now}
    order by due_at
    limit ${maxCandidates}`
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
  if (row !== undefined) publishImport(tx, row.workspace_id, row.id)
  return row
}

/** Counts of a finished batch of rows. */
export interface ImportProgress {
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
 * Updates an import in the run that a worker claimed; false if that run has ended. `started_at` identifies the run: a
 * delayed worker may resume after another has finished a dry run and the import was started again at the same position.
 */
async function updateRun(tx: Tx, row: ImportRow, changes: Fragment, condition = tx`true`): Promise<boolean> {
  const { count } = await tx`
    update lead_imports
    set ${changes}
    where workspace_id = ${row.workspace_id}
      and id = ${row.id}
      and state = 'running'
      and started_at = ${row.started_at}
      and ${condition}`
  if (count > 0) publishImport(tx, row.workspace_id, row.id)
  return count > 0
}

/** Records the progress of a batch; false if the import was stopped, or another worker has done the batch. */
export function advanceImport(tx: Tx, row: ImportRow, progress: ImportProgress, now: Date): Promise<boolean> {
  const changes = tx`
    position = ${progress.position},
    rows = rows + ${progress.rows},
    created = created + ${progress.created},
    updated = updated + ${progress.updated},
    unchanged = unchanged + ${progress.unchanged},
    refused = refused + ${progress.refused},
    refused_bytes = refused_bytes + ${progress.refusedBytes},
    report = ${progress.report},
    due_at = ${leaseEnd(now)},
    attempts = 0`
  return updateRun(tx, row, changes, tx`position = ${row.position}`)
}

const fileRetentionMs = 7 * 86_400_000

export const expiryOf = (now: Date): Date => new Date(now.getTime() + fileRetentionMs)

/** Ends a claimed run; false if it had already ended. */
export const endRun = (
  tx: Tx,
  row: ImportRow,
  state: 'checked' | 'done' | 'failed',
  problem: string | null,
  now: Date,
): Promise<boolean> =>
  updateRun(tx, row, tx`state = ${state}, problem = ${problem}, ended_at = ${now}, expires_at = ${expiryOf(now)}`)

/** Releases an import when its worker stops, so that another need not wait for the lease to expire. */
export const releaseImport = (tx: Tx, row: ImportRow, now: Date): Promise<boolean> =>
  updateRun(tx, row, tx`due_at = ${now}`, tx`position = ${row.position}`)

/** Pauses an import until the next day's quota. */
export const pauseImport = (tx: Tx, row: ImportRow, until: Date): Promise<boolean> =>
  updateRun(tx, row, tx`state = 'paused', due_at = ${until}, attempts = 0`)
