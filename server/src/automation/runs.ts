import { type Db, publish, type Sql, type Tx } from '../base/db.ts'
import { newId } from '../base/id.ts'
import { unnested } from '../base/postgres/rows.ts'
import type { Situation } from './facts.ts'
import type { Rule } from './judge.ts'
import { automationTopic } from './rules.ts'

export type RunState = 'pending' | 'done' | 'failed' | 'skipped'

/** Why a run did not do all of its actions, besides the codes of errors. */
export const skipReasons = [
  'condition',
  'rule_changed',
  'rule_off',
  'customer_wrote',
  'gone',
  'no_conversation',
  'no_lead',
  'not_matched',
] as const
export type SkipReason = (typeof skipReasons)[number]

/** What a rule does about one event. */
export interface Run {
  workspaceId: string
  id: string
  ruleId: string
  ruleVersion: number
  conversationId: string | null
  leadId: string | null
  inboundId: string | null
  eventId: string | null
  step: number
  attempts: number
  createdAt: Date
}

export interface NewRun {
  rule: Rule
  situation: Situation
  depth: number
  /** Null: to be done; else the condition that did not hold. */
  unmet: number | null
}

/** Stores what rules are to do, once for each rule and event; and of what they left alone only what is given. */
export async function insertRuns(tx: Tx, workspaceId: string, runs: readonly NewRun[], now: Date): Promise<void> {
  if (runs.length === 0) return
  const rows = runs.map(({ rule, situation: { occurrence, conversation, lead }, depth, unmet }) => ({
    ...{ id: newId(now), ruleId: rule.id, eventId: occurrence.eventId, depth },
    ...{ ruleVersion: rule.version, condition: unmet, state: unmet === null ? 'pending' : 'skipped' },
    // One that is only noted must not keep a later match of the same event from acting.
    eventKey: unmet === null ? occurrence.key : newId(now),
    conversationId: conversation?.id ?? null,
    leadId: occurrence.leadId === null ? null : (lead?.id ?? null),
    inboundId: conversation?.inbound.newest ?? null,
  }))
  await tx`
    insert into automation_runs (
      workspace_id, id, rule_id, rule_version, event_key, conversation_id, lead_id, inbound_id, event_id, depth, state,
      condition, code, due_at, created_at, ended_at
    )
    select ${workspaceId}::uuid, n.id, n.rule_id, n.rule_version, n.event_key, n.conversation_id, n.lead_id,
      n.inbound_id, n.event_id, n.depth, n.state, n.condition,
      case when n.state = 'skipped' then 'not_matched' end,
      case when n.state = 'pending' then ${now}::timestamptz end, ${now}::timestamptz,
      case when n.state = 'skipped' then ${now}::timestamptz end
    from ${unnested(rows, {
      uuid: ['id', 'ruleId', 'eventKey', 'conversationId', 'leadId', 'inboundId', 'eventId'],
      integer: ['ruleVersion', 'depth', 'condition'],
      text: ['state'],
    })}
    on conflict (workspace_id, rule_id, event_key) do nothing`
  publish(tx, automationTopic, workspaceId)
}

/** Longer than an action takes; a process that works longer renews it with each action. */
const claimMs = 60_000
const maxClaimed = 32

/** Returns the workspaces with runs that are due, longest waiting first. */
export async function listDueWorkspaces(sql: Sql, now: Date): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select workspace_id as id
    from automation_runs
    where due_at <= ${now}
      and (claimed_until is null or claimed_until <= ${now})
    order by due_at
    limit 1000`
  return [...new Set(rows.map(({ id }) => id))]
}

/** Claims runs of a workspace that are due, in the order in which they were stored. */
export async function claimRuns(db: Db, workspaceId: string, now: Date): Promise<Run[]> {
  const rows = await db.statement(
    (tx) => tx<Run[]>`
      with due as (
        select id
        from automation_runs
        where workspace_id = ${workspaceId}
          and due_at <= ${now}
          and (claimed_until is null or claimed_until <= ${now})
        order by due_at, id
        limit ${maxClaimed}
        for update skip locked
      )
      update automation_runs r
      set claimed_until = ${new Date(now.getTime() + claimMs)}
      from due
      where r.workspace_id = ${workspaceId}
        and r.id = due.id
      returning ${runColumns(tx)}`,
  )
  return rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

const runColumns = (sql: Sql) => sql`
  r.workspace_id as "workspaceId", r.id, r.rule_id as "ruleId", r.rule_version as "ruleVersion",
  r.conversation_id as "conversationId", r.lead_id as "leadId", r.inbound_id as "inboundId", r.event_id as "eventId",
  r.step, r.attempts, r.created_at as "createdAt"`

type RunKey = Pick<Run, 'workspaceId' | 'id' | 'step'>

/** Locks a run until the transaction ends; returns false if its action was done, by this process or another. */
export async function lockRun(tx: Tx, { workspaceId, id, step }: RunKey): Promise<boolean> {
  const rows = await tx`
    select
    from automation_runs
    where workspace_id = ${workspaceId}
      and id = ${id}
      and step = ${step}
      and state = 'pending'
    for update`.execute()
  return rows.length > 0
}

/** Counts an action as done, in the transaction that does it; the next is due now or later. */
export async function advanceRun(tx: Tx, { workspaceId, id, step }: RunKey, now: Date, dueAt = now): Promise<void> {
  await tx`
    update automation_runs
    set step = ${step + 1},
      attempts = 0,
      code = null,
      due_at = ${dueAt},
      claimed_until = ${dueAt > now ? null : new Date(now.getTime() + claimMs)}
    where workspace_id = ${workspaceId}
      and id = ${id}
      and step = ${step}
      and state = 'pending'`.execute()
}

export interface RunEnd {
  state: Exclude<RunState, 'pending'>
  code: string | null
  condition?: number | null
}

/** Returns false if another process has ended it. */
export async function endRun(tx: Tx, run: RunKey, end: RunEnd, now: Date): Promise<boolean> {
  const { count } = await tx`
    update automation_runs
    set state = ${end.state},
      code = ${end.code},
      condition = ${end.condition ?? null},
      due_at = null,
      claimed_until = null,
      ended_at = ${now}
    where workspace_id = ${run.workspaceId}
      and id = ${run.id}
      and step = ${run.step}
      and state = 'pending'`
  return count > 0
}

/** Tries an action again later. The code says why, in the rule's log. */
export async function postponeRun(
  tx: Tx,
  { workspaceId, id, step }: RunKey,
  dueAt: Date,
  code: string | null,
): Promise<void> {
  await tx`
    update automation_runs
    set attempts = attempts + 1,
      code = ${code},
      due_at = ${dueAt},
      claimed_until = null
    where workspace_id = ${workspaceId}
      and id = ${id}
      and step = ${step}
      and state = 'pending'`
}

/** Returns how many runs in a row led to what these rules did in these conversations or leads; 0 without one. */
export async function readDepths(
  sql: Sql,
  workspaceId: string,
  caused: readonly { ruleId: string; subjectId: string }[],
): Promise<ReadonlyMap<string, number>> {
  const depths = new Map<string, number>()
  const unique = new Map(caused.map((one) => [depthKey(one), one]))
  for (const [key, { ruleId, subjectId }] of unique) {
    const [row] = await sql<{ depth: number }[]>`
      select depth
      from automation_runs
      where workspace_id = ${workspaceId}
        and rule_id = ${ruleId}
        and (conversation_id = ${subjectId} or lead_id = ${subjectId})
        and state <> 'skipped'
      order by id desc
      limit 1`
    depths.set(key, row?.depth ?? 0)
  }
  return depths
}

export const depthKey = ({ ruleId, subjectId }: { ruleId: string; subjectId: string }): string =>
  `${ruleId} ${subjectId}`

/** A run as the log shows it. */
export interface LoggedRun extends Pick<Run, 'id' | 'conversationId' | 'leadId' | 'step' | 'createdAt'> {
  state: RunState
  code: string | null
  condition: number | null
  dueAt: Date | null
}

export const logPage = 50

/** Returns a page of what a rule did and left alone, newest first. */
export async function listRuns(
  sql: Sql,
  workspaceId: string,
  ruleId: string,
  before: string | null,
): Promise<LoggedRun[]> {
  return sql<LoggedRun[]>`
    select id, conversation_id as "conversationId", lead_id as "leadId", step, created_at as "createdAt", state, code,
      condition, due_at as "dueAt"
    from automation_runs
    where workspace_id = ${workspaceId}
      and rule_id = ${ruleId}
      ${before === null ? sql`` : sql`and id < ${before}`}
    order by id desc
    limit ${logPage}`
}

/** Runs that were only noted and are kept of each rule. */
const maxNoted = 100

/** Deletes all but the newest notes of what each rule left alone. Returns how many. */
export async function deleteOldNotes(db: Db): Promise<number> {
  const rules = await db.sql<{ workspaceId: string; id: string }[]>`
    select workspace_id as "workspaceId", rule_id as id
    from automation_runs
    where code = 'not_matched'
    group by workspace_id, rule_id
    having count(*) > ${maxNoted}
    limit 1000`
  let deleted = 0
  for (const { workspaceId, id } of rules) {
    const isNote = (tx: Tx) => tx`workspace_id = ${workspaceId} and rule_id = ${id} and code = 'not_matched'`
    const { count } = await db.statement(
      (tx) => tx`
        delete from automation_runs
        where ${isNote(tx)}
          and id < (
            select id
            from automation_runs
            where ${isNote(tx)}
            order by id desc
            offset ${maxNoted - 1}
            limit 1
          )`,
    )
    deleted += count
  }
  return deleted
}
