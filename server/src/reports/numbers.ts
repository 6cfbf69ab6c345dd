import type { CaseOutcome } from '../inbox/reviews/ended-cases.ts'
import type { FactKind } from './fact.ts'

interface CountedNumber {
  kind: FactKind
  /** Only facts with this outcome; null: all of the kind. */
  outcome: string | null
  /** What it counts; the API and the app show it. */
  definition: string
}

/** Numbers that count conversations, answers, cases of agents and leads. Each can be listed. */
const counted = {
  new: {
    kind: 'new',
    outcome: null,
    definition:
      'Conversations by their first message, in either direction. Messages imported from a phone’s history do not begin one.',
  },
  new_by_customer: { kind: 'new', outcome: 'inbound', definition: 'Those that the customer began.' },
  closed: {
    kind: 'closed',
    outcome: null,
    definition:
      'Conversations that were resolved or closed, each time. By the team that had it then, and by who closed it.',
  },
  closed_by_people: { kind: 'closed', outcome: 'people', definition: 'Those that people closed.' },
  closed_by_agents: { kind: 'closed', outcome: 'agents', definition: 'Those that agents closed.' },
  closed_automatically: { kind: 'closed', outcome: 'automatic', definition: 'Those that rules or timers closed.' },
  reopened: {
    kind: 'reopened',
    outcome: null,
    definition: 'Closed conversations that were opened again, mostly by a message of the customer, each time.',
  },
  answers: {
    kind: 'answer',
    outcome: null,
    definition:
      'First answers: the first message of the team after one or more of the customer. What the service sends by itself, such as away messages, is none; nor are messages that failed.',
  },
  answers_by_people: { kind: 'answer', outcome: 'people', definition: 'Those of members and team tokens.' },
  answers_by_agents: { kind: 'answer', outcome: 'agents', definition: 'Those of API keys.' },
  answers_by_apps: { kind: 'answer', outcome: 'otherApps', definition: 'Those of other apps on the same number.' },
  ratings: {
    kind: 'rating',
    outcome: null,
    definition: 'Answers of customers to the question how satisfied they are. By who had answered them last before it.',
  },
  ratings_good: { kind: 'rating', outcome: 'good', definition: 'Those with 4 or 5 stars, or the happy face.' },
  ratings_bad: { kind: 'rating', outcome: 'bad', definition: 'Those with 1 or 2 stars, or the sad face.' },
  leads: {
    kind: 'lead',
    outcome: null,
    definition: 'Leads that were created in the period and not deleted since, with the status that they have now.',
  },
  leads_won: { kind: 'lead', outcome: 'won', definition: 'Those that are won now, whenever that was.' },
} as const satisfies Record<string, CountedNumber>

const cases = {
  resolved:
    'Cases of agents that they closed without people. A case is what an agent did on one request: from becoming the owner, or the last closing, until it was closed or got another owner.',
  reopened: 'Those that were opened again within 72 hours.',
  assisted: 'Cases that were closed after a person wrote or decided on a draft.',
  handed_over: 'Cases that the agent handed over to people.',
  taken_over: 'Cases that a person took over after an answer of the agent.',
  silent: 'Cases that people got because the agent did not answer in time.',
  other: 'Cases that went to another agent, or to people because the key ended or agents were stopped.',
} satisfies Partial<Record<CaseOutcome, string>>

type CaseName = `case_${keyof typeof cases}`
export type NumberName = keyof typeof counted | CaseName

const caseNumbers = Object.fromEntries(
  Object.entries(cases).map(([outcome, definition]) => [`case_${outcome}`, { kind: 'case', outcome, definition }]),
) as Record<CaseName, CountedNumber>

export const numbers: Record<NumberName, CountedNumber> = { ...counted, ...caseNumbers }
export const numberNames = Object.keys(numbers) as [NumberName, ...NumberName[]]
