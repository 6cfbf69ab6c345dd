import { type Static, Type } from 'typebox'
import { nullable, oneOf, timestamp, titled } from '../base/route.ts'
import { count, day, leadStatus, text, unpaged } from '../base/schema-types.ts'
import { sources } from '../leads/lead/lead.ts'
import { closed, idSchema } from '../team/team-schema.ts'
import { attentionCodes } from './attention.ts'

export const StatsQuery = Type.Object(
  {
    days: Type.Optional(Type.Integer({ minimum: 1, maximum: 366, description: 'Days up to today. Default 30.' })),
    tz: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'The time zone whose days are meant, by its IANA name. Default `UTC`.',
        example: 'America/Sao_Paulo',
      }),
    ),
    waitingMinutes: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 10_080,
        description: 'From how many minutes on a customer without an answer counts as waiting. Default 15.',
      }),
    ),
  },
  closed,
)

const seconds = (description: string) => Type.Number({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description })

const AnswerTimes = nullable(
  Type.Object(
    {
      answers: count('How many first answers; multiplied where a sample was read.'),
      medianSeconds: seconds('Half of the customers waited no longer.'),
      p90Seconds: seconds('Nine of ten customers waited no longer.'),
    },
    { title: 'AnswerTimes', description: 'Null when there was none.' },
  ),
)

const Answerers = {
  people: AnswerTimes,
  agents: AnswerTimes,
  otherApps: AnswerTimes,
}

const ofAnswerers = 'By members and team tokens, by API keys, and from other apps on the same number.'
const ByAnswerer = Type.Object(Answerers, { title: 'AnswersByKind', description: ofAnswerers })

const AnswerGroups = Type.Array(
  titled('AnswerGroup', {
    id: idSchema('Of the member or token, key, connection or label.'),
    now: AnswerTimes,
    before: AnswerTimes,
  }),
  { ...unpaged, description: 'With the most answers first; those who answered in neither period are not among them.' },
)

const Span = titled('StatsPeriod', {
  leads: count('Leads created in it that are there now.'),
  answers: ByAnswerer,
})

const { waitingMinutes: _, ...spanQuery } = StatsQuery.properties
export const ComparisonQuery = Type.Object(spanQuery, closed)

export const Comparison = Type.Object({
  from: timestamp('The first moment of the period.'),
  beforeFrom: timestamp('The first moment of the one before, of as many days.'),
  now: Span,
  before: Span,
  people: AnswerGroups,
  agents: AnswerGroups,
  connections: AnswerGroups,
  labels: AnswerGroups,
  sampledEvery: count('1 when every conversation was read, n when one of so many was.'),
})
export type Comparison = Static<typeof Comparison>

export const Stats = Type.Object({
  from: timestamp('The first moment of the first day.'),
  days: Type.Array(
    Type.Object({
      date: day,
      leads: count('Leads created on it that are there now.'),
      answers: ByAnswerer,
    }),
    { maxItems: 366, description: 'Every day, the oldest first; the last is today.' },
  ),
  leads: Type.Object({
    total: count('Leads that are there now, whenever they were created.'),
    created: count('Of the days.'),
    bySource: Type.Array(
      Type.Object({ source: oneOf(sources, { title: 'LeadSource' }), count: count('Created in the days.') }),
      {
        maxItems: sources.length,
        description: 'The most common first.',
      },
    ),
    byStatus: Type.Array(
      Type.Object({ status: leadStatus('Of the leads.', { example: 'new' }), count: count('Now.') }),
      {
        ...unpaged,
        description: 'Of all leads, the most common status first.',
      },
    ),
  }),
  answers: Type.Object(
    {
      ...Answerers,
      sampledEvery: count('1 when every conversation was read, n when one of so many was.'),
    },
    {
      description: `How long customers waited for the first answer after they wrote. ${ofAnswerers}`,
    },
  ),
  waiting: Type.Object({
    minutes: count('From how many minutes on.'),
    forPeople: count('Customers who wait where people are to answer.'),
    forAgents: count('Customers who wait where an agent is to answer.'),
    since: nullable(timestamp('Since when the first of them has waited.')),
  }),
  quota: Type.Object({
    used: count('Leads created this UTC day that count.'),
    limit: nullable(count('Null: unlimited.')),
  }),
  attention: Type.Array(
    Type.Object({
      code: oneOf(attentionCodes, { description: 'What is the matter.' }),
      id: nullable(idSchema('The connection, webhook or key.')),
      name: nullable(text(200, 'Its name; the description of a webhook.')),
      at: nullable(timestamp('Since when it is so, or when it will be.')),
      count: nullable(count('Customers, leads or failures.')),
      reason: nullable(
        text(
          200,
          'The state reason of the connection or webhook; of a key that was paused `same_call` or `same_text`.',
        ),
      ),
    }),
    { ...unpaged, description: 'What somebody should look at now, the worst first.' },
  ),
})
export type Stats = Static<typeof Stats>
