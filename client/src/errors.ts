import type { ErrorBody } from './types.ts'

export interface Issue {
  /** Path of the field; empty: the whole body or query. */
  path: string
  message: string
}

/** Base class of all errors of this package, except the reason of an aborted signal. */
export class ParleyError extends Error {
  override readonly name: string = 'ParleyError'
  /** Key of a failed send: retry with it, so that the customer gets the message once. */
  idempotencyKey?: string
}

/** No response, or an unreadable one: it is unknown whether the request took effect. */
export class NetworkError extends ParleyError {
  override readonly name: string = 'NetworkError'
}

/** No response in time. */
export class TimeoutError extends NetworkError {
  override readonly name: string = 'TimeoutError'
}

/** The service rejected the request or failed. */
export class ApiError extends ParleyError {
  override readonly name: string = 'ApiError'
  readonly status: number
  /** Branch on this, or on the error class. */
  readonly code: string | undefined
  /** The field whose value exists already, if there is one. */
  readonly field: string | undefined
  /** Validation errors. */
  readonly issues: Issue[]
  /** What to do instead; set by the agent API. */
  readonly next: string[]
  /** Other data of the error. */
  readonly data: Record<string, unknown>
  /** Quote it when you report a problem. */
  readonly requestId: string | undefined
  /** Milliseconds to wait before a retry, if the service sent them. */
  readonly retryAfterMs: number | undefined

  constructor(refusal: ErrorDetails) {
    super(refusal.message)
    this.status = refusal.status
    this.code = refusal.code
    this.field = typeof refusal.data.field === 'string' ? refusal.data.field : undefined
    this.issues = refusal.issues
    this.next = refusal.next
    this.data = refusal.data
    this.requestId = refusal.requestId
    this.retryAfterMs = refusal.retryAfterMs
  }
}

/** 400, 405, 413, 415: the request must change. */
export class InvalidRequestError extends ApiError {
  override readonly name: string = 'InvalidRequestError'
}
/** 401: the key is missing, unknown, revoked, expired, or lacks a scope. */
export class KeyRejectedError extends ApiError {
  override readonly name: string = 'KeyRejectedError'
}
/** 403. */
export class ForbiddenError extends ApiError {
  override readonly name: string = 'ForbiddenError'
}
export class OwnerForbiddenError extends ForbiddenError {
  override readonly name: string = 'OwnerForbiddenError'
}
/** 404. */
export class NotFoundError extends ApiError {
  override readonly name: string = 'NotFoundError'
}
/** 409. */
export class ConflictError extends ApiError {
  override readonly name: string = 'ConflictError'
}
/** Another owner has this conversation now. */
export class OwnerMismatchError extends ConflictError {
  override readonly name: string = 'OwnerMismatchError'
}
/** People own this conversation: leave it alone until it is handed back to you. */
export class HeldByPeopleError extends ConflictError {
  override readonly name: string = 'HeldByPeopleError'
}
/** Another automation on the number answers this customer, `data.thread_owner`: leave it alone. */
export class StandbyError extends ConflictError {
  override readonly name: string = 'StandbyError'
}
/** The key has reached its limit of messages without an answer from the customer: wait until they write. */
export class UnansweredLimitError extends ConflictError {
  override readonly name: string = 'UnansweredLimitError'
}
/** A person must approve what the key sends. `answer` drafts it; nothing else can be sent. */
export class ApprovalNeededError extends ConflictError {
  override readonly name: string = 'ApprovalNeededError'
}
/** The customer has written since; `data.arrived_meanwhile` has it, and it comes as new work. Nothing was sent. */
export class CustomerWroteAgainError extends ConflictError {
  override readonly name: string = 'CustomerWroteAgainError'
}
export class ConnectionUnavailableError extends ConflictError {
  override readonly name: string = 'ConnectionUnavailableError'
}
export class AcknowledgementRequiredError extends ConflictError {
  override readonly name: string = 'AcknowledgementRequiredError'
}
/** It is unknown whether the platform accepted the message; repeat with the same key to get the result. */
export class NotRetryableError extends ConflictError {
  override readonly name: string = 'NotRetryableError'
}
/** 410: the cursor is too old. Start over, and read leads and conversations for what you missed. */
export class CursorExpiredError extends ApiError {
  override readonly name: string = 'CursorExpiredError'
}
/** 422. */
export class UnprocessableError extends ApiError {
  override readonly name: string = 'UnprocessableError'
}
export class UnsupportedKindError extends UnprocessableError {
  override readonly name: string = 'UnsupportedKindError'
}
/** The customer last wrote more than 24 hours ago: send a template. */
export class WindowClosedError extends UnprocessableError {
  override readonly name: string = 'WindowClosedError'
}
export class TemplateNotApprovedError extends UnprocessableError {
  override readonly name: string = 'TemplateNotApprovedError'
}
export class OptedOutError extends UnprocessableError {
  override readonly name: string = 'OptedOutError'
}
/** The text is longer than the key may send at once: shorten it. Nothing was sent. */
export class TooManyPartsError extends UnprocessableError {
  override readonly name: string = 'TooManyPartsError'
}
export class InvalidMessageError extends UnprocessableError {
  override readonly name: string = 'InvalidMessageError'
}
/** 429. */
export class RateLimitedError extends ApiError {
  override readonly name: string = 'RateLimitedError'
}
/** The key has reached its limit of messages per UTC day. */
export class DailySendsReachedError extends RateLimitedError {
  override readonly name: string = 'DailySendsReachedError'
}
/** A budget of the workspace, the connection or the key is used up; `data.budget` says which, and when it starts again. */
export class BudgetReachedError extends RateLimitedError {
  override readonly name: string = 'BudgetReachedError'
}
/** The key is paused for repeated calls; `next` explains. */
export class PausedError extends RateLimitedError {
  override readonly name: string = 'PausedError'
}
/** 5xx. */
export class ServiceError extends ApiError {
  override readonly name: string = 'ServiceError'
}
/** 502: the platform did not accept the message. */
export class DeliveryFailedError extends ServiceError {
  override readonly name: string = 'DeliveryFailedError'
}
/** 503. */
export class UnavailableError extends ServiceError {
  override readonly name: string = 'UnavailableError'
}

const byStatus: Record<number, typeof ApiError> = {
  400: InvalidRequestError,
  401: KeyRejectedError,
  403: ForbiddenError,
  404: NotFoundError,
  405: InvalidRequestError,
  409: ConflictError,
  410: CursorExpiredError,
  413: InvalidRequestError,
  415: InvalidRequestError,
  422: UnprocessableError,
  429: RateLimitedError,
  503: UnavailableError,
}
const byCode: Record<string, typeof ApiError> = {
  OWNER_FORBIDDEN: OwnerForbiddenError,
  OWNER_MISMATCH: OwnerMismatchError,
  HELD_BY_PEOPLE: HeldByPeopleError,
  ON_STANDBY: StandbyError,
  UNANSWERED_LIMIT: UnansweredLimitError,
  CUSTOMER_WROTE_AGAIN: CustomerWroteAgainError,
  APPROVAL_NEEDED: ApprovalNeededError,
  TOO_MANY_PARTS: TooManyPartsError,
  DAILY_SENDS_REACHED: DailySendsReachedError,
  BUDGET_REACHED: BudgetReachedError,
  PAUSED: PausedError,
  CONNECTION_UNAVAILABLE: ConnectionUnavailableError,
  ACKNOWLEDGEMENT_REQUIRED: AcknowledgementRequiredError,
  NOT_RETRYABLE: NotRetryableError,
  UNSUPPORTED_KIND: UnsupportedKindError,
  WINDOW_CLOSED: WindowClosedError,
  TEMPLATE_NOT_APPROVED: TemplateNotApprovedError,
  OPTED_OUT: OptedOutError,
  INVALID_MESSAGE: InvalidMessageError,
  DELIVERY_FAILED: DeliveryFailedError,
}

export interface ErrorDetails {
  status: number
  message: string
  code: string | undefined
  issues: Issue[]
  next: string[]
  data: Record<string, unknown>
  requestId: string | undefined
  retryAfterMs: number | undefined
}

/** Creates the error for an unsuccessful response. */
export function createError(response: Pick<Response, 'status' | 'headers'>, body: unknown, now: number): ApiError {
  const { status, headers } = response
  const details = readBody(body)
  const refusal: ErrorDetails = {
    status,
    ...details,
    message: details.message || `The service responded with ${status}`,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterMs: retryAfterMs(headers.get('retry-after'), now),
  }
  const Class = byCode[details.code ?? ''] ?? byStatus[status] ?? (status >= 500 ? ServiceError : ApiError)
  return new Class(refusal)
}

/** Reads errors of the contract's APIs, or problem details (RFC 9457) of the agent API. */
function readBody(body: unknown): Pick<ErrorDetails, 'message' | 'code' | 'issues' | 'next' | 'data'> {
  if (typeof body !== 'object' || body === null) return { message: '', code: undefined, issues: [], next: [], data: {} }
  if ('statusMessage' in body) {
    const { statusMessage, data = {} } = body as ErrorBody
    const { code, issues = [] } = data
    return { message: statusMessage, code, issues, next: [], data: { ...data } }
  }
  const { title, detail, code, issues, next, ...data } = body as Record<string, unknown>
  return {
    message: String(detail ?? title ?? ''),
    code: typeof code === 'string' ? code : undefined,
    issues: Array.isArray(issues) ? (issues as Issue[]) : [],
    next: Array.isArray(next) ? next.map(String) : [],
    data,
  }
}

/** Parses seconds or a date. */
function retryAfterMs(value: string | null, now: number): number | undefined {
  if (value === null) return undefined
  const text = value.trim()
  const delayMs = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isNaN(delayMs) ? undefined : Math.max(0, delayMs)
}
