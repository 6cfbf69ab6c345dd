import type { Channel } from '../../channels/connection/connection.ts'

// Pure rules for a conversation's status, its window and whether it was answered.

export const conversationStatuses = ['open', 'pending', 'snoozed', 'resolved', 'closed'] as const
export type ConversationStatus = (typeof conversationStatuses)[number]

export interface StatusAndSnooze {
  status: ConversationStatus
  /** When a timer reopens a snoozed conversation; null if only a customer message does. */
  snoozedUntil: Date | null
}

/** Status after a customer message, whatever it was before. */
export const openStatus: StatusAndSnooze = { status: 'open', snoozedUntil: null }

/** Returns the new status; only a snoozed conversation keeps a time. */
export function withStatus(status: ConversationStatus, snoozedUntil: Date | null = null): StatusAndSnooze {
  return { status, snoozedUntil: status === 'snoozed' ? snoozedUntil : null }
}

const windowMs = 24 * 3_600_000
/** Tolerated difference between our clock and the platform's (which has whole seconds) or a caller's. */
export const maxSkewMs = 5 * 60_000

/**
 * Returns the end of the conversation window after a customer message at `acknowledgedAt`, in platform time. A late message
 * never shortens the window, and a platform clock ahead of ours lengthens it by at most five minutes.
 */
export function windowAfter(expiresAt: Date | null, writtenAt: Date, now: Date): Date {
  const from = Math.min(writtenAt.getTime(), now.getTime() + maxSkewMs)
  return new Date(Math.max(expiresAt?.getTime() ?? 0, from + windowMs))
}

/** Returns when the customer last wrote or called, in platform time; null if never. */
export const newestInbound = (expiresAt: Date | null): Date | null =>
  expiresAt === null ? null : new Date(expiresAt.getTime() - windowMs)

/** End of a window that never ends. Not the last year that formats know, so that a time zone cannot exceed them. */
const never = new Date('9999-01-01T00:00:00.000Z')

/** Returns the end of the window in which text can be sent: on a website visitors can always be answered. */
export const windowOf = ({
  channel,
  windowExpiresAt,
}: {
  channel: Channel
  windowExpiresAt: Date | null
}): Date | null => (channel === 'website' ? never : windowExpiresAt)

export function windowIsOpen(expiresAt: Date | null, now: Date): boolean {
  return expiresAt !== null && expiresAt > now
}

/** Returns the window as callers see it: null once closed. */
export function openWindow(expiresAt: Date | null, now: Date): Date | null {
  return windowIsOpen(expiresAt, now) ? expiresAt : null
}

export interface AnswerTimes {
  /** Arrival of the oldest unanswered customer message; null if answered. */
  unansweredSince: Date | null
  lastMessageAt: Date | null
}

/** Returns since when the customer waits after a message; one older than the last counts from its arrival. */
export function unansweredAfterInbound({ unansweredSince, lastMessageAt }: AnswerTimes, at: Date, now: Date): Date {
  if (unansweredSince !== null) return unansweredSince
  return lastMessageAt !== null && at < lastMessageAt ? now : at
}

/** Ids of customer messages, which ascend in the order of arrival; null if there is none. */
export interface InboundMarks {
  /** Newest customer message. */
  newest: string | null
  /** Newest message shown to the agent that owns the conversation. */
  seen: string | null
  /** Newest answered message. */
  answered: string | null
}

export const noMarks: InboundMarks = Object.freeze({ newest: null, seen: null, answered: null })

/** Customer messages that an agent's answer does not cover because the agent had not seen them. */
export interface UnseenMessages {
  count: number
  /** Since when the oldest of them waits. */
  since: Date
}

/** How far an agent had seen when it answered. */
export interface SeenPosition {
  /** Message id. */
  id: string
  /** Whether the agent passed the id itself; otherwise we recorded it. */
  isNamed: boolean
}

interface AnswerState {
  unansweredSince: Date | null
  unreadCount: number
  inbound: InboundMarks
}

/** Returns whether the customer waits for an answer to messages that the agent has not seen. */
export const hasUnseenMessages = (
  { unansweredSince, inbound: { newest } }: Pick<AnswerState, 'unansweredSince' | 'inbound'>,
  seen: SeenPosition,
): boolean => unansweredSince !== null && newest !== null && newest > seen.id

/** Returns the state after an outbound message. Without `seen` it answers all messages. */
export function afterAnswer(
  { unansweredSince, unreadCount, inbound }: AnswerState,
  seen: SeenPosition | null,
  unseen: UnseenMessages | null,
): AnswerState {
  // A concurrent answer may already cover some or all of the unseen messages.
  const left = unansweredSince === null ? null : unseen
  const since = left === null || unansweredSince === null ? null : new Date(Math.max(+unansweredSince, +left.since))
  if (seen === null) return { unreadCount, unansweredSince: null, inbound: { ...inbound, answered: inbound.newest } }
  return {
    unreadCount: Math.min(unreadCount, left?.count ?? 0),
    unansweredSince: since,
    inbound: {
      newest: inbound.newest,
      seen: inbound.seen === null && !seen.isNamed ? null : laterId(inbound.seen, seen.id),
      answered: left === null ? inbound.newest : laterId(inbound.answered, seen.id),
    },
  }
}

export const laterId = (a: string | null, b: string | null): string | null =>
  a === null || (b !== null && b > a) ? b : a

/** Returns since when a customer message waits: its own time, or its arrival if it came at least `maxSkewMs` late. */
export const waitingSince = (occurredAt: Date, createdAt: Date): Date =>
  createdAt.getTime() - occurredAt.getTime() >= maxSkewMs ? createdAt : occurredAt

interface ThreadTimes {
  lastMessage: { direction: 'inbound' | 'outbound' } | null
  lastMessageAt: Date
  unansweredSince: Date | null
}

/**
 * Returns the position of a customer message: after everything sent before it arrived, unless it is too old for clock
 * skew to explain. 'unknown' if the position depends on when the last outbound message was sent.
 */
export function positionOfInbound(
  { lastMessage, lastMessageAt, unansweredSince }: ThreadTimes,
  at: Date,
): Date | 'unknown' {
  const lateMs = lastMessageAt.getTime() - at.getTime()
  if (lastMessage === null || lateMs < 0 || lateMs >= maxSkewMs) return at
  if (lastMessage.direction === 'outbound') return new Date(lastMessageAt.getTime() + 1)
  // The oldest unanswered message already follows what was sent before it.
  return unansweredSince !== null && at >= unansweredSince ? at : 'unknown'
}

export const goals = ['first_answer', 'next_answer', 'resolution'] as const
export type Goal = (typeof goals)[number]

/** A goal that is neither reached nor missed, or missed and still to be reached. Times are ISO 8601. */
export interface GoalClock {
  goal: Goal
  /** Minutes of business hours. */
  minutes: number
  since: string
  dueAt: string
  /** After four fifths of the minutes. */
  warnAt: string
  /** Whether it was recorded as missed. */
  isMissed?: true
}

/** The goals of a conversation. A case begins when the customer writes, and ends when it is resolved or closed. */
export interface GoalState {
  /** Null after the case was closed. */
  caseSince: string | null
  /** Whether the case had an answer. */
  isAnswered: boolean
  teamId: string | null
  clocks: GoalClock[]
}

/** Returns the columns by which conversations are found: the next clock to end, and the first missed one. */
export function goalTimes(goal: GoalState | null): { goalDueAt: Date | null; goalMissedAt: Date | null } {
  if (goal === null) return { goalDueAt: null, goalMissedAt: null }
  const { missed = [], running = [] } = Object.groupBy(goal.clocks, ({ isMissed }) => (isMissed ? 'missed' : 'running'))
  return { goalDueAt: firstDue(running), goalMissedAt: firstDue(missed) }
}

const firstDue = (clocks: readonly GoalClock[]): Date | null => {
  const [first] = clocks.map((clock) => clock.dueAt).sort()
  return first === undefined ? null : new Date(first)
}

/** Returns the clock that matters most: the missed one that was due first, else the next to end. */
export function shownClock(goal: GoalState | null): GoalClock | null {
  const sorted = [...(goal?.clocks ?? [])].sort((a, b) => (a.dueAt < b.dueAt ? -1 : 1))
  return sorted.find(({ isMissed }) => isMissed) ?? sorted[0] ?? null
}
