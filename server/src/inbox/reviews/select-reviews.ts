import type { Keyring } from '../../base/encryption/keyring.ts'
import { firstIdAt, newId } from '../../base/id.ts'
import { startOfUtcDay } from '../../base/time.ts'
import type { ChangeDeps, ChangeTx } from '../conversation/conversation.ts'
import { opaqueWorkspaceId } from '../conversation/queries.ts'
import {
  type CaseOutcome,
  createdIn,
  endedCases,
  instructionsOf,
  isClosing,
  isReopening,
  reopenHours,
} from './ended-cases.ts'
import { type ReviewRules, readReviewSettings } from './review-settings.ts'

/** Why a case is reviewed. */
export const reviewReasons = ['takeover', 'reopened', 'low_score', 'long', 'random'] as const
export type ReviewReason = (typeof reviewReasons)[number]

/** A case that ended, before it is decided whether people review it. */
export interface Candidate {
  /** Of the activity that ended it. */
  id: string
  conversationId: string
  keyId: string
  outcome: CaseOutcome
  startedAt: Date | null
  endedAt: Date
  answeredAt: Date | null
  messages: number
  isReopened: boolean
  instructionsId: string | null
  /** Score of the last review of this customer's conversation. */
  lastScore: number | null
}

interface ChosenCandidate extends Candidate {
  reasons: ReviewReason[]
}

/** A transaction that takes longer than this has been cancelled. */
const lagMs = 60_000
/** Cases of so much time are read in one transaction. */
const windowMs = 86_400_000
/** After an outage, older cases are not reviewed. */
const maxBacklogMs = 3 * 86_400_000
/** Reviews that nobody began are removed after this time. */
const keepWaitingMs = 14 * 86_400_000
const maxWorkspaces = 500
const lowScore = 0.5

/**
 * Puts a sample of the cases that have ended into the queue of reviews, by the rules of each workspace. Called by a timer
 * on any node; several share the work. Returns how many were selected.
 */
export async function selectReviews(deps: ChangeDeps): Promise<number> {
  const now = deps.clock.now()
  const due = await deps.db.sql<{ workspaceId: string }[]>`
    select workspace_id as "workspaceId"
    from review_settings
    where selected_until <= ${new Date(now.getTime() - lagMs)}
    order by selected_until
    limit ${maxWorkspaces}`
  const errors: unknown[] = []
  let selected = 0
  // A failure must not keep the others from being selected from.
  for (const { workspaceId } of due)
    selected += await selectIn(deps, workspaceId, now).catch((error) => {
      errors.push(error)
      return 0
    })
  if (errors.length > 0) throw errors[0]
  return selected
}

async function selectIn({ db, keyStore }: ChangeDeps, workspaceId: string, now: Date): Promise<number> {
  const end = new Date(now.getTime() - lagMs)
  let selected = 0
  for (let until: Date | null = null; until === null || until < end; ) {
    const keyring = await keyStore.keyring(workspaceId)
    const step = await db.inBulk(() => db.tx((tx) => selectWindow({ tx, keyring, workspaceId, now }, end)))
    // Another node is selecting, or the rules were removed.
    if (step === null) return selected
    selected += step.selected
    until = step.until
  }
  return selected
}

/** Selects from the next hours, under the lock of the workspace's settings; null if another transaction has it. */
async function selectWindow(work: ChangeTx, end: Date) {
  const { tx, keyring, workspaceId, now } = work
  const [row] = await tx<{ since: Date }[]>`
    select selected_until as since
    from review_settings
    where workspace_id = ${workspaceId}
      and selected_until is not null
    for update skip locked`
  if (row === undefined) return null
  const since = Math.max(row.since.getTime(), end.getTime() - maxBacklogMs)
  const until = new Date(Math.min(since + windowMs, end.getTime()))
  const { rules, dailyLimit } = await readReviewSettings(tx, workspaceId)
  const candidates = await selectCandidates(work, { from: new Date(since), to: until })
  const chosen = candidates.flatMap((one) => {
    const ofKey = rules.find(({ keyId }) => keyId === one.keyId) ?? rules.find(({ keyId }) => keyId === null)
    const reasons = ofKey === undefined ? [] : reasonsFor(one, ofKey, perMilleOf(keyring, one))
    return reasons.length === 0 ? [] : [{ ...one, reasons }]
  })
  const selected = await insertReviews(work, chosen, dailyLimit)
  await tx`
    update review_settings
    set selected_until = ${until}
    where workspace_id = ${workspaceId}`
  const oldest = new Date(now.getTime() - keepWaitingMs)
  await tx`
    delete from reviews
    where workspace_id = ${workspaceId}
      and status = 'waiting'
      and id < ${firstIdAt(oldest)}::uuid
      and (claimed_until is null or claimed_until <= ${now})`
  return { until, selected }
}

/** Returns which rules select the case. `perMille`: its place in the random sample, from 0 to 999. */
export function reasonsFor(one: Candidate, rules: ReviewRules, perMille: number): ReviewReason[] {
  const { takeoverMinutes, longMessages } = rules
  const minutes = one.answeredAt === null ? null : (one.endedAt.getTime() - one.answeredAt.getTime()) / 60_000
  const found: Record<ReviewReason, boolean> = {
    takeover:
      one.outcome === 'taken_over' && takeoverMinutes !== null && minutes !== null && minutes <= takeoverMinutes,
    reopened: rules.reopened && one.isReopened,
    low_score: rules.lowScore && one.lastScore !== null && one.lastScore < lowScore,
    long: longMessages !== null && one.messages >= longMessages,
    random: perMille < rules.randomPerMille,
  }
  return reviewReasons.filter((reason) => found[reason])
}

/** Decides the same on every node and each time, and cannot be foreseen by an agent. */
const perMilleOf = (keyring: Keyring, { id, conversationId }: Candidate): number =>
  keyring.stable('review sample', `${conversationId} ${id}`).readUInt32BE(0) % 1000

/** Reads cases that ended in the window and those whose conversation was opened again in it, unless selected before. */
async function selectCandidates({ tx, workspaceId, now }: ChangeTx, window: { from: Date; to: Date }) {
  const workspace = opaqueWorkspaceId(tx, workspaceId)
  const reopened = await tx<{ id: string }[]>`
    select e.id
    from conversation_activities r
    cross join lateral (
      select a.id
      from conversation_activities a
      where a.workspace_id = ${workspace}
        and a.conversation_id = r.conversation_id
        and (a.created_at, a.id) < (r.created_at, r.id)
        and a.created_at >= r.created_at - ${reopenHours}::integer * interval '1 hour'
        and ${isClosing(tx, tx`a`)}
      order by a.created_at desc, a.id desc
      limit 1
    ) e
    where r.workspace_id = ${workspaceId}
      and ${createdIn(tx, tx`r`, window)}
      and ${isReopening(tx, tx`r`)}`
  const ids = reopened.map(({ id }) => id)
  const where = tx`((${createdIn(tx, tx`a`, window)}) or a.id = any (${ids}::uuid[]))`
  return tx<Candidate[]>`
    with ${endedCases(tx, { workspaceId, where, now })}
    select c.id, c.conversation_id as "conversationId", c.key_id as "keyId", c.outcome, c.started_at as "startedAt",
      c.ended_at as "endedAt", c.answered_at as "answeredAt", c.messages, c.reopened_at is not null as "isReopened",
      v.id as "instructionsId", l.score as "lastScore"
    from cases c
    ${instructionsOf(tx, workspaceId)}
    left join lateral (
      select o.score
      from reviews o
      where o.workspace_id = ${workspace}
        and o.conversation_id = c.conversation_id
        and o.score is not null
      order by o.created_at desc
      limit 1
    ) l on true
    where not exists (
      select 1 from reviews s
      where s.workspace_id = ${workspace}
        and s.case_id = c.id
    )`
}

/** Inserts as many as the day allows: those with a signal first, then the random ones. Returns their number. */
async function insertReviews(work: ChangeTx, chosen: readonly ChosenCandidate[], dailyLimit: number): Promise<number> {
  if (chosen.length === 0) return 0
  const { tx, workspaceId, now } = work
  const [today] = await tx<{ count: number }[]>`
    select count(*)::integer as count
    from reviews
    where workspace_id = ${workspaceId}
      and id >= ${firstIdAt(startOfUtcDay(now))}::uuid`
  const isRandom = ({ reasons }: ChosenCandidate) => Number(reasons[0] === 'random')
  const rows = chosen
    .toSorted((a, b) => isRandom(a) - isRandom(b) || a.endedAt.getTime() - b.endedAt.getTime())
    .slice(0, Math.max(0, dailyLimit - (today?.count ?? 0)))
  for (const { id, conversationId, keyId, outcome, reasons, startedAt, endedAt, instructionsId } of rows) {
    await tx`
      insert into reviews (
        workspace_id, id, conversation_id, key_id, case_id, outcome, reasons, started_at, ended_at, instructions_id,
        status, created_at
      )
      values (
        ${workspaceId}, ${newId(now)}, ${conversationId}, ${keyId}, ${id}, ${outcome}, ${reasons}::text[], ${startedAt},
        ${endedAt}, ${instructionsId}, 'waiting', ${now}
      )
      on conflict do nothing`
  }
  return rows.length
}
