import { encodeCursor } from '../base/cursor.ts'
import type { App } from '../base/route.ts'
import { inWorkspace } from '../inbox/conversation/conversation.ts'
import { readContacts } from '../inbox/read/names.ts'
import { type InstructionsName, listInstructions } from '../inbox/reviews/agent-numbers.ts'
import type { Review as StoredReview } from '../inbox/reviews/review.ts'
import { claimReview, closeReview, listReviews, skipReview } from '../inbox/reviews/review.ts'
import { type ReviewSums, type ScoreSum, sumReviews } from '../inbox/reviews/review-results.ts'
import { type Criterion, changeReviewSettings, readReviewSettings } from '../inbox/reviews/review-settings.ts'
import { recordAudit } from '../team/audit.ts'
import { datesOf } from '../team/day-period.ts'
import type { TeamGuard } from '../team/member.ts'
import { type TeamApi, teamApi } from '../team/team-api.ts'
import { type AgentNumberDeps, idIn, readSpan } from './agent-routes.ts'
import { DaysQuery } from './agent-schema.ts'
import * as schema from './review-schema.ts'

const path = '/api/team/v1/workspaces/:workspaceId'
const pageLength = 50

/** Adds the routes of reviews: the queue, the scorecard and its rules, and the results. */
export function reviewTeamRoutes(app: App, deps: AgentNumberDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Reviews')
  queueRoutes(api, deps)
  settingsRoutes(api, deps)
}

function queueRoutes(api: TeamApi, deps: AgentNumberDeps): void {
  const { db, keyStore } = deps
  api.get(`${path}/reviews`, 'member', {
    operationId: 'listReviews',
    summary: 'List reviews',
    description:
      'Cases of agents that rules have selected: waiting ones oldest first, others newest first. One that nobody reviews is removed after 14 days.',
    query: schema.ReviewQuery,
    answers: { 200: schema.Reviews },
    run: async ({ member: { workspaceId }, query }) => {
      const { status = 'waiting', keyId = null, cursor } = query
      const after = cursor === undefined ? null : idIn(cursor)
      const keyring = await keyStore.keyring(workspaceId)
      const reader = { sql: db.sql, keyring, workspaceId }
      const found = await listReviews(reader, { status, keyId, after, limit: pageLength + 1 })
      const shown = found.slice(0, pageLength)
      const last = shown.at(-1)
      const hasMore = found.length > pageLength && last !== undefined
      return { reviews: await present(deps, workspaceId, shown), nextCursor: hasMore ? encodeCursor([last.id]) : null }
    },
  })
  api.post(`${path}/reviews/:reviewId/claim`, 'member', {
    operationId: 'claimReview',
    summary: 'Begin a review',
    description:
      'Reserves it for 15 minutes; repeating it renews the time. 409 `REVIEW_CLAIMED` while someone else has it, `REVIEW_CLOSED` if it is done.',
    params: schema.reviewParams,
    errors: [409],
    answers: { 200: schema.ReviewAnswer },
    run: async ({ member, params }) =>
      presentOne(deps, member.workspaceId, (work) => claimReview(work, params.reviewId, member.actor)),
  })
  api.put(`${path}/reviews/:reviewId`, 'member', {
    operationId: 'submitReview',
    summary: 'Submit a review',
    description:
      'Stores scores, what was wrong, and a comment, which is encrypted. The person who reviewed it can change it. 409 like `claimReview`.',
    params: schema.reviewParams,
    body: schema.Verdict,
    errors: [409],
    answers: { 200: schema.ReviewAnswer },
    run: async ({ member, params, body }) => {
      const verdict = { scores: body.scores, flags: body.flags ?? [], comment: body.comment ?? null }
      return presentOne(deps, member.workspaceId, (work) => closeReview(work, params.reviewId, member.actor, verdict))
    },
  })
  api.post(`${path}/reviews/:reviewId/skip`, 'member', {
    operationId: 'skipReview',
    summary: 'Skip a review',
    description: 'Takes it out of the queue without a result. 409 like `claimReview`.',
    params: schema.reviewParams,
    errors: [409],
    run: async ({ member, params }) => {
      await inWorkspace(deps, member.workspaceId, (work) => skipReview(work, params.reviewId, member.actor))
    },
  })
}

function settingsRoutes(api: TeamApi, { db, clock }: AgentNumberDeps): void {
  api.get(`${path}/review-settings`, 'member', {
    operationId: 'getReviewSettings',
    summary: 'Get the scorecard and rules',
    description: 'What reviewers score, and which cases are selected.',
    answers: { 200: schema.ReviewSettings },
    run: ({ member }) => readReviewSettings(db.sql, member.workspaceId),
  })
  api.patch(`${path}/review-settings`, 'admin', {
    operationId: 'updateReviewSettings',
    summary: 'Change the scorecard and rules',
    description:
      'Rules apply to what ends from now on. Scores of criteria that were removed are kept, but no longer shown. For admins.',
    body: schema.ReviewSettingsChange,
    answers: { 200: schema.ReviewSettings },
    run: ({ member, body }) => {
      const now = clock.now()
      const { workspaceId: scopeId, actor } = member
      return db.tx(async (tx) => {
        const changed = await changeReviewSettings(tx, scopeId, body, now)
        await recordAudit(tx, { scopeId, actor, action: 'review_settings.updated', target: null }, now)
        return changed
      })
    },
  })
  api.get(`${path}/review-results`, 'admin', {
    operationId: 'getReviewResults',
    summary: 'Get results of reviews',
    description: 'Scores by agent, version of its instructions and day, of cases selected in the period. For admins.',
    query: DaysQuery,
    answers: { 200: schema.ReviewResults },
    run: async ({ member: { workspaceId }, query }) => {
      const { period, zone, span, starts } = await readSpan(db.sql, workspaceId, query, clock)
      const [sums, { criteria }] = await db.inBulk(() =>
        Promise.all([sumReviews(db.sql, span, starts), readReviewSettings(db.sql, workspaceId)]),
      )
      const ids = new Set(sums.scores.flatMap(({ instructionsId }) => instructionsId ?? []))
      const versions = await listInstructions(db.sql, workspaceId, [...ids])
      const { dates } = datesOf(period)
      return { ...period, timeZone: zone, agents: presentResults(sums, { criteria, versions, dates }) }
    },
  })
}

async function presentOne(
  deps: AgentNumberDeps,
  workspaceId: string,
  work: Parameters<typeof inWorkspace<StoredReview>>[2],
) {
  const [review] = await present(deps, workspaceId, [await inWorkspace(deps, workspaceId, work)])
  if (review === undefined) throw new Error('A review was not presented')
  return { review }
}

async function present(deps: AgentNumberDeps, workspaceId: string, reviews: readonly StoredReview[]) {
  const now = deps.clock.now()
  const ids = reviews.map(({ conversationId }) => conversationId)
  const contacts = await readContacts(deps, workspaceId, ids)
  return reviews.map(({ startedAt, endedAt, claimedBy, claimedUntil, reviewedBy, closedAt, ...review }) => {
    const { name = null, phone = null } = contacts.get(review.conversationId) ?? {}
    const isClaimed = claimedUntil !== null && claimedUntil > now
    return {
      ...review,
      name: name ?? phone,
      startedAt: startedAt?.toISOString() ?? null,
      endedAt: endedAt.toISOString(),
      claimedBy: isClaimed ? claimedBy : null,
      claimedUntil: isClaimed ? claimedUntil.toISOString() : null,
      reviewedBy: reviewedBy?.id ?? null,
      closedAt: closedAt?.toISOString() ?? null,
    }
  })
}

interface ResultNames {
  criteria: readonly Criterion[]
  versions: readonly InstructionsName[]
  dates: readonly string[]
}

type OfVersion = { keyId: string; instructionsId: string | null }

/** Presents the sums by agent; means of several versions are weighted by their reviews. */
function presentResults(
  { scores, criteria, flags }: ReviewSums,
  { criteria: scorecard, versions, dates }: ResultNames,
): schema.ReviewResults['agents'] {
  const shown = criteria.filter(({ criterion }) => scorecard.some(({ id }) => id === criterion))
  const resultsOf = (isOf: (one: OfVersion) => boolean) => ({
    ...meanOf(scores.filter((one) => one.day === null && isOf(one))),
    criteria: scorecard.flatMap(({ id }) => {
      const own = shown.filter((one) => one.criterion === id && isOf(one))
      const reviews = sum(own.map((one) => one.reviews))
      return reviews === 0 ? [] : [{ id, reviews, meanStep: sum(own.map((o) => o.reviews * o.meanStep)) / reviews }]
    }),
    flags: [...Map.groupBy(flags.filter(isOf), ({ flag }) => flag)]
      .map(([flag, rows]) => ({ flag, reviews: sum(rows.map((one) => one.reviews)) }))
      .sort((a, b) => b.reviews - a.reviews || (a.flag < b.flag ? -1 : 1)),
  })
  const keyIds = [...new Set(scores.map(({ keyId }) => keyId))]
  return keyIds
    .map((keyId) => ({
      keyId,
      ...resultsOf((one) => one.keyId === keyId),
      days: scores
        .filter((one) => one.keyId === keyId && one.day !== null)
        .sort((a, b) => (a.day ?? 0) - (b.day ?? 0))
        .map(({ day, reviews, score }) => ({ date: dates[(day ?? 1) - 1] ?? '', reviews, score })),
      versions: scores
        .filter((one) => one.keyId === keyId && one.day === null)
        .map(({ instructionsId: id }) => {
          const { keyId: ofKey = null, version = null } = versions.find((one) => one.id === id) ?? {}
          const isOf = (one: OfVersion) => one.keyId === keyId && one.instructionsId === id
          return { id, keyId: ofKey, version, ...resultsOf(isOf) }
        })
        .sort((a, b) => (b.version ?? -1) - (a.version ?? -1)),
    }))
    .sort((a, b) => b.reviews - a.reviews || (a.keyId < b.keyId ? -1 : 1))
}

function meanOf(rows: readonly ScoreSum[]): { reviews: number; score: number | null } {
  const reviews = sum(rows.map((one) => one.reviews))
  return { reviews, score: reviews === 0 ? null : sum(rows.map((one) => one.reviews * one.score)) / reviews }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)
