import { type Static, type TSchema, Type } from 'typebox'
import { nullable, oneOf, timestamp, titled } from '../base/route.ts'
import { count, cursor, day, leadStatus, page, text, unpaged } from '../base/schema-types.ts'
import { maxTouchText } from '../leads/sources/attribution.ts'
import { closed, idSchema, workspaceParams } from '../team/team-schema.ts'
import { dimensions } from './fact.ts'
import { numberNames, numbers } from './numbers.ts'

export const maxDays = 366
export const maxGroups = 200

const localDay = (description: string) =>
  Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$', maxLength: 10, description, example: '2026-10-01' })

const dimensionText =
  '`connection`, `team` (that had the conversation then), `person` (member or team token that answered or closed; of a lead, its assignee), `key` (of an agent), `label` (that the conversation or lead has now), `source` (of the lead; of a conversation, that of the customer’s lead) or `campaign` (that first brought that lead, by its parameters or ad).'

const period = {
  from: Type.Optional(localDay('First day, in the time zone of the business hours, else UTC. Default: by `days`.')),
  to: Type.Optional(localDay(`Last day. Default: today. At most ${maxDays} days.`)),
  days: Type.Optional(
    Type.Integer({ minimum: 1, maximum: maxDays, description: 'Number of days, without `from`. Default 30.' }),
  ),
}

const filter = {
  dimension: Type.Optional(
    oneOf(dimensions, { title: 'ReportDimension', description: `Only one value of it: ${dimensionText}` }),
  ),
  value: Type.Optional(
    Type.String({
      pattern: '^[a-z0-9_-]{1,36}$',
      maxLength: 36,
      description: 'That value: an id, or a source.',
      example: 'ads',
    }),
  ),
}

export const ReportQuery = Type.Object({ ...period, ...filter }, closed)
export type ReportQuery = Static<typeof ReportQuery>

export const GroupsQuery = Type.Object(
  { ...period, by: oneOf(dimensions, { title: 'ReportDimension', description: dimensionText }) },
  closed,
)

const numberName = oneOf(numberNames, {
  title: 'ReportNumber',
  description: numberNames.map((name) => `\`${name}\`: ${numbers[name].definition}`).join('\n'),
})

export const CountedQuery = Type.Object(
  {
    ...period,
    ...filter,
    number: numberName,
    cursor: Type.Optional(cursor('`nextCursor` of the page before.')),
  },
  closed,
)

const compared = <S extends TSchema>(value: S) => ({ now: value, before: value })
const seconds = (description: string, example = 92.5) =>
  Type.Number({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description, example })
const decimal = (description: string) => Type.String({ maxLength: 60, description, example: '12.4875' })

const Times = nullable(
  titled('ReportTimes', {
    count: count('How many there were.'),
    medianSeconds: seconds('Median, accurate to 5 %.'),
    p90Seconds: seconds('90th percentile, accurate to 5 %.', 611),
  }),
)
const ComparedTimes = titled('ReportComparedTimes', compared(Times))
const ComparedCount = titled('ReportComparedCount', {
  now: count('In the period.'),
  before: count('In the same number of days before.'),
})

const ReportCounts = Type.Object(
  Object.fromEntries(numberNames.map((name) => [name, ComparedCount])) as Record<
    (typeof numberNames)[number],
    typeof ComparedCount
  >,
  { title: 'ReportCounts' },
)

const Cost = nullable(
  titled('ReportCost', {
    ...compared(
      nullable(decimal('What the platform charges, in `costCurrency`; null without a price. The sum of the ledger.')),
    ),
    unpriced: count('Messages of the period of which the amount is not known; the amount does not contain them.'),
  }),
)
const LeadStatuses = Type.Array(
  titled('ReportLeadStatus', {
    status: leadStatus('Status that they have now.', { example: 'won' }),
    count: count('Leads that were created in the period.'),
    amount: decimal('Their actual values, or the estimated ones, in `currency`.'),
  }),
  { ...unpaged, description: 'Leads of the period by status.' },
)
const currency = (description: string) =>
  nullable(Type.String({ pattern: '^[A-Z]{3}$', maxLength: 3, description, example: 'USD' }))

const head = {
  from: localDay('First day.'),
  to: localDay('Last day.'),
  beforeFrom: localDay('First of the same number of days before.'),
  timeZone: text(64, 'Time zone of the days. Days of costs are those of the billing settings.'),
  countedAt: nullable(timestamp('When changes were last counted.')),
  isComplete: Type.Boolean({ description: 'False while older records are still being counted, as after an update.' }),
  currency: currency('Currency of the values of leads.'),
  costCurrency: currency('Currency of costs: that of the billing settings. Null without rate cards, and for members.'),
}

export const Report = Type.Object({
  ...head,
  campaign: nullable(text(maxTouchText, 'Name of the campaign that the report is limited to.', { example: 'spring' })),
  counts: ReportCounts,
  times: titled('ReportAllTimes', {
    answer: ComparedTimes,
    answerOfPeople: ComparedTimes,
    answerOfAgents: ComparedTimes,
    resolution: ComparedTimes,
  }),
  waiting: nullable(
    titled('ReportWaiting', {
      forPeople: count('Customers who wait for an answer of people now.'),
      forAgents: count('Customers who wait for an answer of agents now.'),
    }),
  ),
  leads: LeadStatuses,
  cost: Cost,
  days: Type.Array(
    titled('ReportDay', {
      date: day,
      new: count('Conversations that began.'),
      closed: count('Closed conversations.'),
      reopened: count('Conversations that were opened again.'),
      answersOfPeople: count('First answers of people.'),
      answersOfAgents: count('First answers of agents.'),
      medianOfPeople: nullable(seconds('Median seconds until first answers of people.')),
      medianOfAgents: nullable(seconds('Median seconds until first answers of agents.')),
      leads: count('Leads that were created.'),
      leadsWon: count('Those that are won now.'),
      cost: nullable(decimal('Cost of the day; null for members.')),
    }),
    { maxItems: maxDays, description: 'Every day, oldest first.' },
  ),
})
export type Report = Static<typeof Report>

export const ReportGroups = Type.Object({
  ...head,
  groups: Type.Array(
    titled('ReportGroup', {
      id: text(36, 'Id, or source.'),
      name: nullable(text(maxTouchText, 'Name of the campaign; null for other dimensions.', { example: 'spring' })),
      counts: ReportCounts,
      answer: ComparedTimes,
      resolution: ComparedTimes,
      leads: LeadStatuses,
      cost: Cost,
    }),
    { maxItems: maxGroups, description: 'Those that count the most first. Members get only themselves by `person`.' },
  ),
})
export type ReportGroups = Static<typeof ReportGroups>

export const CountedItems = Type.Object({
  items: Type.Array(
    titled('ReportCountedItem', {
      id: idSchema('What was counted: a conversation can appear several times.'),
      conversationId: nullable(idSchema('The conversation; null if it was erased, and for leads.')),
      leadId: nullable(idSchema('The lead; null if it no longer exists, and for conversations.')),
      name: nullable(text(400, 'Name of the customer or lead, or the phone.')),
      at: timestamp('When it happened.'),
      seconds: nullable(seconds('Exact time until the answer or the closing.')),
    }),
    page,
  ),
  nextCursor: nullable(cursor('For the next page; null at the end.')),
})

export const reportMailParams = Type.Object({ ...workspaceParams, filterId: idSchema('The saved report.') })

export const ReportMails = Type.Object({
  filterIds: Type.Array(idSchema('A saved report.'), {
    maxItems: 200,
    description: 'Saved reports that the caller gets by mail every week.',
  }),
})
