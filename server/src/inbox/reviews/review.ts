import type { Fragment, Sql } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { conflict, invalid, notFound } from '../../base/errors.ts'
import type { TeamActor } from '../../team/member.ts'
import type { ChangeTx, WorkspaceSql } from '../conversation/conversation.ts'
import type { CaseOutcome } from './ended-cases.ts'
import { type Criterion, type ReviewFlag, readReviewSettings } from './review-settings.ts'
import type { ReviewReason } from './select-reviews.ts'

export const reviewStatuses = ['waiting', 'reviewed', 'skipped'] as const
export type ReviewStatus = (typeof reviewStatuses)[number]

/** How long nobody else can review what a person has begun. */
const claimMs = 15 * 60_000

/** A case of an agent that people review. */
export interface Review {
  id: string
  conversationId: string
  keyId: string
  outcome: CaseOutcome
  reasons: ReviewReason[]
  startedAt: Date | null
  endedAt: Date
  /** The newest message when it ended. */
  messageId: string | null
  status: ReviewStatus
  claimedBy: string | null
  claimedUntil: Date | null
  /** Steps by criterion, from 1. */
  scores: Record<string, number>
  score: number | null
  flags: ReviewFlag[]
  comment: string | null
  reviewedBy: TeamActor | null
  closedAt: Date | null
}

type ReviewRow = Omit<Review, 'comment' | 'reviewedBy'> & {
  comment: Buffer | null
  actorType: TeamActor['type'] | null
  actorId: string | null
}

/** SQL: columns of `reviews r`. The message names its workspace: Citus locks no row while it looks elsewhere. */
const columns = (sql: Sql, workspaceId: string): Fragment => sql`
  r.id, r.conversation_id as "conversationId", r.key_id as "keyId", r.outcome, r.reasons, r.started_at as "startedAt",
  r.ended_at as "endedAt", r.status, r.claimed_by as "claimedBy", r.claimed_until as "claimedUntil", r.scores, r.score,
  (
    select m.id
    from messages m
    where m.workspace_id = ${workspaceId}
      and m.conversation_id = r.conversation_id
      and m.occurred_at <= r.ended_at
    order by m.occurred_at desc
    limit 1
  ) as "messageId",
  r.flags, r.comment, r.actor_type as "actorType", r.actor_id as "actorId", r.closed_at as "closedAt"`

const placeOf = (id: string) => ({ table: 'reviews', row: id, column: 'comment' })

function decryptReview(keyring: Keyring, { comment, actorType, actorId, ...row }: ReviewRow): Review {
  return {
    ...row,
    comment: comment === null ? null : keyring.decryptText(placeOf(row.id), comment),
    reviewedBy: actorType === null || actorId === null ? null : { type: actorType, id: actorId },
  }
}

interface ListRequest {
  status: ReviewStatus
  /** Null: of all agents. */
  keyId: string | null
  /** The last id of the page before; null for the first page. */
  after: string | null
  limit: number
}

/** Returns reviews: waiting ones oldest first, others newest first. */
export async function listReviews(reader: WorkspaceSql, request: ListRequest): Promise<Review[]> {
  const { sql, keyring, workspaceId } = reader
  const { status, keyId, after, limit } = request
  const [comparison, order] = status === 'waiting' ? [sql`>`, sql`asc`] : [sql`<`, sql`desc`]
  const rows = await sql<ReviewRow[]>`
    select ${columns(sql, workspaceId)}
    from reviews r
    where r.workspace_id = ${workspaceId}
      and r.status = ${status}
      ${keyId === null ? sql`` : sql`and r.key_id = ${keyId}`}
      ${after === null ? sql`` : sql`and r.id ${comparison} ${after}::uuid`}
    order by r.id ${order}
    limit ${limit}`
  return rows.map((row) => decryptReview(keyring, row))
}

/**
 * Reserves a waiting review for the person for 15 minutes; repeating it renews the time. Throws 404, and 409
 * `REVIEW_CLAIMED` while another person has it, `REVIEW_CLOSED` if it is done.
 */
export async function claimReview(work: ChangeTx, id: string, by: TeamActor): Promise<Review> {
  const review = await lockFree(work, id, by)
  const claimedUntil = new Date(work.now.getTime() + claimMs)
  await work.tx`
    update reviews
    set claimed_by = ${by.id},
      claimed_until = ${claimedUntil}
    where workspace_id = ${work.workspaceId}
      and id = ${id}`
  return { ...review, claimedBy: by.id, claimedUntil }
}

export interface Verdict {
  scores: Record<string, number>
  flags: readonly ReviewFlag[]
  comment: string | null
}

/** Stores the result of a review. The person can change it later. Throws 400 and what `claimReview` throws. */
export async function closeReview(work: ChangeTx, id: string, by: TeamActor, verdict: Verdict): Promise<Review> {
  const { tx, keyring, workspaceId, now } = work
  const review = await lockFree(work, id, by, { orOwn: true })
  const { criteria } = await readReviewSettings(tx, workspaceId)
  const score = scoreOf(verdict.scores, criteria)
  const comment = verdict.comment?.trim() || null
  const flags = [...new Set(verdict.flags)]
  const closedAt = review.closedAt ?? now
  await tx`
    update reviews
    set status = 'reviewed',
      claimed_by = null,
      claimed_until = null,
      scores = ${tx.json(verdict.scores)},
      score = ${score},
      flags = ${flags}::text[],
      comment = ${comment === null ? null : keyring.encrypt(placeOf(id), comment)},
      actor_type = ${by.type},
      actor_id = ${by.id},
      closed_at = ${closedAt}
    where workspace_id = ${workspaceId}
      and id = ${id}`
  const closed = { status: 'reviewed' as const, claimedBy: null, claimedUntil: null, closedAt, reviewedBy: by }
  return { ...review, ...closed, scores: verdict.scores, score, flags, comment }
}

/** Takes a review out of the queue without a result. Throws what `claimReview` throws; repeating it changes nothing. */
export async function skipReview(work: ChangeTx, id: string, by: TeamActor): Promise<void> {
  const review = await lockFree(work, id, by, { orOwn: true })
  if (review.status === 'skipped') return
  if (review.status === 'reviewed') throw reviewClosed()
  await work.tx`
    update reviews
    set status = 'skipped',
      claimed_by = null,
      claimed_until = null,
      actor_type = ${by.type},
      actor_id = ${by.id},
      closed_at = ${work.now}
    where workspace_id = ${work.workspaceId}
      and id = ${id}`
}

/** Returns the scored steps together, from 0 to 1. Throws 400 for an unknown criterion or step, and without any. */
export function scoreOf(scores: Readonly<Record<string, number>>, criteria: readonly Criterion[]): number {
  const parts = Object.entries(scores).map(([id, step]) => {
    const criterion = criteria.find((one) => one.id === id)
    if (criterion === undefined) throw invalid('scores', 'must name criteria of the scorecard')
    if (step > criterion.steps) throw invalid('scores', `must be from 1 to ${criterion.steps}`)
    return (step - 1) / (criterion.steps - 1)
  })
  if (parts.length === 0) throw invalid('scores', 'must score at least one criterion')
  return parts.reduce((sum, part) => sum + part, 0) / parts.length
}

/** Locks a review that nobody else has; `orOwn`: also one that this person has closed. */
async function lockFree(work: ChangeTx, id: string, by: TeamActor, { orOwn = false } = {}): Promise<Review> {
  const { tx, keyring, workspaceId, now } = work
  const [row] = await tx<ReviewRow[]>`
    select ${columns(tx, workspaceId)}
    from reviews r
    where r.workspace_id = ${workspaceId}
      and r.id = ${id}
    for update`
  if (row === undefined) throw notFound('Review not found')
  const review = decryptReview(keyring, row)
  const isMine = review.reviewedBy?.id === by.id
  if (review.status !== 'waiting' && !(orOwn && isMine)) throw reviewClosed()
  const isTaken = review.claimedUntil !== null && review.claimedUntil > now && review.claimedBy !== by.id
  if (isTaken) {
    throw conflict('Someone else is reviewing this conversation. Take the next one.', { code: 'REVIEW_CLAIMED' })
  }
  return review
}

const reviewClosed = () =>
  conflict('This conversation has been reviewed or skipped. Take the next one.', { code: 'REVIEW_CLOSED' })
