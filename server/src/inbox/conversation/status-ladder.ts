export const messageStatuses = ['pending', 'sent', 'delivered', 'read', 'failed'] as const
export type MessageStatus = (typeof messageStatuses)[number]

/** A message's or a part's place on the ladder. `errorCode` is null unless it failed. */
export interface Rung {
  status: MessageStatus
  errorCode: string | null
}

/** The error code of a send whose outcome nobody told us. */
export const outcomeUnknown = 'outcome_unknown'

const heights = { pending: 0, sent: 1, delivered: 2, read: 3 } as const

/**
 * Where a report leads: up, never down; to `failed` only from `pending` and `sent`. A failure that was only assumed,
 * since the outcome was unknown, gives way to what the platform tells. Null when the report changes nothing.
 */
export function climb(from: Rung, to: Rung): Rung | null {
  if (from.status === 'failed') {
    return from.errorCode === outcomeUnknown && to.status !== 'pending' && to.errorCode !== outcomeUnknown ? to : null
  }
  if (to.status === 'failed') return heights[from.status] <= heights.sent ? to : null
  return heights[to.status] > heights[from.status] ? to : null
}

/** The rung of a message in parts: the lowest that all have reached; failed as soon as one has failed. */
export function rungOfParts(parts: readonly Rung[]): Rung {
  const failed = parts.find((part) => part.status === 'failed')
  if (failed !== undefined) return failed
  const lowest = parts.reduce((low, part) => (heightOf(part) < heightOf(low) ? part : low), top)
  return parts.length === 0 ? { status: 'pending', errorCode: null } : lowest
}

const top: Rung = { status: 'read', errorCode: null }

function heightOf({ status }: Rung): number {
  return status === 'failed' ? -1 : heights[status]
}
