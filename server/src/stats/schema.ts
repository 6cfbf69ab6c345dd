import { type Static, Type } from 'typebox'
import { nullable, oneOf, timestamp, titled } from '../base/route.ts'
import { count, day, leadStatus, text, unpaged } from '../base/schema-types.ts'
import { sources } from '../leads/lead/lead.ts'
import { closed, idSchema } from '../team/team-schema.ts'
import { attentionCodes } from './attention.ts'

export const StatsQuery = Type.Object(
  {
    days: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 366, description: 'Number of days up to today. Default 30.' }),
    ),
    tz: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'IANA name of the time zone of the days. Default `UTC`.',
        example: 'America/Sao_Paulo',
      }),
    ),
    waitingMinutes: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 10_080,
        description: 'Minutes without an answer after which a customer counts as waiting. Default 15.',
      }),
    ),
  },
  closed,
)

const seconds = (description: string) => Type.Number({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description })

const AnswerTimes = nullable(
  Type.Object(
    {
      answers: count('Number of first answers; extrapolated if a sample was read.'),
      medianSeconds: seconds('Median waiting time in seconds.'),
      p90Seconds: seconds('90th percentile of the waiting time in seconds.'),
    },
    { title: 'AnswerTimes', description: 'Null if there were no answers.' },
  ),
)

const Answerers = {
  people: AnswerTimes,
  agents: AnswerTimes,
  otherApps: AnswerTimes,
}

const ofAnswerers =
  '`people` are members and team tokens, `agents` API keys, `otherApps` other apps on the same number.'
const ByAnswerer = Type.Object(Answerers, { title: 'AnswersByKind', description: ofAnswerers })

const Span = titled('StatsPeriod', {
  leads: count('Leads created in the period and not deleted since.'),
  answers: ByAnswerer,
})

const { waitingMinutes: _, ...spanQuery } = StatsQuery.properties
export const ComparisonQuery = Type.Object(spanQuery, closed)

export const Comparison = Type.Object({
  from: timestamp('Start of the period.'),
  beforeFrom: timestamp('Start of the previous period of the same length.'),
  now: Span,
  before: Span,
  sampledEvery: count('1 if every conversation was read, n if one in n was.'),
})
export type Comparison = Static<typeof Comparison>

export const Stats = Type.Object({
  from: timestamp('Start of the first day.'),
  days: Type.Array(
    Type.Object({
      date: day,
      leads: count('Leads created on the day and not deleted since.'),
      answers: ByAnswerer,
    }),
    { maxItems: 366, description: 'Every day, oldest first; the last is today.' },
  ),
  leads: Type.Object({
    total: count('All current leads.'),
    created: count('Leads created in these days.'),
    bySource: Type.Array(
      Type.Object({ source: oneOf(sources, { title: 'LeadSource' }), count: count('Leads created in these days.') }),
      {
        maxItems: sources.length,
        description: 'Most common first.',
      },
    ),
    byStatus: Type.Array(
      Type.Object({
        status: leadStatus('Status of the leads.', { example: 'new' }),
        count: count('Current leads with this status.'),
      }),
      {
        ...unpaged,
        description: 'All leads by status, most common first.',
      },
    ),
  }),
  answers: Type.Object(
    {
      ...Answerers,
      sampledEvery: count('1 if every conversation was read, n if one in n was.'),
    },
    {
      description: `Waiting times of customers until the first answer to their messages. ${ofAnswerers}`,
    },
  ),
  waiting: Type.Object({
    minutes: count('Minutes after which a customer counts as waiting.'),
    forPeople: count('Customers waiting for people.'),
    forAgents: count('Customers waiting for agents.'),
    since: nullable(timestamp('Since when the first of them has been waiting; null if there are none.')),
  }),
  quota: Type.Object({
    used: count('Leads created this UTC day that count towards the quota.'),
    limit: nullable(count('Daily quota; null: unlimited.')),
  }),
  attention: Type.Array(
    Type.Object({
      code: oneOf(attentionCodes, { description: 'What needs attention.' }),
      id: nullable(idSchema('The connection, webhook or key.')),
      name: nullable(text(200, 'Name of the connection or key; description of a webhook.')),
      at: nullable(timestamp('Since when the condition holds, or when it will occur.')),
      count: nullable(count('Number of customers, leads or failures.')),
      reason: nullable(
        text(200, 'State reason of the connection or webhook; `same_call` or `same_text` for a paused key.'),
      ),
    }),
    { ...unpaged, description: 'What needs attention now, worst first.' },
  ),
})
export type Stats = Static<typeof Stats>
