import { type Static, Type } from 'typebox'
import { nullable, oneOf, timestamp, titled } from '../base/route.ts'
import { count, cursor, day, page, text, unpaged, visiblePattern } from '../base/schema-types.ts'
import { caseOutcomes } from '../inbox/reviews/ended-cases.ts'
import { reviewStatuses } from '../inbox/reviews/review.ts'
import { maxCriteria, reviewFlags } from '../inbox/reviews/review-settings.ts'
import { reviewReasons } from '../inbox/reviews/select-reviews.ts'
import { closed, idSchema, workspaceParams } from '../team/team-schema.ts'

const criterionId = (description: string) =>
  Type.String({ pattern: '^[a-z0-9-]{1,36}$', maxLength: 36, description, example: 'solved' })
const criterionName = nullable(
  Type.String({
    minLength: 1,
    maxLength: 80,
    pattern: visiblePattern,
    description: 'What is scored. Null: one of the default criteria, whose name the app translates.',
    example: 'Names the delivery time',
  }),
)
const steps = Type.Unsafe<3 | 5>({
  type: 'integer',
  enum: [3, 5],
  description: 'Number of steps, from 1 (worst).',
  example: 5,
})

const Criterion = titled('ReviewCriterion', { id: criterionId('The criterion.'), name: criterionName, steps })

const NewCriterion = Type.Object(
  {
    id: Type.Optional(criterionId('A present criterion; without it, it is new.')),
    name: criterionName,
    steps,
  },
  { ...closed, title: 'NewReviewCriterion' },
)

const Rules = Type.Object(
  {
    keyId: nullable(idSchema('The key; null: all keys without rules of their own.')),
    randomPerMille: Type.Integer({
      minimum: 0,
      maximum: 1000,
      description: 'Random share of the cases, in thousandths.',
      example: 50,
    }),
    takeoverMinutes: nullable(
      Type.Integer({
        minimum: 1,
        maximum: 1440,
        description: 'A person took over within so many minutes of an answer of the agent; null: not selected.',
        example: 10,
      }),
    ),
    longMessages: nullable(
      Type.Integer({
        minimum: 2,
        maximum: 1000,
        description: 'The case had at least so many messages; null: not selected.',
        example: 30,
      }),
    ),
    reopened: Type.Boolean({ description: 'The conversation was opened again within 72 hours.' }),
    lowScore: Type.Boolean({
      description: 'The last review of the same conversation had less than half of the score.',
    }),
  },
  { ...closed, title: 'ReviewRules' },
)

const settings = {
  criteria: Type.Array(Criterion, { minItems: 1, maxItems: maxCriteria, description: 'The scorecard.' }),
  dailyLimit: Type.Integer({
    minimum: 1,
    maximum: 200,
    description: 'How many cases are selected in a UTC day at most. Random ones come last.',
    example: 20,
  }),
  rules: Type.Array(Rules, { maxItems: 101, description: 'Which cases are reviewed; empty: none.' }),
}

export const ReviewSettings = Type.Object(settings, { title: 'ReviewSettings' })

export const ReviewSettingsChange = Type.Object(
  {
    criteria: Type.Optional(
      Type.Array(NewCriterion, {
        minItems: 1,
        maxItems: maxCriteria,
        description: 'Replaces the scorecard. A criterion with another number of steps becomes a new one.',
      }),
    ),
    dailyLimit: Type.Optional(settings.dailyLimit),
    rules: Type.Optional(settings.rules),
  },
  { ...closed, minProperties: 1, example: { dailyLimit: 20 } },
)

const scores = Type.Record(Type.String({ maxLength: 36 }), Type.Integer({ minimum: 1, maximum: 5 }), {
  maxProperties: maxCriteria,
  description: 'Steps by criterion, from 1.',
  example: { solved: 4 },
})
const flags = Type.Array(oneOf(reviewFlags, { title: 'ReviewFlag' }), {
  maxItems: reviewFlags.length,
  description: 'What was wrong.',
  example: ['wrong_answer'],
})
const maxComment = 4000

export const Review = titled('Review', {
  id: idSchema('The review.'),
  conversationId: idSchema('The conversation.'),
  name: nullable(text(400, 'Name of the customer.')),
  keyId: idSchema('The key of the agent.'),
  outcome: oneOf(caseOutcomes, {
    title: 'CaseOutcome',
    description: 'How the case had ended when it was selected, as in the numbers of agents.',
  }),
  reasons: Type.Array(oneOf(reviewReasons, { title: 'ReviewReason' }), {
    maxItems: reviewReasons.length,
    description: 'The rules that selected it.',
  }),
  startedAt: nullable(timestamp('When the case began; null if that is no longer known.')),
  endedAt: timestamp('When it ended.'),
  messageId: nullable(idSchema('The newest message when it ended.')),
  status: oneOf(reviewStatuses, { title: 'ReviewStatus', description: 'Whether it waits, or what was decided.' }),
  claimedBy: nullable(idSchema('The person who is reviewing it now.')),
  claimedUntil: nullable(timestamp('Until when nobody else can.')),
  scores,
  score: nullable(Type.Number({ minimum: 0, maximum: 1, description: 'All steps together, from 0 to 1.' })),
  flags,
  comment: nullable(text(maxComment, 'What the person wrote.')),
  reviewedBy: nullable(idSchema('The person or team token that closed it.')),
  closedAt: nullable(timestamp('When it was reviewed or skipped.')),
})

export const ReviewQuery = Type.Object(
  {
    status: Type.Optional(oneOf(reviewStatuses, { title: 'ReviewStatus', description: 'Default `waiting`.' })),
    keyId: Type.Optional(idSchema('Only of this agent.')),
    cursor: Type.Optional(cursor('`nextCursor` of the page before.')),
  },
  closed,
)

export const Reviews = Type.Object({
  reviews: Type.Array(Review, page),
  nextCursor: nullable(cursor('For the next page; null at the end.')),
})

export const ReviewAnswer = Type.Object({ review: Review })
export const reviewParams = Type.Object({ ...workspaceParams, reviewId: idSchema('The review.') })

export const Verdict = Type.Object(
  {
    scores,
    flags: Type.Optional(flags),
    comment: Type.Optional(
      nullable(text(maxComment, 'For the team. It is erased with the customer.', { example: 'Named a wrong price.' })),
    ),
  },
  closed,
)

const results = {
  reviews: count('Number of reviews.'),
  score: nullable(
    Type.Number({ minimum: 0, maximum: 1, description: 'Mean score, from 0 to 1; null without reviews.' }),
  ),
  criteria: Type.Array(
    titled('CriterionResult', {
      id: criterionId('The criterion.'),
      reviews: count('In how many reviews it was scored.'),
      meanStep: Type.Number({ minimum: 1, maximum: 5, description: 'Mean step.' }),
    }),
    { ...unpaged, description: 'Those of the scorecard.' },
  ),
  flags: Type.Array(
    titled('FlagResult', { flag: oneOf(reviewFlags, { title: 'ReviewFlag' }), reviews: count('Number of reviews.') }),
    {
      maxItems: reviewFlags.length,
      description: 'Most common first.',
    },
  ),
}

export const ReviewResults = Type.Object({
  from: day,
  to: day,
  timeZone: text(64, 'Time zone of the days.'),
  agents: Type.Array(
    titled('AgentReviews', {
      keyId: idSchema('The key of the agent.'),
      ...results,
      days: Type.Array(titled('ReviewDay', { date: day, reviews: results.reviews, score: results.score }), {
        maxItems: 92,
        description: 'Days on which reviewed cases were selected, oldest first.',
      }),
      versions: Type.Array(
        titled('VersionReviews', {
          id: nullable(idSchema('Version of the instructions; null: none.')),
          keyId: nullable(idSchema('The key whose instructions they are; null: those of all keys.')),
          version: nullable(count('Its number.')),
          ...results,
        }),
        { ...unpaged, description: 'By version of the instructions, newest first.' },
      ),
    }),
    { ...unpaged, description: 'Most reviews first.' },
  ),
})
export type ReviewResults = Static<typeof ReviewResults>
