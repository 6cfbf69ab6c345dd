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
