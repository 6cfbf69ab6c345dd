import type { Fragment, Sql, Tx } from '../base/db.ts'
import { publishConversations } from '../inbox/conversation/conversation.ts'
import { publishLead } from '../team/live-updates.ts'
import type { EndReason, Entry } from './run-rules.ts'

/** A lead on its way through a sequence. */
export interface Run {
  id: string
  sequenceId: string
  version: number
  leadId: string
  conversationId: string | null
  state: 'active' | 'ended'
  reason: EndReason | null
  /** Why it ends once the result of the message on its way is known. */
  stopping: EndReason | null
  /** Position of the next step. */
  step: number
  dueAt: Date | null
  heldBy: string | null
  /** The message of the step, from its reservation until its result is known. */
  messageId: string | null
  entry: Entry
  createdAt: Date
  endedAt: Date | null
}

export const runColumns = (sql: Sql): Fragment => sql`
  r.id, r.sequence_id as "sequenceId", r.version, r.lead_id as "leadId", r.conversation_id as "conversationId", r.state,
  r.reason, r.stopping, r.step, r.due_at as "dueAt", r.held_by as "heldBy", r.message_id as "messageId",
  r.entry, r.created_at as "createdAt", r.ended_at as "endedAt"`

/** Longer than almost every send. A second process that takes over can do no harm: the send has an idempotency key. */
const leaseMs = 120_000
/** Few, so that all are worked on within the lease. */
const maxClaimed = 20

/** Returns the workspaces with runs that are due. */
export async function listDueWorkspaces(sql: Sql, now: Date): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select distinct workspace_id as id
    from sequence_runs
    where next_at <= ${now}`
  return rows.map(({ id }) => id)
}

/** Takes the lease of the next due runs of a workspace; other processes skip them. */
export async function claimRuns(tx: Tx, workspaceId: string, now: Date): Promise<Run[]> {
  return tx<Run[]>`
    with due as (
      select id
      from sequence_runs
      where workspace_id = ${workspaceId}
        and next_at <= ${now}
      order by next_at, id
      limit ${maxClaimed}
      for update skip locked
    )
    update sequence_runs r
    set next_at = ${new Date(now.getTime() + leaseMs)}
    from due
    where r.workspace_id = ${workspaceId}
      and r.id = due.id
    returning ${runColumns(tx)}`
}

type RunKey = Pick<Run, 'id' | 'step'>

/** SQL: the run is at this step, and no message of it is on its way. */
const isWaiting = (sql: Sql, workspaceId: string, { id, step }: RunKey): Fragment => sql`
  workspace_id = ${workspaceId}
  and id = ${id}
  and step = ${step}
  and state = 'active'
  and message_id is null`

/** Locks a run until the transaction ends; returns false if it has ended, or another process has done the step. */
export async function lockWaiting(tx: Tx, workspaceId: string, run: RunKey): Promise<boolean> {
  const rows = await tx`
    select id
    from sequence_runs
    where ${isWaiting(tx, workspaceId, run)}
    for update`
  return rows.length > 0
}

/** Marks the message of the step as on its way, in the transaction that reserves it. Requires `lockWaiting`. */
export async function markSending(
  tx: Tx,
  workspaceId: string,
  run: Run,
  { id: messageId, conversationId }: { id: string; conversationId: string },
  now: Date,
): Promise<void> {
  await tx`
    update sequence_runs
    set message_id = ${messageId},
      conversation_id = ${conversationId},
      held_by = null
    where ${isWaiting(tx, workspaceId, run)}`
  await insertStep(tx, workspaceId, run, { state: 'sending', code: null, messageId }, now)
}

/** What became of a step. */
export interface StepResult {
  state: 'sending' | 'sent' | 'failed' | 'skipped'
  code: string | null
  messageId: string | null
}

export async function insertStep(
  tx: Tx,
  workspaceId: string,
  { id, step, sequenceId, version }: Run,
  { state, code, messageId }: StepResult,
  now: Date,
): Promise<void> {
  await tx`
    insert into sequence_run_steps (
      workspace_id, run_id, step, sequence_id, version, state, code, message_id, created_at
    )
    values (${workspaceId}, ${id}, ${step}, ${sequenceId}, ${version}, ${state}, ${code}, ${messageId}, ${now})`
}

/** Platforms report failures also after they have accepted a message: corrects the steps of these runs `r`. */
export async function noteLateFailures(tx: Tx, workspaceId: string, which: Fragment): Promise<void> {
  await tx`
    update sequence_run_steps s
    set state = 'failed',
      code = m.error_code
    from sequence_runs r
    join messages m on m.workspace_id = ${workspaceId} and m.status = 'failed'
    where s.workspace_id = ${workspaceId}
      and s.state = 'sent'
      and r.workspace_id = ${workspaceId}
      and r.id = s.run_id
      and m.id = s.message_id
      and ${which}`
}

/** How a locked run goes on. */
export type RunProgress = Pick<Run, 'step'> & ({ end: EndReason } | { dueAt: Date })

/** Stores that a step is done. Requires the lock of the run. */
export async function storeProgress(
  tx: Tx,
  workspaceId: string,
  run: Pick<Run, 'id' | 'leadId' | 'conversationId'>,
  progress: RunProgress,
  now: Date,
): Promise<void> {
  const end = 'end' in progress ? progress.end : null
  const dueAt = 'end' in progress ? null : progress.dueAt
  await tx`
    update sequence_runs
    set step = ${progress.step},
      message_id = null,
      held_by = null,
      state = ${end === null ? 'active' : 'ended'},
      reason = ${end},
      due_at = ${dueAt},
      next_at = ${dueAt},
      ended_at = ${end === null ? null : now}
    where workspace_id = ${workspaceId}
      and id = ${run.id}`
  publishRun(tx, workspaceId, run)
}

/** Postpones a step that cannot be done now. `heldBy` is null if it is only due later. */
export async function postponeRun(
  tx: Tx,
  workspaceId: string,
  run: Run,
  { nextAt, dueAt, heldBy }: { nextAt: Date; dueAt: Date | null; heldBy: string | null },
): Promise<void> {
  await tx`
    update sequence_runs
    set next_at = ${nextAt},
      due_at = ${dueAt},
      held_by = ${heldBy}
    where ${isWaiting(tx, workspaceId, run)}`
  publishRun(tx, workspaceId, run)
}

/** Ends a run that waits at this step; returns whether it did. */
export async function endWaiting(
  tx: Tx,
  workspaceId: string,
  run: Run,
  reason: EndReason,
  now: Date,
): Promise<boolean> {
  const { count } = await tx`
    update sequence_runs
    set ${endedBy(tx, reason, now)}
    where ${isWaiting(tx, workspaceId, run)}`
  if (count > 0) publishRun(tx, workspaceId, run)
  return count > 0
}

const endedBy = (tx: Tx, reason: EndReason, now: Date): Fragment => tx`
  state = 'ended',
  reason = ${reason},
  due_at = null,
  held_by = null,
  next_at = null,
  ended_at = ${now}`

/**
 * Ends the active runs that `which` selects. Those with a message on its way end when its result is known: it can no
 * longer be stopped. Returns how many there were.
 */
export async function endRunsOf(
  tx: Tx,
  workspaceId: string,
  which: Fragment,
  reason: EndReason,
  now: Date,
): Promise<number> {
  // One statement, which decides by each row as it is under its lock.
  const ofWaiting = (value: Fragment, column: Fragment) =>
    tx`case when message_id is null then ${value} else ${column} end`
  const runs = await tx<Pick<Run, 'leadId' | 'conversationId'>[]>`
    update sequence_runs
    set state = ${ofWaiting(tx`'ended'`, tx`state`)},
      reason = ${ofWaiting(tx`${reason}`, tx`reason`)},
      stopping = case when message_id is null then stopping else ${reason} end,
      due_at = ${ofWaiting(tx`null`, tx`due_at`)},
      held_by = null,
      next_at = ${ofWaiting(tx`null`, tx`next_at`)},
      ended_at = ${ofWaiting(tx`${now}::timestamptz`, tx`ended_at`)}
    where workspace_id = ${workspaceId}
      and state = 'active'
      and ${which}
    returning lead_id as "leadId", conversation_id as "conversationId"`
  if (runs.length <= maxPublished) for (const run of runs) publishRun(tx, workspaceId, run)
  return runs.length
}

/** Open pages of more leads are not told. */
const maxPublished = 100

/** Updates open pages of the lead and the conversation. */
export function publishRun(
  tx: Tx,
  workspaceId: string,
  { leadId, conversationId }: Pick<Run, 'leadId' | 'conversationId'>,
): void {
  publishLead(tx, workspaceId, leadId)
  if (conversationId !== null) publishConversations(tx, workspaceId, [conversationId])
}
