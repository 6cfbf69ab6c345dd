import type { Fragment, Sql } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { decryptMessageText } from '../conversation/message.ts'
import { opaqueWorkspaceId } from '../conversation/queries.ts'

/** What a customer answered, with who had answered them before. */
export interface Rating {
  id: string
  conversationId: string
  score: number
  scale: number
  answeredBy: { type: 'agent' | 'user' | 'token' | 'system'; id: string | null }
  /** What they wrote next; null if nothing, or a question. */
  comment: string | null
  /** The message with the score. */
  messageId: string | null
  ratedAt: Date
}

interface RatingRow extends Omit<Rating, 'answeredBy' | 'comment'> {
  answererType: Rating['answeredBy']['type']
  answererId: string | null
  commentId: string | null
  content: Buffer | null
}

const commentMinutes = 60

/**
 * SQL: ratings with the customer's next message in the hour after the score. It stays an ordinary message, which opens
 * the conversation: a comment that asks for something must not be missed, and none is stored twice.
 */
const selectRatings = (sql: Sql, workspaceId: string, rest: Fragment): Fragment => sql`
  select r.id, r.conversation_id as "conversationId", r.score, r.scale, r.answered_by as "answererType",
    r.answerer_id as "answererId", r.answer_id as "messageId", r.rated_at as "ratedAt", m.id as "commentId", m.content
  from satisfaction_ratings r
  left join lateral (
    select m.id, m.content, m.kind
    from messages m
    where m.workspace_id = ${opaqueWorkspaceId(sql, workspaceId)}
      and m.conversation_id = r.conversation_id
      and m.direction = 'inbound'
      and m.origin = 'live'
      and m.id > r.answer_id
      and m.occurred_at >= r.rated_at - interval '1 hour'
      and m.occurred_at <= r.rated_at + ${commentMinutes} * interval '1 minute'
    order by m.occurred_at
    limit 1
  ) as m on m.kind = 'text'
  where r.workspace_id = ${opaqueWorkspaceId(sql, workspaceId)}
    and r.status = 'rated'
    ${rest}`

function decryptRating(keyring: Keyring, row: RatingRow): Rating {
  const { answererType, answererId, commentId, content, ...rating } = row
  const text = commentId === null || content === null ? null : decryptMessageText(keyring, { id: commentId, content })
  return {
    ...rating,
    answeredBy: { type: answererType, id: answererId },
    comment: text === null || isQuestion(text) ? null : text.slice(0, maxComment),
  }
}

export const maxComment = 4000

/** A question is a new request, not a comment. */
export const isQuestion = (text: string): boolean => /[?¿？؟]/.test(text)

export interface RatingFilter {
  score: number | null
  /** The key of an agent. */
  keyId: string | null
  /** A member. */
  userId: string | null
}

const matches = (sql: Sql, { score, keyId, userId }: RatingFilter): Fragment => sql`
  ${score === null ? sql`` : sql`and r.score = ${score}`}
  ${keyId === null ? sql`` : sql`and r.answered_by = 'agent' and r.answerer_id = ${keyId}`}
  ${userId === null ? sql`` : sql`and r.answered_by = 'user' and r.answerer_id = ${userId}`}`

/** Lists ratings, newest question first. `before` is the last id of the page before. */
export async function listRatings(
  { sql, keyring, workspaceId }: { sql: Sql; keyring: Keyring; workspaceId: string },
  filter: RatingFilter,
  { before, limit }: { before: string | null; limit: number },
): Promise<Rating[]> {
  const after = before === null ? sql`` : sql`and r.id < ${before}::uuid`
  const rest = sql`${matches(sql, filter)} ${after} order by r.id desc limit ${limit}`
  const rows = await sql<RatingRow[]>`${selectRatings(sql, workspaceId, rest)}`
  return rows.map((row) => decryptRating(keyring, row))
}

/** Returns the newest rating of a conversation; null without one. */
export async function findNewestRating(
  { sql, keyring, workspaceId }: { sql: Sql; keyring: Keyring; workspaceId: string },
  conversationId: string,
): Promise<Rating | null> {
  const rest = sql`and r.conversation_id = ${conversationId} order by r.created_at desc limit 1`
  const [row] = await sql<RatingRow[]>`${selectRatings(sql, workspaceId, rest)}`
  return row === undefined ? null : decryptRating(keyring, row)
}

export interface RatingSummary {
  asked: number
  rated: number
  /** From 0 (the worst score) to 1; null without ratings. Scores of both scales can be compared. */
  average: number | null
}

/** Sums up the questions since a time; the filter by score applies to nothing but the list. */
export async function sumRatings(
  sql: Sql,
  workspaceId: string,
  filter: RatingFilter,
  since: Date,
): Promise<RatingSummary> {
  const [row] = await sql<RatingSummary[]>`
    select count(*) filter (where r.status in ('asked', 'rated'))::integer as asked,
      count(*) filter (where r.status = 'rated')::integer as rated,
      avg((r.score - 1)::float8 / (r.scale - 1)) filter (where r.status = 'rated') as average
    from satisfaction_ratings r
    where r.workspace_id = ${workspaceId}
      and r.created_at >= ${since}
      ${matches(sql, { ...filter, score: null })}`
  return row ?? { asked: 0, rated: 0, average: null }
}
