import type { Fragment, Sql } from '../../base/db.ts'
import { timestampArray } from '../../base/postgres/values.ts'
import { decryptHandover, type HandoverRow, handoverColumns } from '../assignment/handovers.ts'
import type { WorkspaceSql } from '../conversation/conversation.ts'
import { type DraftRow, type DraftStatus, decryptDraft, draftColumns } from '../drafts/draft.ts'
import { type CaseOutcome, caseOutcomes, createdIn, endedCases, instructionsOf } from './ended-cases.ts'

export interface NumbersSpan {
  workspaceId: string
  from: Date
  /** First moment after it. */
  to: Date
  now: Date
}

export interface CaseCount {
  keyId: string
  outcome: CaseOutcome
  /** Number of the day, from 1; null: of a version of the instructions. */
  day: number | null
  /** With `day` null: the version of the instructions, null for none. */
  instructionsId: string | null
  cases: number
  /** Those in which the agent answered. */
  answered: number
}

/** Counts the cases of agents that ended in the period: by day, and by version of the instructions. */
export async function countCases(
  sql: Sql,
  { workspaceId, from, to, now }: NumbersSpan,
  starts: readonly Date[],
): Promise<CaseCount[]> {
  const where = createdIn(sql, sql`a`, { from, to })
  return sql<CaseCount[]>`
    with ${endedCases(sql, { workspaceId, where, now })},
    counted as (
      select c.key_id, c.outcome, c.answered_at, v.id as instructions_id,
        width_bucket(c.ended_at, ${timestampArray(starts)}::timestamptz[]) as day
      from cases c
      ${instructionsOf(sql, workspaceId)}
    )
    select n.key_id as "keyId", n.outcome, n.day, n.instructions_id as "instructionsId",
      count(*)::integer as cases, count(n.answered_at)::integer as answered
    from counted n
    group by grouping sets ((n.key_id, n.outcome, n.day), (n.key_id, n.outcome, n.instructions_id))`
}

export interface InstructionsName {
  id: string
  /** Null: of all keys. */
  keyId: string | null
  version: number
}

/** Returns the numbers of published versions of instructions. */
export function listInstructions(sql: Sql, workspaceId: string, ids: readonly string[]) {
  return sql<InstructionsName[]>`
    select id, key_id as "keyId", version
    from instruction_versions
    where workspace_id = ${workspaceId}
      and id = any (${[...ids]}::uuid[])
      and version is not null`
}

export interface DraftCount {
  keyId: string
  status: DraftStatus
  drafts: number
  /** Mean share of changed words of the edited ones. */
  distance: number | null
}

/** Counts the drafts that agents proposed in the period, by what became of them. */
export function countDrafts(sql: Sql, span: NumbersSpan): Promise<DraftCount[]> {
  return sql<DraftCount[]>`
    select d.key_id as "keyId", d.status, count(*)::integer as drafts,
      avg(d.distance) filter (where d.status = 'edited') as distance
    from drafts d
    where d.workspace_id = ${span.workspaceId}
      and ${createdIn(sql, sql`d`, span)}
    group by d.key_id, d.status`
}

/** Numbers whose conversations can be listed. */
export const listedNumbers = [...caseOutcomes, 'answered', 'draft_sent', 'draft_edited', 'draft_rejected'] as const
export type ListedNumber = (typeof listedNumbers)[number]

export interface CountedConversation {
  /** Of the activity or draft. */
  id: string
  conversationId: string
  at: Date
}

interface ListRequest {
  keyId: string
  number: ListedNumber
  /** The last id of the page before; null for the first page. */
  before: string | null
  limit: number
}

/** Returns the conversations that a number counts, newest first. */
export async function listCounted(
  sql: Sql,
  span: NumbersSpan,
  { keyId, number, before, limit }: ListRequest,
): Promise<CountedConversation[]> {
  const { workspaceId, now } = span
  const following = (id: Fragment) => (before === null ? sql`` : sql`and ${id} < ${before}::uuid`)
  if (number.startsWith('draft_')) {
    return sql<CountedConversation[]>`
      select d.id, d.conversation_id as "conversationId", d.created_at as at
      from drafts d
      where d.workspace_id = ${workspaceId}
        and ${createdIn(sql, sql`d`, span)}
        and d.key_id = ${keyId}
        and d.status = ${number.slice('draft_'.length)}
        ${following(sql`d.id`)}
      order by d.id desc
      limit ${limit}`
  }
  const where = sql`${createdIn(sql, sql`a`, span)} ${following(sql`a.id`)}`
  return sql<CountedConversation[]>`
    with ${endedCases(sql, { workspaceId, where, now })}
    select c.id, c.conversation_id as "conversationId", c.ended_at as at
    from cases c
    where c.key_id = ${keyId}
      and ${number === 'answered' ? sql`c.answered_at is not null` : sql`c.outcome = ${number}`}
    order by c.id desc
    limit ${limit}`
}

/** Texts of this many handovers and rejections are read, newest first. */
export const maxReasonsRead = 500
const maxReasons = 20

export interface CountedReason {
  /** Null: none was given. */
  reason: string | null
  count: number
}

/** Returns why the agent handed over to people, and why people rejected its drafts; most common first. */
export async function readReasons(
  { sql, keyring, workspaceId }: WorkspaceSql,
  keyId: string,
  span: NumbersSpan,
): Promise<{ handovers: CountedReason[]; rejections: CountedReason[] }> {
  const [handovers, drafts] = await Promise.all([
    sql<HandoverRow[]>`
      select ${handoverColumns(sql)}
      from conversation_handovers h
      where h.workspace_id = ${workspaceId}
        and ${createdIn(sql, sql`h`, span)}
        and h.actor_type = 'agent'
        and h.actor_id = ${keyId}
        and h.to_type = 'people'
      order by h.id desc
      limit ${maxReasonsRead}`,
    sql<DraftRow[]>`
      select ${draftColumns(sql)}
      from drafts d
      where d.workspace_id = ${workspaceId}
        and ${createdIn(sql, sql`d`, span)}
        and d.key_id = ${keyId}
        and d.status = 'rejected'
      order by d.id desc
      limit ${maxReasonsRead}`,
  ])
  return {
    handovers: countReasons(handovers.map((row) => decryptHandover(keyring, row).reason)),
    rejections: countReasons(drafts.map((row) => decryptDraft(keyring, row).reason)),
  }
}

/** Counts equal texts, ignoring case and spaces around; shows the newest spelling. */
export function countReasons(texts: readonly (string | null)[]): CountedReason[] {
  const groups = Map.groupBy(texts, (text) => text?.trim().toLowerCase() ?? null)
  return [...groups.values()]
    .map((same) => ({ reason: same[0]?.trim() || null, count: same.length }))
    .sort((a, b) => b.count - a.count)
    .slice(0, maxReasons)
}
