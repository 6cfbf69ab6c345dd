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
