import { listMembers } from '../../../auth/users/members.ts'
import type { Loop, Repeat } from '../../../base/async/loop.ts'
import type { Tx } from '../../../base/db.ts'
import { instanceScope } from '../../../base/encryption/key-store.ts'
import type { Keyring } from '../../../base/encryption/keyring.ts'
import { type ApiError, InvalidInput } from '../../../base/errors.ts'
import { defaultLeadSettings, pickLeadSettings } from '../../../base/lead-settings.ts'
import type { Log } from '../../../base/log.ts'
import { phoneClass } from '../../../base/phone/phone-variants.ts'
import { byteaArray } from '../../../base/postgres/values.ts'
import { emailKey } from '../../../base/text/email.ts'
import { startOfUtcDay } from '../../../base/time.ts'
import { recordAudit } from '../../../team/audit.ts'
import { findWorkspace, type WorkspaceRow } from '../../../workspaces/workspace.ts'
import { LeaseLostError, maxAttempts, startPolling } from '../../bulk/run-bulk-change.ts'
import { fieldsInUse } from '../../fields/lead-fields.ts'
import type { UpsertItem } from '../../lead/input.ts'
import type { LeadDeps, LeadUser } from '../../lead/lead.ts'
import { upsertLeads } from '../../write/upsert.ts'
import { type PrefetchedPlan, prefetchPlan, type UpsertOutcome } from '../../write/upsert-plan.ts'
import { FileProblem, type FileRow, readRows } from '../file/file-rows.ts'
import { deleteUnneeded, insertPiece, readPieces } from './file-pieces.ts'
import type { ImportRow } from './imports.ts'
import { advanceImport, checkGrowth, claimImport, endRun, pauseImport, releaseImport, watchImports } from './imports.ts'
import { parseRow, type RowContext, toRowIssue } from './parse-row.ts'
import type { ImportChoice, Refusal } from './settings.ts'
import {
  addRefusals,
  decryptReport,
  decryptSettings,
  encryptReport,
  formatRefusedHeader,
  formatRefusedRow,
} from './settings.ts'
import { endTracking, recordBatch, trackImport } from './track-leads.ts'

interface ImportDeps extends LeadDeps {
  log: Log
}

const dayMs = 86_400_000

/** Runs imports started on any node. */
export const startImports = ({ repeat, ...deps }: ImportDeps & { repeat?: Repeat }): Loop =>
  startPolling(watchImports(deps), (signal) => runImports(deps, signal), {
    repeat,
    onError: (error) => deps.log.warn('failed to poll for imports; retrying', {}, error),
  })

/** Runs every due import until `signal` aborts. Returns the number of claimed imports. */
export async function runImports(deps: ImportDeps, signal: AbortSignal): Promise<number> {
  for (let count = 0; ; count++) {
    if (signal.aborted) return count
    const row = await claimImport(deps.db, deps.clock.now())
    if (row === undefined) return count
    await processImport(deps, row, signal)
  }
}

async function processImport(deps: ImportDeps, row: ImportRow, signal: AbortSignal): Promise<void> {
  try {
    if (row.attempts > maxAttempts) throw new FileProblem('The import failed repeatedly at the same place')
    await importRows(deps, row, signal)
  } catch (error) {
    if (error instanceof LeaseLostError) return
    if (error instanceof FileProblem) return endWithAudit(deps, row, 'failed', error.message)
    // The lease expires, and then any node resumes after the last completed batch.
    deps.log.warn('import interrupted; resuming later', { workspaceId: row.workspace_id, attempt: row.attempts }, error)
  }
}

async function importRows(deps: ImportDeps, row: ImportRow, signal: AbortSignal): Promise<void> {
  const getKeyring = () => deps.keyStore.keyring(row.workspace_id)
  const { choice } = decryptSettings(await getKeyring(), row.id, row.settings)
  if (choice === null) throw new Error('Started import has no settings')
  const workspace = await findWorkspace(deps.db.sql, row.workspace_id)
  const statuses = workspace?.leadStatuses ?? []
  const user = userOf(row, workspace)
  if (!row.dry_run) await deps.db.tx((tx) => trackImport(tx, row, deps.clock.now()))
  const members = await listMembers(deps.db.sql, row.workspace_id, await deps.keyStore.keyring(instanceScope))
  const memberIds = new Map(members.map(({ email, userId }) => [emailKey(email), userId]))
  const fields = await fieldsInUse(deps.db.sql, row.workspace_id)
  const file = { workspaceId: row.workspace_id, importId: row.id, kind: 'file' } as const
  const rows = readRows(readPieces(deps.db.sql, getKeyring, file, row.position), choice, row.position)
  const rowContext = { choice, leadSettings: pickLeadSettings(user), memberIds, statuses, fields }
  const context = () => ({ ...rowContext, now: deps.clock.now() })
  // Files have mostly new or mostly known leads, so the previous batch predicts the next one.
  let expectsNewLeads = true
  const prefetch = async (items: Batch['items']) =>
    expectsNewLeads && !row.dry_run ? prefetchPlan(await getKeyring(), items, deps.clock.now()) : null
  let state = row
  for await (const batch of readBatches(rows, row.position, context, prefetch)) {
    const done = await importBatch(deps, user, state, choice, batch)
    if (done === 'quota') return
    if (refreshAtRows.some((limit) => state.rows < limit && limit <= done.rows)) {
      await deps.db.sql`analyze leads (workspace_id, id, unique_code, external_ref, phone_index)`
    }
    expectsNewLeads = done.created > state.created
    state = done
    if (signal.aborted) return void (await deps.db.tx((tx) => releaseImport(tx, done, deps.clock.now())))
  }
  await endWithAudit(deps, row, row.dry_run ? 'checked' : 'done', null)
}

// PostgreSQL analyzes a growing table once a minute. Until then it uses plans for the former size and scans a workspace
// to find a lead by name: an import of 100,000 rows took minutes instead of seconds.
const refreshAtRows = [1_000, 4_000, 16_000, 64_000]

function userOf(row: ImportRow, workspace: WorkspaceRow | undefined): LeadUser {
  return {
    workspaceId: row.workspace_id,
    ...(workspace === undefined ? defaultLeadSettings : pickLeadSettings(workspace)),
    masked: false,
    actor: { type: row.actor_type, id: row.actor_id },
    partOf: `import:${row.id}`,
  }
}

/** Writes a batch, its rejected rows and the new position in one transaction, so that no row is repeated or skipped. */
async function importBatch(
  deps: ImportDeps,
  user: LeadUser,
  row: ImportRow,
  choice: ImportChoice,
  batch: PreparedBatch,
): Promise<ImportRow | 'quota'> {
  const keyring = await deps.keyStore.keyring(row.workspace_id)
  let next: ImportRow = row
  const now = deps.clock.now()
  const outcomes = await upsertLeads(deps, user, batch.items, {
    continueOnError: true,
    stopAtQuota: true,
    dryRun: row.dry_run,
    prefetched: batch.prefetched,
    whileWriting: batch.prepareNext,
    inTransaction: async (tx, all) => {
      next = await commitBatch({ tx, keyring, row, choice, now }, batch, all)
    },
  })
  if (!endsAtQuota(outcomes)) return next
  const midnight = new Date(startOfUtcDay(now).getTime() + dayMs)
  await deps.db.tx((tx) => pauseImport(tx, row, midnight))
  return 'quota'
}

function endsAtQuota(outcomes: readonly UpsertOutcome[]): boolean {
  const last = outcomes.at(-1)
  return last?.action === 'failed' && last.error.statusCode === 429
}

/** The transaction that commits a batch. */
interface CommitContext {
  tx: Tx
  keyring: Keyring
  row: ImportRow
  choice: ImportChoice
  now: Date
}

async function commitBatch(
  context: CommitContext,
  { rows, items }: Batch,
  all: readonly UpsertOutcome[],
): Promise<ImportRow> {
  const { tx, keyring, row, choice, now } = context
  const outcomes = endsAtQuota(all) ? all.slice(0, -1) : all
  const failed = outcomes.flatMap((outcome, at) =>
    outcome.action === 'failed' ? [{ at, refusals: refusalsOf(outcome.error, row.rows + at, choice) }] : [],
  )
  const refusedText = failed.map(({ at, refusals }) =>
    formatRefusedRow(rows[at] ?? { cells: [], end: 0 }, refusals, choice),
  )
  const header = row.refused_bytes === 0 && refusedText.length > 0 ? formatRefusedHeader(choice) : ''
  const bytes = Buffer.from(header + refusedText.join(''))
  checkGrowth(row, bytes.length)
  if (bytes.length > 0) {
    const file = { workspaceId: row.workspace_id, importId: row.id, kind: 'refused' } as const
    await insertPiece(tx, keyring, file, row.refused_bytes, bytes)
  }
  const allRefusals = failed.flatMap(({ refusals }) => refusals)
  const report = addRefusals(decryptReport(keyring, row.id, row.report), allRefusals)
  const found = row.dry_run ? await countFoundInDryRun(context, items, outcomes) : 0
  const count = (is: (outcome: UpsertOutcome) => boolean) => outcomes.filter(is).length
  const unchanged = count((outcome) => outcome.action === 'updated' && outcome.before === outcome.lead)
  const progress = {
    position: rows[outcomes.length - 1]?.end ?? row.position,
    rows: outcomes.length,
    created: count(({ action }) => action === 'created') - found,
    updated: count(({ action }) => action === 'updated') - unchanged + found,
    unchanged,
    refused: failed.length,
    refusedBytes: bytes.length,
    report: encryptReport(keyring, row.id, report),
  }
  if (!row.dry_run) await recordBatch(tx, keyring, row, outcomes)
  if (!(await advanceImport(tx, row, progress, now))) throw new LeaseLostError()
  return {
    ...row,
    position: progress.position,
    rows: row.rows + progress.rows,
    created: row.created + progress.created,
    refused_bytes: row.refused_bytes + bytes.length,
    report: progress.report,
  }
}

// The header of a CSV file is row 1, as in spreadsheets.
function refusalsOf(error: Error, rowsBefore: number, choice: ImportChoice): Refusal[] {
  const row = rowsBefore + (choice.format === 'csv' ? 2 : 1)
  if (!(error instanceof InvalidInput)) return [{ row, field: '', message: error.message }]
  return error.issues
    .map((issue) => toRowIssue(issue, choice))
    .map(({ path, message }) => ({ row, field: path, message }))
}

async function endWithAudit(
  { db, clock }: LeadDeps,
  row: ImportRow,
  state: 'checked' | 'done' | 'failed',
  problem: string | null,
): Promise<void> {
  await db.tx(async (tx) => {
    const now = clock.now()
    if (!(await endRun(tx, row, state, problem, now))) return
    await deleteUnneeded(tx, row.workspace_id, row.id, state)
    if (row.dry_run) return
    await endTracking(tx, row.workspace_id, row.id, now)
    const actor = { type: row.actor_type, id: row.actor_id }
    const entry = { scopeId: row.workspace_id, actor, action: `leads.import_${state}`, target: `import:${row.id}` }
    await recordAudit(tx, entry, now)
  })
}

/** Rows written together, with their upserts. */
interface Batch {
  rows: FileRow[]
  items: (UpsertItem | ApiError)[]
  /** Null if the plan is not expected to hold. */
  prefetched: PrefetchedPlan | null
}

interface PreparedBatch extends Batch {
  /** Starts preparing the next batch. */
  prepareNext(): void
}

type Prefetch = (items: Batch['items']) => Promise<PrefetchedPlan | null>

const maxRows = 500
const maxBytes = 1024 * 1024

/** Yields batches of rows. Each is prepared when `prepareNext` of the previous one is called, or when it is requested. */
async function* readBatches(
  rows: AsyncIterable<FileRow>,
  start: number,
  context: () => RowContext,
  prefetch: Prefetch,
): AsyncGenerator<PreparedBatch> {
  const source = batchesOf(rows, start, context, prefetch)
  let nextBatch: Promise<IteratorResult<Batch>> | null = null
  const next = () => {
    nextBatch ??= source.next()
    // An error is thrown when the batch is requested; if the import has stopped before, it is ignored.
    nextBatch.catch(() => {})
    return nextBatch
  }
  try {
    for (;;) {
      const { done, value } = await next()
      nextBatch = null
      if (done) return
      yield { ...value, prepareNext: () => void next() }
    }
  } finally {
    await source.return(undefined)
  }
}

async function* batchesOf(
  rows: AsyncIterable<FileRow>,
  start: number,
  context: () => RowContext,
  prefetch: Prefetch,
): AsyncGenerator<Batch> {
  const read = async (batch: FileRow[]): Promise<Batch> => {
    const rowContext = context()
    const items = batch.map((row) => parseRow(row, rowContext))
    return { rows: batch, items, prefetched: await prefetch(items) }
  }
  let batch: FileRow[] = []
  let from = start
  for await (const row of rows) {
    batch.push(row)
    if (batch.length < maxRows && row.end - from < maxBytes) continue
    yield await read(batch)
    batch = []
    from = row.end
  }
  if (batch.length > 0) yield await read(batch)
}

/**
 * Counts the leads that a dry run would create but an earlier batch would have created already: the real import would
 * find those. Stores digests of their names in the database, since a file may have any number of them.
 */
async function countFoundInDryRun(
  { tx, keyring, row }: CommitContext,
  items: Batch['items'],
  outcomes: readonly UpsertOutcome[],
): Promise<number> {
  const names = items.flatMap((item, at) =>
    outcomes[at]?.action === 'created' && 'by' in item && item.by !== 'id' ? [nameDigest(keyring, item)] : [],
  )
  if (names.length === 0) return 0
  const added = await tx`
    insert into lead_import_dry_names (workspace_id, import_id, name)
    select ${row.workspace_id}::uuid, ${row.id}::uuid, n.name
    from unnest(${byteaArray(names)}::bytea[]) as n (name)
    on conflict do nothing
    returning 1`
  return names.length - added.length
}

function nameDigest(keyring: Keyring, { by, value }: UpsertItem): Buffer {
  return keyring.stable(`import ${by}`, by === 'phone' ? phoneClass(value) : value)
}
