import { ApiError } from '../../api/api-error.ts'
import type { Message } from '../../data/inbox/types.ts'
import type { Outgoing } from './pending-sends.ts'

/** Why a message was not sent. */
export interface Refusal {
  reason: Reason
  /** The service's own words, where they say more than the reason does. */
  detail: string
  /** What was to be sent. */
  outgoing: Outgoing
  /** With `THREAD_MOVED`: what somebody else has written. */
  newer: Message | null
}

export const reasons = [
  'OWNER_MISMATCH',
  'WINDOW_CLOSED',
  'CONNECTION_UNAVAILABLE',
  'ACKNOWLEDGEMENT_REQUIRED',
  'TEMPLATE_NOT_APPROVED',
  'OPTED_OUT',
  'INVALID_MESSAGE',
  'UNSUPPORTED_KIND',
  'THREAD_MOVED',
  'NOT_RETRYABLE',
  'CHAT_INBOX_UNAVAILABLE',
  'RATE_LIMITED',
  'DENIED',
  'NOT_FOUND',
  'OTHER',
] as const
export type Reason = (typeof reasons)[number]

const availabilityReasons: readonly Reason[] = [
  'CONNECTION_UNAVAILABLE',
  'ACKNOWLEDGEMENT_REQUIRED',
  'CHAT_INBOX_UNAVAILABLE',
]

/** Whether it was refused for how the connection or the workspace stands, and not for what was sent. */
export const isAvailabilityRefusal = (refusal: Refusal | null): boolean =>
  refusal !== null && availabilityReasons.includes(refusal.reason)

/** What a failed send is shown as. */
export function refusalOf(error: unknown, outgoing: Outgoing): Refusal {
  const failure = error instanceof ApiError ? error : null
  const reason = reasonOf(failure)
  const tellsMore = reason === 'INVALID_MESSAGE' || reason === 'OTHER'
  const detail = tellsMore && failure !== null ? [failure.message, ...failure.issues.values()].join('. ') : ''
  const newer = reason === 'THREAD_MOVED' ? ((failure?.data.message as Message | undefined) ?? null) : null
  return { reason, detail, outgoing, newer }
}

function reasonOf(failure: ApiError | null): Reason {
  const named = reasons.find((one) => one === failure?.code)
  if (named !== undefined) return named
  if (failure?.status === 429) return 'RATE_LIMITED'
  if (failure?.status === 403) return 'DENIED'
  return failure?.status === 404 ? 'NOT_FOUND' : 'OTHER'
}
