// Pure rules about a conversation's status, its window and whether somebody has answered.

export const conversationStatuses = ['open', 'pending', 'snoozed', 'resolved', 'closed'] as const
export type ConversationStatus = (typeof conversationStatuses)[number]

export interface StatusAndSnooze {
  status: ConversationStatus
  /** When a timer opens a snoozed conversation; null: when the customer writes. */
  snoozedUntil: Date | null
}

/** What the customer's writing makes of any status. */
export const opened: StatusAndSnooze = { status: 'open', snoozedUntil: null }

/** A status that was set; only a snoozed conversation keeps a time. */
export function withStatus(status: ConversationStatus, snoozedUntil: Date | null = null): StatusAndSnooze {
  return { status, snoozedUntil: status === 'snoozed' ? snoozedUntil : null }
}

const windowMs = 24 * 3_600_000
/** How far the platform's clock may be ahead of ours. */
const maxSkewMs = 5 * 60_000

/**
 * The end of the conversation window once the customer wrote at `writtenAt`, by the platform's clock. A message that
 * comes late never shortens it, and a platform clock ahead of ours lengthens it by at most five minutes.
 */
export function windowAfter(expiresAt: Date | null, writtenAt: Date, now: Date): Date {
  const from = Math.min(writtenAt.getTime(), now.getTime() + maxSkewMs)
  return new Date(Math.max(expiresAt?.getTime() ?? 0, from + windowMs))
}

export function windowIsOpen(expiresAt: Date | null, now: Date): boolean {
  return expiresAt !== null && expiresAt > now
}

/** The window as callers see it: null once it is closed. */
export function openWindow(expiresAt: Date | null, now: Date): Date | null {
  return windowIsOpen(expiresAt, now) ? expiresAt : null
}

export interface Answering {
  /** When the oldest customer message came that nobody has answered; null when answered. */
  unansweredSince: Date | null
  lastMessageAt: Date | null
}

/** After a customer's message: waiting, unless it came late and something newer has been said since. */
export function unansweredAfterInbound({ unansweredSince, lastMessageAt }: Answering, at: Date): Date | null {
  if (unansweredSince !== null) return unansweredSince
  return lastMessageAt !== null && at < lastMessageAt ? null : at
}
