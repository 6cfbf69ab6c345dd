import { ApiError } from '../../api/api-error.ts'
import type { Message } from '../../data/inbox/types.ts'
import type { OutgoingMessage } from './pending-sends.ts'

export interface Refusal {
  reason: Reason
  /** Error text of the server, if it says more than the reason. */
  detail: string
  outgoing: OutgoingMessage
  /** With `THREAD_MOVED`: the newer message. */
  newer: Message | null
  /** With `BUDGET_REACHED`: the budget that is used up. */
  budget: ReachedBudget | null
}

export interface ReachedBudget {
  scope: 'workspace' | 'connection' | 'key'
  /** Null: it limits messages. */
  currency: string | null
  period: 'day' | 'month'
  limit: string
  used: string
  resets_at: string
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
  'BUDGET_REACHED',
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

/** Returns whether the state of the connection or workspace caused the refusal, and not the message. */
export const isAvailabilityRefusal = (refusal: Refusal | null): boolean =>
  refusal !== null && availabilityReasons.includes(refusal.reason)

/** Converts an error to a refusal. */
export function refusalOf(error: unknown, outgoing: OutgoingMessage): Refusal {
  const failure = error instanceof ApiError ? error : null
  const reason = reasonOf(failure)
  const hasDetail = reason === 'INVALID_MESSAGE' || reason === 'OTHER'
  const detail = hasDetail && failure !== null ? [failure.message, ...failure.issues.values()].join('. ') : ''
  const newer = reason === 'THREAD_MOVED' ? ((failure?.data.message as Message | undefined) ?? null) : null
  const budget = reason === 'BUDGET_REACHED' ? ((failure?.data.budget as ReachedBudget | undefined) ?? null) : null
  return { reason, detail, outgoing, newer, budget }
}

function reasonOf(failure: ApiError | null): Reason {
  const named = reasons.find((one) => one === failure?.code)
  if (named !== undefined) return named
  if (failure?.status === 429) return 'RATE_LIMITED'
  if (failure?.status === 403) return 'DENIED'
  return failure?.status === 404 ? 'NOT_FOUND' : 'OTHER'
}
