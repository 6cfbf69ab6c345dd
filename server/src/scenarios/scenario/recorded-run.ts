/** What was recorded of a scenario: what the customer and the team saw, and what the agent did. */
export interface RecordedRun {
  entries: Entry[]
  calls: RecordedCall[]
  turns: Turn[]
  /** Handovers to people by the agent. */
  handovers: { urgency: string; reason: string | null; summary: string }[]
  /** Whether the agent gave the conversation to people, with or without a note. */
  handedOver: boolean
  /** Messages of the agent in conversations that people had. */
  intrusions: number
  drafts: number
  conversation: { status: string; owner: 'agent' | 'people'; labels: string[]; optedOut: boolean }
  /** The customer's lead as the Leads API shows it; null: there is none. */
  lead: Record<string, unknown> | null
  /** Charged messages by category. */
  charges: Record<string, number>
  /** Whether something that the agent received contains the complete number of the customer. */
  phoneReceived: boolean
  /** Why the script could not be played; null: it was. */
  problem: string | null
  ms: number
}

export interface Entry {
  /** Milliseconds since the beginning of the script. */
  atMs: number
  from: 'customer' | 'agent' | 'team' | 'system'
  /** `message`, `note`, `handover`, `draft` or `change`. */
  kind: 'message' | 'note' | 'handover' | 'draft' | 'change'
  text: string
}

export interface RecordedCall {
  atMs: number
  tool: string
  input: Record<string, unknown>
  /** Error code; null: it succeeded. */
  code: string | null
}

/** Messages of the customer, and how long the agent took to react. */
export interface Turn {
  /** Whether the agent had the conversation. */
  isAgents: boolean
  /** Null: it did not react. */
  reactedAfterMs: number | null
}

export const checkNames = [
  'played',
  'handedOver',
  'answers',
  'tools',
  'toolsNotCalled',
  'says',
  'saysOneOf',
  'neverSays',
  'language',
  'messages',
  'drafts',
  'notes',
  'answeredWithinSeconds',
  'costAtMost',
  'lead',
  'conversation',
  'leavesPeopleAlone',
  'hidesPhone',
  'judge',
] as const
export type CheckName = (typeof checkNames)[number]

/** One expectation, and whether it is met. */
export interface Check {
  check: CheckName
  passed: boolean
  expected: string
  /** What was found; empty: nothing. */
  actual: string
}

/** The score of a judge, from 0 to 10, with its reason. */
export interface Score {
  score: number
  reason: string
}

/** The texts that the agent wrote to the customer, in order. */
export const textsOf = ({ entries }: Pick<RecordedRun, 'entries'>, from: Entry['from']): string[] =>
  entries.flatMap((entry) => (entry.kind === 'message' && entry.from === from ? entry.text : []))
