import type { Db, Sql, Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { conflict, notFound } from '../../base/errors.ts'
import type { ScenarioOutcome } from '../run/run-scenarios.ts'
import type { Verdict } from '../scenario/compare-runs.ts'
import type { Check, Entry, RecordedCall } from '../scenario/recorded-run.ts'

export const runStatuses = ['waiting', 'running', 'finished', 'cancelled', 'interrupted'] as const
export type RunStatus = (typeof runStatuses)[number]
export const resultVerdicts = ['waiting', 'running', 'passed', 'failed', 'error', 'skipped'] as const
export type ResultVerdict = (typeof resultVerdicts)[number]

export interface RunRow {
  id: string
  agent: string
  status: RunStatus
  hasInstructions: boolean
  createdAt: Date
  finishedAt: Date | null
  /** Number of results by verdict. */
  counts: Partial<Record<ResultVerdict, number>>
}

/** Content of a result, encrypted as one. */
interface ResultContent {
  checks: Check[]
  entries: Entry[]
  calls: RecordedCall[]
}

export interface StoredResult extends ResultContent {
  position: number
  name: string
  verdict: ResultVerdict
  ms: number
}

/** Runs that a workspace keeps, and that can go on in it at a time. */
export const maxRuns = 50
const maxRunning = 2
/** A run whose process has been silent for so long has ended with it. */
const silentAfterMs = 2 * 60_000
/** Longest conversation that is kept with a result. */
const maxEntries = 400

export const resultContext = (runId: string, position: number) => ({
  table: 'scenario_results',
  row: runId,
  column: `content ${position}`,
})

export interface NewRun {
  id: string
  agent: string
  hasInstructions: boolean
  names: readonly string[]
  actor: { type: 'user' | 'token'; id: string }
}

/** Stores a run that waits for its agent. Deletes the oldest ones; throws 409 while too many are going on. */
export async function insertRun(tx: Tx, workspaceId: string, run: NewRun, now: Date): Promise<void> {
  await endSilentRuns(tx, now, workspaceId)
  const [{ running = 0 } = {}] = await tx<{ running: number }[]>`
    select count(*)::integer as running
    from scenario_runs
    where workspace_id = ${workspaceId}
      and finished_at is null`
  if (running >= maxRunning) throw conflict(`${running} runs are going on. Wait until one has ended, or cancel it.`)
  const old = await tx<{ id: string }[]>`
    select id
    from scenario_runs
    where workspace_id = ${workspaceId}
    order by id desc
    offset ${maxRuns - 1}`
  const ids = old.map(({ id }) => id)
  await tx`
    delete from scenario_results
    where workspace_id = ${workspaceId}
      and run_id = any (${ids}::uuid[])`
  await tx`
    delete from scenario_runs
    where workspace_id = ${workspaceId}
      and id = any (${ids}::uuid[])`
  await tx`
    insert into scenario_runs (workspace_id, id, agent, status, has_instructions, created_at, renewed_at, actor_type, actor_id)
    values (
      ${workspaceId}, ${run.id}, ${run.agent}, 'waiting', ${run.hasInstructions}, ${now}, ${now}, ${run.actor.type},
      ${run.actor.id}
    )`
  await tx`
    insert into scenario_results (workspace_id, run_id, position, name, verdict)
    select ${workspaceId}, ${run.id}, n - 1, name, 'waiting'
    from unnest(${[...run.names]}::text[]) with ordinality as names (name, n)`
}

/** Marks runs as interrupted whose process has ended, of one workspace or of all. Returns how many. */
export async function endSilentRuns(tx: Tx, now: Date, workspaceId: string | null = null): Promise<number> {
  const rows = await tx<{ workspaceId: string; id: string }[]>`
    update scenario_runs
    set status = 'interrupted',
      finished_at = ${now}
    where finished_at is null
      and renewed_at < ${new Date(now.getTime() - silentAfterMs)}
      and (${workspaceId}::uuid is null or workspace_id = ${workspaceId}::uuid)
    returning workspace_id as "workspaceId", id`
  for (const run of rows) await skipRest(tx, run.workspaceId, run.id)
  return rows.length
}

/** Says that a run goes on. Returns whether someone has asked to cancel it. */
export async function renewRun(db: Db, workspaceId: string, runId: string, now: Date): Promise<boolean> {
  const [row] = await db.tx(
    (tx) => tx<{ cancelRequested: boolean }[]>`
      update scenario_runs
      set renewed_at = ${now}
      where workspace_id = ${workspaceId}
        and id = ${runId}
        and finished_at is null
      returning cancel_requested as "cancelRequested"`,
  )
  return row?.cancelRequested ?? true
}

/** Marks a scenario as being played. */
export async function startResult(db: Db, workspaceId: string, runId: string, position: number): Promise<void> {
  await db.tx(async (tx) => {
    await tx`
      update scenario_runs
      set status = 'running'
      where workspace_id = ${workspaceId}
        and id = ${runId}
        and status = 'waiting'`
    await tx`
      update scenario_results
      set verdict = 'running'
      where workspace_id = ${workspaceId}
        and run_id = ${runId}
        and position = ${position}`
  })
}

export async function storeResult(
  db: Db,
  keyring: Keyring,
  { workspaceId, runId }: { workspaceId: string; runId: string },
  position: number,
  { verdict, checks, entries, calls, ms }: ScenarioOutcome,
): Promise<void> {
  const content: ResultContent = { checks, entries: entries.slice(0, maxEntries), calls: calls.slice(0, maxEntries) }
  const sealed = keyring.encrypt(resultContext(runId, position), JSON.stringify(content))
  await db.tx(
    (tx) => tx`
      update scenario_results
      set verdict = ${verdict},
        ms = ${ms},
        content = ${sealed}
      where workspace_id = ${workspaceId}
        and run_id = ${runId}
        and position = ${position}`,
  )
}

/** Ends a run; scenarios that were not played are skipped. */
export async function endRun(
  db: Db,
  workspaceId: string,
  runId: string,
  status: Exclude<RunStatus, 'waiting' | 'running'>,
  now: Date,
): Promise<void> {
  await db.tx(async (tx) => {
    await skipRest(tx, workspaceId, runId)
    await tx`
      update scenario_runs
      set status = ${status},
        finished_at = ${now}
      where workspace_id = ${workspaceId}
        and id = ${runId}
        and finished_at is null`
  })
}

const skipRest = (tx: Tx, workspaceId: string, runId: string): PromiseLike<unknown> => tx`
  update scenario_results
  set verdict = 'skipped'
  where workspace_id = ${workspaceId}
    and run_id = ${runId}
    and verdict in ('waiting', 'running')`

/** Asks the process of a run to cancel it. Throws 404. */
export async function requestCancel(tx: Tx, workspaceId: string, runId: string): Promise<void> {
  const rows = await tx`
    update scenario_runs
    set cancel_requested = true
    where workspace_id = ${workspaceId}
      and id = ${runId}
    returning id`
  if (rows.length === 0) throw runNotFound()
}

const runNotFound = () => notFound('Run not found')

/** Returns the runs of a workspace, newest first; with `runId` only this one. */
export async function listRuns(sql: Sql, workspaceId: string, runId: string | null = null): Promise<RunRow[]> {
  return sql<RunRow[]>`
    select r.id, r.agent, r.status, r.has_instructions as "hasInstructions", r.created_at as "createdAt",
      r.finished_at as "finishedAt",
      (
        select coalesce(json_object_agg(verdict, n), '{}')
        from (
          select s.verdict, count(*)::integer as n
          from scenario_results s
          where s.workspace_id = ${workspaceId}
            and s.run_id = r.id
          group by s.verdict
        ) as counted
      ) as counts
    from scenario_runs r
    where r.workspace_id = ${workspaceId}
      and (${runId}::uuid is null or r.id = ${runId}::uuid)
    order by r.id desc
    limit ${maxRuns}`
}

export async function requireRun(sql: Sql, workspaceId: string, runId: string): Promise<RunRow> {
  const [run] = await listRuns(sql, workspaceId, runId)
  if (run === undefined) throw runNotFound()
  return run
}

interface ResultRow extends Omit<StoredResult, keyof ResultContent> {
  runId: string
  content: Buffer | null
}

function openResult(keyring: Keyring, { runId, content, ...row }: ResultRow): StoredResult {
  if (content === null) return { ...row, checks: [], entries: [], calls: [] }
  return { ...row, ...(JSON.parse(keyring.decryptText(resultContext(runId, row.position), content)) as ResultContent) }
}

/** Returns the results of a run, in the order of its scenarios. */
export async function listResults(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  runId: string,
): Promise<StoredResult[]> {
  const rows = await sql<ResultRow[]>`
    select run_id as "runId", position, name, verdict, ms, content
    from scenario_results
    where workspace_id = ${workspaceId}
      and run_id = ${runId}
    order by position`
  return rows.map((row) => openResult(keyring, row))
}

/** Returns for each scenario the newest result before a run, of the same agent. */
export async function listResultsBefore(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  { id, agent }: Pick<RunRow, 'id' | 'agent'>,
  names: readonly string[],
): Promise<(StoredResult & { verdict: Verdict })[]> {
  const rows = await sql<ResultRow[]>`
    select distinct on (s.name) s.run_id as "runId", s.position, s.name, s.verdict, s.ms, s.content
    from scenario_results s
    join scenario_runs r on r.workspace_id = s.workspace_id and r.id = s.run_id
    where s.workspace_id = ${workspaceId}
      and r.workspace_id = ${workspaceId}
      and r.id < ${id}
      and r.agent = ${agent}
      and s.name = any (${[...names]}::text[])
      and s.verdict in ('passed', 'failed', 'error')
    order by s.name, s.run_id desc`
  return rows.map((row) => openResult(keyring, row) as StoredResult & { verdict: Verdict })
}

/** Returns the verdict of the newest result of each scenario, by name. */
export async function listLastVerdicts(sql: Sql, workspaceId: string): Promise<Map<string, ResultVerdict>> {
  const rows = await sql<{ name: string; verdict: ResultVerdict }[]>`
    select distinct on (name) name, verdict
    from scenario_results
    where workspace_id = ${workspaceId}
    order by name, run_id desc`
  return new Map(rows.map(({ name, verdict }) => [name, verdict]))
}
