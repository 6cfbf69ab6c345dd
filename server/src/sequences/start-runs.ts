import type { Sql, Tx } from '../base/db.ts'
import { ApiError, conflict } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import { unnested } from '../base/postgres/rows.ts'
import type { LeadSequences } from '../leads/lead/lead.ts'
import type { Actor } from '../workspaces/actor.ts'
import { readServiceSettings } from '../workspaces/service/service-settings.ts'
import { endRunsOf, publishRun } from './run.ts'
import { dueOf, type Entry } from './run-rules.ts'
import { publishSequences, sequenceNotFound } from './sequence.ts'
import { limits, type Step } from './sequence-schema.ts'

/** Leads to start a sequence for, and by whom. */
export interface Start {
  sequenceId: string
  leadIds: readonly string[]
  entry: Entry
  actor: Actor
  /** The bulk change that starts it. */
  bulkChangeId?: string
}

/** What became of each lead. */
export interface Started {
  started: string[]
  /** In it already. */
  running: string[]
  /** Gone, without a phone, or with a status that ends it. */
  refused: string[]
}

interface StartedSequence {
  enabled: boolean
  version: number
  steps: Step[]
  endStatuses: string[]
}

/**
 * Starts a sequence for leads, each once at a time; whether a message can be sent is judged when it is due. Throws 404,
 * 409 `SEQUENCE_OFF`, and 409 if as many runs are active as may be.
 */
export async function startRuns(tx: Tx, workspaceId: string, start: Start, now: Date): Promise<Started> {
  // Shared: starts do not wait for each other, and switching it off waits for them.
  const [sequence] = await tx<StartedSequence[]>`
    select s.enabled, s.version, v.steps, s.end_statuses as "endStatuses"
    from sequences s
    join sequence_versions v on v.workspace_id = s.workspace_id and v.sequence_id = s.id and v.version = s.version
    where s.workspace_id = ${workspaceId}
      and s.id = ${start.sequenceId}
      and s.removed_at is null
    for share of s`
  if (sequence === undefined) throw sequenceNotFound()
  if (!sequence.enabled) throw conflict('The sequence is off. Switch it on first.', { code: 'SEQUENCE_OFF' })
  const leadIds = [...new Set(start.leadIds)]
  const fitting = await findFitting(tx, workspaceId, leadIds, sequence.endStatuses)
  const refused = leadIds.filter((id) => !fitting.has(id))
  if (fitting.size === 0) return { started: [], running: [], refused }
  await checkLimit(tx, workspaceId, fitting.size)
  const started = await insertRuns(tx, workspaceId, { ...start, leadIds: [...fitting] }, sequence, now)
  publishSequences(tx, workspaceId)
  for (const leadId of started.slice(0, maxPublished)) publishRun(tx, workspaceId, { leadId, conversationId: null })
  return { started, running: [...fitting].filter((id) => !started.includes(id)), refused }
}

const maxPublished = 100

async function findFitting(
  sql: Sql,
  workspaceId: string,
  leadIds: readonly string[],
  endStatuses: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ id: string }[]>`
    select id
    from leads
    where workspace_id = ${workspaceId}
      and id = any (${[...leadIds]}::uuid[])
      and deleted_at is null
      and phone_index is not null
      and status <> all (${[...endStatuses]}::text[])`
  return new Set(rows.map(({ id }) => id))
}

/** One transaction of a workspace at a time starts runs, so that the limit holds. */
async function checkLimit(tx: Tx, workspaceId: string, added: number): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`sequences ${workspaceId}`}, 0))`
  const [row] = await tx<{ count: number }[]>`
    select count(*)::integer as count
    from sequence_runs
    where workspace_id = ${workspaceId}
      and state = 'active'`
  if ((row?.count ?? 0) + added <= limits.activeRuns) return
  throw conflict(`At most ${limits.activeRuns} leads can be in sequences at a time. Stop some first.`)
}

async function insertRuns(
  tx: Tx,
  workspaceId: string,
  { sequenceId, leadIds, entry, actor, bulkChangeId }: Start,
  { version, steps: [first] }: StartedSequence,
  now: Date,
): Promise<string[]> {
  if (first === undefined) throw new Error('A sequence has no steps')
  const hours = first.businessHours ? (await readServiceSettings(tx, workspaceId)).hours : null
  const dueAt = dueOf(now, first, hours)
  const rows = leadIds.map((leadId) => ({ id: newId(now), leadId }))
  const inserted = await tx<{ leadId: string }[]>`
    insert into sequence_runs (
      workspace_id, id, sequence_id, version, lead_id, state, step, due_at, next_at, entry, bulk_change_id, actor_type,
      actor_id, created_at
    )
    select ${workspaceId}::uuid, n.id, ${sequenceId}::uuid, ${version}::integer, n.lead_id, 'active', 0,
      ${dueAt}::timestamptz, ${dueAt}::timestamptz, ${entry}, ${bulkChangeId ?? null}::uuid, ${actor.type}, ${actor.id}::uuid,
      ${now}::timestamptz
    from ${unnested(rows, { uuid: ['id', 'leadId'] })}
    on conflict (workspace_id, sequence_id, lead_id) where state = 'active' do nothing
    returning lead_id as "leadId"`
  return inserted.map(({ leadId }) => leadId)
}

/** What starts sequences by itself: a form that was submitted, or labels that were added to a lead. */
export type Cause = { formId: string; leadId: string } | { labelIds: readonly string[]; leadId: string }

/**
 * Starts the sequences that are on for these causes. None stops what has caused it: one that is full is left out. A form
 * starts each for a number once in 24 hours. `actor` is who has caused it.
 */
export async function startBy(
  tx: Tx,
  workspaceId: string,
  causes: readonly Cause[],
  actor: Actor,
  now: Date,
): Promise<void> {
  const formIds = causes.flatMap((cause) => ('formId' in cause ? cause.formId : []))
  const labelIds = [...new Set(causes.flatMap((cause) => ('labelIds' in cause ? cause.labelIds : [])))]
  if (formIds.length + labelIds.length === 0) return
  const sequences = await tx<{ id: string; formIds: string[]; labelIds: string[] }[]>`
    select id, form_ids as "formIds", label_ids as "labelIds"
    from sequences
    where workspace_id = ${workspaceId}
      and enabled
      and (form_ids && ${formIds}::uuid[] or label_ids && ${labelIds}::uuid[])
    order by id`
  for (const { id: sequenceId, ...by } of sequences) {
    const isBy = (cause: Cause) =>
      'formId' in cause ? by.formIds.includes(cause.formId) : cause.labelIds.some((one) => by.labelIds.includes(one))
    const caused = causes.filter(isBy).map(({ leadId }) => leadId)
    const entry = formIds.length > 0 ? 'form' : 'label'
    const leadIds = entry === 'form' ? await withoutRecent(tx, workspaceId, sequenceId, caused, now) : caused
    await startUnlessRefused(tx, workspaceId, { sequenceId, leadIds, entry, actor }, now)
  }
}

/** Anyone can submit a form with the number of another, who must not get the same messages again and again. */
const formPauseMs = 24 * 3_600_000

async function withoutRecent(
  sql: Sql,
  workspaceId: string,
  sequenceId: string,
  leadIds: readonly string[],
  now: Date,
): Promise<string[]> {
  // Each submission is a lead of its own.
  const rows = await sql<{ id: string }[]>`
    select distinct l.id
    from leads l
    join leads o on o.workspace_id = ${workspaceId} and o.phone_index = l.phone_index
    join sequence_runs r on r.workspace_id = ${workspaceId} and r.lead_id = o.id
    where l.workspace_id = ${workspaceId}
      and l.id = any (${[...leadIds]}::uuid[])
      and o.deleted_at is null
      and r.sequence_id = ${sequenceId}
      and r.created_at > ${new Date(now.getTime() - formPauseMs)}`
  const recent = new Set(rows.map(({ id }) => id))
  return leadIds.filter((id) => !recent.has(id))
}

async function startUnlessRefused(tx: Tx, workspaceId: string, start: Start, now: Date): Promise<void> {
  try {
    await startRuns(tx, workspaceId, start, now)
  } catch (error) {
    // Nothing was written: full, or switched off a moment ago.
    if (!(error instanceof ApiError)) throw error
  }
}

export const leadSequences: LeadSequences = {
  start: startRuns,
  undo: (tx, workspaceId, bulkChangeId, leadIds, now) => {
    const which = tx`bulk_change_id = ${bulkChangeId} and lead_id = any (${[...leadIds]}::uuid[])`
    return endRunsOf(tx, workspaceId, which, 'stopped', now)
  },
  labelsAdded: (tx, workspaceId, changes, actor, now) => {
    const causes = changes.flatMap(({ leadId, added }) => (added.length === 0 ? [] : [{ leadId, labelIds: added }]))
    return startBy(tx, workspaceId, causes, actor, now)
  },
}
