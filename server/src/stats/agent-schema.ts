import { type Static, Type } from 'typebox'
import { nullable, oneOf, timestamp, titled } from '../base/route.ts'
import { count, cursor, day, page, text, unpaged } from '../base/schema-types.ts'
import { listedNumbers, maxReasonsRead } from '../inbox/reviews/agent-numbers.ts'
import { caseOutcomes } from '../inbox/reviews/ended-cases.ts'
import { closed, idSchema, workspaceParams } from '../team/team-schema.ts'

export const maxDays = 92

const localDay = (description: string) =>
  Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$', maxLength: 10, description, example: '2026-10-01' })

export const DaysQuery = Type.Object(
  {
    from: Type.Optional(localDay('First day, in the time zone of the business hours, else UTC. Default: by `days`.')),
    to: Type.Optional(localDay(`Last day. Default: today. At most ${maxDays} days.`)),
    days: Type.Optional(
      Type.Integer({ minimum: 1, maximum: maxDays, description: 'Number of days, without `from`. Default 30.' }),
    ),
  },
  closed,
)

/** Also the definitions that the app shows. */
export const CaseCounts = titled('AgentCaseCounts', {
  resolved: count(
    'Closed without people, and not opened again within 72 hours: since the request began nobody of the team wrote to the customer or decided on a draft.',
  ),
  recent: count('Closed without people less than 72 hours ago.'),
  reopened: count('Closed without people, and opened again within 72 hours.'),
  assisted: count('Closed after a person wrote or decided on a draft.'),
  handed_over: count('The agent handed the conversation over to people.'),
  taken_over: count('A person took the conversation over after an answer of the agent.'),
  silent: count('People got the conversation because the agent did not answer in time.'),
  other: count('It went to another agent, or to people because the key ended or agents were stopped.'),
})
export type CaseCounts = Static<typeof CaseCounts>

const sums = {
  cases: count('Cases that ended, in which the agent answered, handed over or was silent.'),
  answered: count('Those in which the agent answered.'),
  outcomes: CaseCounts,
}

const decimal = (description: string) => nullable(Type.String({ maxLength: 60, description, example: '0.0412' }))

const AgentNumber = titled('AgentNumbers', {
  keyId: idSchema('The key of the agent.'),
  ...sums,
  drafts: titled('AgentDraftCounts', {
    sent: count('Sent unchanged.'),
    edited: count('Sent with another text.'),
    rejected: count('Rejected.'),
    replaced: count('Replaced by a newer draft of the agent.'),
    stale: count('Outdated: the customer wrote again, or the owner changed.'),
    open: count('Not decided yet.'),
    distance: nullable(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description: 'Mean share of changed words of the edited ones; null if there are none.',
        example: 0.18,
      }),
    ),
  }),
  cost: titled('AgentCost', {
    messages: count('Messages of the agent with a price of the platform.'),
    unknown: count('Those of which the platform did not say whether it charges.'),
    unpriced: count('Charged ones without a price on the rate card. The amount does not contain them.'),
    amount: decimal('What the others cost, in `currency`; null if it is unknown.'),
    perResolved: decimal(
      'The amount by each case that was closed without people (`resolved` and `recent`); null if it is unknown or there are none.',
    ),
  }),
  days: Type.Array(titled('AgentDay', { date: day, outcomes: CaseCounts }), {
    maxItems: maxDays,
    description: 'Days on which cases ended, oldest first.',
  }),
  versions: Type.Array(
    titled('AgentVersion', {
      id: nullable(idSchema('Version of the instructions in force at the last answer; null: none.')),
      keyId: nullable(idSchema('The key whose instructions they are; null: those of all keys.')),
      version: nullable(count('Its number.')),
      ...sums,
    }),
    { ...unpaged, description: 'The same cases by version of the instructions, newest first.' },
  ),
})

export const AgentNumbers = Type.Object({
  from: localDay('First day.'),
  to: localDay('Last day.'),
  timeZone: text(64, 'Time zone of the days.'),
  answerMinutes: nullable(count('Time in which agents must answer; null: there is no limit, so none is silent.')),
  currency: nullable(
    Type.String({
      pattern: '^[A-Z]{3}$',
      maxLength: 3,
      description:
        'Currency of the amounts: that of the billing settings. Numbers that are billed in another are left out. Null without rate cards.',
      example: 'USD',
    }),
  ),
  agents: Type.Array(AgentNumber, { ...unpaged, description: 'Agents with cases or drafts, most cases first.' }),
})
export type AgentNumbers = Static<typeof AgentNumbers>

export const agentParams = Type.Object({ ...workspaceParams, keyId: idSchema('The key of the agent.') })

export const CountedQuery = Type.Object(
  {
    ...DaysQuery.properties,
    number: oneOf(listedNumbers, {
      title: 'CountedNumber',
      description: `A number: ${caseOutcomes.map((one) => `\`${one}\``).join(', ')}, \`answered\`, or drafts by decision.`,
    }),
    cursor: Type.Optional(cursor('`nextCursor` of the page before.')),
  },
  closed,
)

export const CountedConversations = Type.Object({
  conversations: Type.Array(
    titled('CountedConversation', {
      id: idSchema('What was counted: a conversation can appear several times.'),
      conversationId: idSchema('The conversation.'),
      name: nullable(text(400, 'Name of the customer.')),
      at: timestamp('When the case ended or the draft was proposed.'),
    }),
    page,
  ),
  nextCursor: nullable(cursor('For the next page; null at the end.')),
})

const Reasons = Type.Array(
  titled('CountedReason', {
    reason: nullable(text(10_000, 'What was given as the reason; null: nothing.')),
    count: count('How often.'),
  }),
  { maxItems: 20, description: `Most common first, of the newest ${maxReasonsRead}.` },
)

export const AgentReasons = Type.Object({ handovers: Reasons, rejections: Reasons })
