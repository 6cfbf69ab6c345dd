import type { Fragment, Sql } from '../base/db.ts'
import { notFound } from '../base/errors.ts'
import { type InboxDeps, inWorkspace } from '../inbox/conversation/conversation.ts'
import { opaqueWorkspaceId } from '../inbox/conversation/queries.ts'
import { decryptListedLead, type ListedLeadRow } from '../leads/lead/encrypted-lead.ts'
import { findLeadsByIds, listedLeadColumns } from '../leads/lead/queries.ts'
import { recordAudit } from '../team/audit.ts'
import type { Member } from '../team/member.ts'
import { endRunsOf, type Run, runColumns, type StepResult } from './run.ts'
import type { EndReason } from './run-rules.ts'
import { runPage } from './sequence-schema.ts'

/** A run as pages show it. */
export interface ShownRun extends Run {
  sequenceName: string
  leadName: string | null
  /** How many steps there are. */
  steps: number
  done: (StepResult & { step: number; at: Date })[]
}

type ReadDeps = Pick<InboxDeps, 'db' | 'keyStore' | 'clock'>

/** Lists runs of a sequence, newest first, before one; in all states or one. */
export async function listRuns(
  deps: ReadDeps,
  workspaceId: string,
  { sequenceId, state, before }: { sequenceId: string; state: Run['state'] | null; before: string | null },
): Promise<ShownRun[]> {
  const { sql } = deps.db
  const which = sql`
    r.sequence_id = ${sequenceId}
    ${state === null ? sql`` : sql`and r.state = ${state}`}
    ${before === null ? sql`` : sql`and r.id < ${before}::uuid`}`
  return selectRuns(deps, workspaceId, which, runPage)
}

/** Ended runs of a lead that are shown with the active ones. */
const maxOfLead = 20

/** Lists the runs of a lead, newest first. */
export async function listRunsOfLead(deps: ReadDeps, workspaceId: string, leadId: string): Promise<ShownRun[]> {
  return selectRuns(deps, workspaceId, deps.db.sql`r.lead_id = ${leadId}`, maxOfLead)
}

async function selectRuns(
  { db: { sql }, keyStore }: ReadDeps,
  workspaceId: string,
  which: Fragment,
  limit: number,
): Promise<ShownRun[]> {
  const runs = await sql<(Run & { sequenceName: string; steps: number; endStatuses: string[] })[]>`
    select ${runColumns(sql)}, s.name as "sequenceName", s.end_statuses as "endStatuses",
      jsonb_array_length(v.steps)::integer as steps
    from sequence_runs r
    join sequences s on s.workspace_id = r.workspace_id and s.id = r.sequence_id
    join sequence_versions v
      on v.workspace_id = r.workspace_id and v.sequence_id = r.sequence_id and v.version = r.version
    where r.workspace_id = ${opaqueWorkspaceId(sql, workspaceId)}
      and ${which}
    order by r.id desc
    limit ${limit}`
  const [done, leads] = await Promise.all([
    readSteps(sql, workspaceId, runs),
    findLeadsByIds<ListedLeadRow>(
      sql,
      workspaceId,
      [...new Set(runs.map(({ leadId }) => leadId))],
      listedLeadColumns(sql),
    ),
  ])
  const found = await keyStore.withKeyring(workspaceId, async (keyring) =>
    leads.map((row) => decryptListedLead(keyring, row)),
  )
  const byId = new Map(found.map((lead) => [lead.id, lead]))
  return runs.map(({ endStatuses, ...run }) => {
    const lead = byId.get(run.leadId)
    const leadName = lead === undefined ? null : [lead.firstName, lead.lastName].filter(Boolean).join(' ')
    return { ...asJudged(run, lead?.status ?? null, endStatuses), leadName, done: done.get(run.id) ?? [] }
  })
}

/** A change of the lead's status is judged when the next step is due; it is shown at once. */
function asJudged<R extends Run>(run: R, status: string | null, endStatuses: readonly string[]): R {
  if (run.state === 'ended' || run.messageId !== null) return run
  const reason: EndReason | null = status === null ? 'lead_gone' : endStatuses.includes(status) ? 'status' : null
  return reason === null ? run : { ...run, state: 'ended' as const, reason, dueAt: null, heldBy: null }
}

async function readSteps(
  sql: Sql,
  workspaceId: string,
  runs: readonly Run[],
): Promise<ReadonlyMap<string, ShownRun['done']>> {
  if (runs.length === 0) return new Map()
  const rows = await sql<(ShownRun['done'][number] & { runId: string })[]>`
    select run_id as "runId", step, state, code, message_id as "messageId", created_at as at
    from sequence_run_steps
    where workspace_id = ${workspaceId}
      and run_id = any (${runs.map(({ id }) => id)}::uuid[])
    order by run_id, step`
  return Map.groupBy(rows, ({ runId }) => runId)
}

export interface Counts {
  started: number
  active: number
  steps: { reached: number; sent: number; failed: number; skipped: number; answered: number }[]
  ended: { reason: EndReason; count: number }[]
}

/** Counts what became of the runs that began with a version. */
export async function countRuns(
  sql: Sql,
  workspaceId: string,
  { id, version, steps }: { id: string; version: number; steps: readonly unknown[] },
): Promise<Counts> {
  const [runs, done] = await Promise.all([
    sql<{ step: number; reason: EndReason | null; count: number }[]>`
      select step, reason, count(*)::integer as count
      from sequence_runs
      where workspace_id = ${workspaceId}
        and sequence_id = ${id}
        and version = ${version}
      group by step, reason`,
    sql<{ step: number; state: StepResult['state']; count: number }[]>`
      select step, state, count(*)::integer as count
      from sequence_run_steps
      where workspace_id = ${workspaceId}
        and sequence_id = ${id}
        and version = ${version}
      group by step, state`,
  ])
  const sum = (some: readonly { count: number }[]) => some.reduce((total, { count }) => total + count, 0)
  const ended = Map.groupBy(
    runs.filter((row): row is typeof row & { reason: EndReason } => row.reason !== null),
    ({ reason }) => reason,
  )
  return {
    started: sum(runs),
    active: sum(runs.filter(({ reason }) => reason === null)),
    steps: steps.map((_, n) => {
      const here = done.filter(({ step }) => step === n)
      const inState = (state: StepResult['state']) => sum(here.filter((row) => row.state === state))
      return {
        reached: sum(here),
        ...{ sent: inState('sent'), failed: inState('failed'), skipped: inState('skipped') },
        answered: sum(runs.filter(({ step, reason }) => reason === 'answered' && step === n + 1)),
      }
    }),
    ended: [...ended]
      .map(([reason, rows]) => ({ reason, count: sum(rows) }))
      .sort((a, b) => b.count - a.count || a.reason.localeCompare(b.reason)),
  }
}

/** Stops a run of a lead; repeating it changes nothing. Throws 404. */
export async function stopRun(
  deps: ReadDeps,
  { workspaceId, actor }: Pick<Member, 'workspaceId' | 'actor'>,
  runId: string,
): Promise<ShownRun> {
  await inWorkspace(deps, workspaceId, async ({ tx, now }) => {
    const ended = await endRunsOf(tx, workspaceId, tx`id = ${runId}`, 'stopped', now)
    const entry = { scopeId: workspaceId, actor, action: 'sequence.stopped', target: `run:${runId}` }
    if (ended > 0) await recordAudit(tx, entry, now)
  })
  const [run] = await selectRuns(deps, workspaceId, deps.db.sql`r.id = ${runId}`, 1)
  if (run === undefined) throw notFound('Run not found', { code: 'NOT_FOUND' })
  return run
}
