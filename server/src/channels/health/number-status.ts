/** What the platform reports about a number. Null: not reported. Stored as JSON, so times are ISO texts. */
export interface NumberFacts {
  /** How customers reacted to recent messages. */
  quality: Quality | null
  /** Customers with whom the business may start conversations in 24 hours; all numbers of its portfolio share it. */
  messagingLimit: number | 'unlimited' | null
  throughput: Throughput | null
  /** State of the display name. */
  nameStatus: NameStatus | null
  /** Whether messages can be sent, according to the platform's own health check. */
  canSend: CanSend | null
  /** Reasons of `canSend`, in the platform's words. */
  problems: NumberProblem[]
  /** For a linked phone: how many people it may still write to first. */
  newChats: NewChats | null
  /** For a linked phone: until when it may not write to people first; null if it may. */
  newChatsLockedUntil: string | null
}

/** With the time of the last read. */
export interface NumberStatus extends NumberFacts {
  checkedAt: string
}

export const qualities = ['green', 'yellow', 'red'] as const
export const throughputs = ['high', 'standard'] as const
export const nameStatuses = ['approved', 'pending', 'declined', 'expired'] as const
export const sendingStates = ['available', 'limited', 'blocked'] as const
export const newChatLevels = ['normal', 'first_warning', 'second_warning', 'capped'] as const
export type Quality = (typeof qualities)[number]
export type Throughput = (typeof throughputs)[number]
export type NameStatus = (typeof nameStatuses)[number]
export type CanSend = (typeof sendingStates)[number]
export type NewChatLevel = (typeof newChatLevels)[number]

export interface NumberProblem {
  /** The platform's error code; empty if it gives none. */
  code: string
  text: string
}

export interface NewChats {
  level: NewChatLevel
  used: number | null
  /** Null: no limit, or not reported. */
  total: number | null
  /** When the count starts again. */
  endsAt: string | null
}

export const [maxProblems, maxProblemLength] = [10, 500]

const unknown: NumberFacts = {
  quality: null,
  messagingLimit: null,
  throughput: null,
  nameStatus: null,
  canSend: null,
  problems: [],
  newChats: null,
  newChatsLockedUntil: null,
}

/** Returns the status after a report of some facts; keeps the others. */
export const mergeFacts = (before: NumberStatus | null, facts: Partial<NumberFacts>, now: Date): NumberStatus => ({
  ...unknown,
  ...before,
  ...facts,
  checkedAt: now.toISOString(),
})

/** Returns codes of what is wrong with the number now, for advice; most serious first. */
export function numberProblems(status: NumberStatus | null, now: Date): string[] {
  if (status === null) return []
  const { canSend, quality, nameStatus, newChats } = status
  return [
    ...(canSend === 'blocked' ? ['sending_blocked'] : []),
    ...(isLocked(status, now) ? ['new_chats_locked'] : []),
    ...(newChats?.level === 'capped' ? ['new_chats_capped'] : []),
    ...(canSend === 'limited' ? ['sending_limited'] : []),
    ...(quality === 'red' ? ['quality_red'] : []),
    ...(nameStatus === 'declined' ? ['name_declined'] : []),
    ...(nameStatus === 'expired' ? ['name_expired'] : []),
    ...(newChats !== null && isWarning(newChats.level) ? ['new_chats_warning'] : []),
    ...(quality === 'yellow' ? ['quality_yellow'] : []),
  ]
}

/** Returns codes of what became worse, for notifications: new problems, and limits that were lowered. */
export function findWorsened(before: NumberStatus | null, after: NumberStatus, now: Date): string[] {
  const known = new Set(numberProblems(before, now))
  const added = numberProblems(after, now).filter((code) => !known.has(code) && !isImprovement(code, known))
  return [
    ...added,
    ...(limitOf(after) < limitOf(before) ? ['messaging_limit_lowered'] : []),
    ...(before?.throughput === 'high' && after.throughput === 'standard' ? ['throughput_lowered'] : []),
  ]
}

/** Codes of which the second replaces the first when the number gets better. */
const improvements: Record<string, string> = {
  quality_yellow: 'quality_red',
  sending_limited: 'sending_blocked',
  new_chats_warning: 'new_chats_capped',
}

const isImprovement = (code: string, known: ReadonlySet<string>): boolean => known.has(improvements[code] ?? '')
const isWarning = (level: NewChatLevel): boolean => level === 'first_warning' || level === 'second_warning'

const isLocked = ({ newChatsLockedUntil }: NumberStatus, now: Date): boolean =>
  newChatsLockedUntil !== null && new Date(newChatsLockedUntil) > now

// An unknown limit compares as not lowered, whichever side it is on.
function limitOf(status: NumberStatus | null): number {
  const limit = status?.messagingLimit ?? null
  return limit === 'unlimited' ? Number.POSITIVE_INFINITY : (limit ?? Number.NaN)
}
