// Pure rules about a conversation's status, its window and whether somebody has answered.

export const conversationStatuses = ['open', 'pending', 'snoozed', 'resolved', 'closed'] as const
export type ConversationStatus = (typeof conversationStatuses)[number]

export interface StatusAndSnooze {
  status: ConversationStatus
  /** When a timer opens a snoozed conversation; null: when the customer writes. */
  snoozedUntil: Date | null
}

/** What the customer's writing makes of any status. */
export const openStatus: StatusAndSnooze = { status: 'open', snoozedUntil: null }

/** A status that was set; only a snoozed conversation keeps a time. */
export function withStatus(status: ConversationStatus, snoozedUntil: Date | null = null): StatusAndSnooze {
  return { status, snoozedUntil: status === 'snoozed' ? snoozedUntil : null }
}

const windowMs = 24 * 3_600_000
/** How far the platform's clock, which has whole seconds, or a caller's may be from ours. */
export const maxSkewMs = 5 * 60_000

/**
 * The end of the conversation window once the customer wrote at `writtenAt`, by the platform's clock. A message that
 * comes late never shortens it, and a platform clock ahead of ours lengthens it by at most five minutes.
 */
export function windowAfter(expiresAt: Date | null, writtenAt: Date, now: Date): Date {
  const from = Math.min(writtenAt.getTime(), now.getTime() + maxSkewMs)
  return new Date(Math.max(expiresAt?.getTime() ?? 0, from + windowMs))
}

/** When the customer last wrote or called, by the platform's clock; null when they never did. */
export const newestInbound = (expiresAt: Date | null): Date | null =>
  expiresAt === null ? null : new Date(expiresAt.getTime() - windowMs)

export function windowIsOpen(expiresAt: Date | null, now: Date): boolean {
  return expiresAt !== null && expiresAt > now
}

/** The window as callers see it: null once it is closed. */
export function openWindow(expiresAt: Date | null, now: Date): Date | null {
  return windowIsOpen(expiresAt, now) ? expiresAt : null
}

export interface AnswerTimes {
  /** When the oldest customer message came that nobody has answered; null when answered. */
  unansweredSince: Date | null
  lastMessageAt: Date | null
}

/** After a customer's message: waiting, whatever the platform's clock says of it. One that came late waits since it came. */
export function unansweredAfterInbound({ unansweredSince, lastMessageAt }: AnswerTimes, at: Date, now: Date): Date {
  if (unansweredSince !== null) return unansweredSince
  return lastMessageAt !== null && at < lastMessageAt ? now : at
}

/** Ids among the customer's messages, which ascend in the order of arrival; null where nobody has said. */
export interface InboundMarks {
  /** The one that came last. */
  newest: string | null
  /** The newest that the agent was shown which owns the conversation. */
  seen: string | null
  /** The newest that somebody has answered. */
  answered: string | null
}

export const noMarks: InboundMarks = Object.freeze({ newest: null, seen: null, answered: null })

/** What the answer of an agent leaves: the customer has written what it had not seen. */
export interface UnseenMessages {
  count: number
  /** Since when the oldest of them waits. */
  since: Date
}

/** How far an agent had seen when it answered. */
export interface SeenPosition {
  /** A message of the conversation. */
  id: string
  /** The agent has named it, rather than that we know of it. */
  isNamed: boolean
}

interface AnswerState {
  unansweredSince: Date | null
  unreadCount: number
  inbound: InboundMarks
}

/** Whether the customer wrote after what an agent had seen, and waits for an answer to it. */
export const hasUnseenMessages = (
  { unansweredSince, inbound: { newest } }: Pick<AnswerState, 'unansweredSince' | 'inbound'>,
  seen: SeenPosition,
): boolean => unansweredSince !== null && newest !== null && newest > seen.id

/** After a message of ours. Whoever does not say how far they had seen answers whatever is there. */
export function afterAnswer(
  { unansweredSince, unreadCount, inbound }: AnswerState,
  seen: SeenPosition | null,
  unseen: UnseenMessages | null,
): AnswerState {
  // Another answer of the same moment may have been to all of it, or to more of it.
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

/** Since when a customer's message waits: since it was written, or since it came where it came too late for the clocks to be the reason. */
export const waitingSince = (occurredAt: Date, createdAt: Date): Date =>
  createdAt.getTime() - occurredAt.getTime() >= maxSkewMs ? createdAt : occurredAt

interface ThreadTimes {
  lastMessage: { direction: 'inbound' | 'outbound' } | null
  lastMessageAt: Date
  unansweredSince: Date | null
}

/**
 * Where a customer's message stands in the conversation: behind whatever had been sent when it came, unless it is so old that the clocks
 * cannot be the reason. 'unknown' when that depends on when something was sent last.
 */
export function positionOfInbound(
  { lastMessage, lastMessageAt, unansweredSince }: ThreadTimes,
  at: Date,
): Date | 'unknown' {
  const lateMs = lastMessageAt.getTime() - at.getTime()
  if (lastMessage === null || lateMs < 0 || lateMs >= maxSkewMs) return at
  if (lastMessage.direction === 'outbound') return new Date(lastMessageAt.getTime() + 1)
  // Behind the first that waits is behind what was sent before it.
  return unansweredSince !== null && at >= unansweredSince ? at : 'unknown'
}
