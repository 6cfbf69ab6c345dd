import type { ErrorBody } from './types.ts'

export interface Issue {
  /** The field; empty for the whole. */
  path: string
  /** What to change. */
  message: string
}

/** Everything that this package throws, but for the reason of a signal that was aborted. */
export class ParleyError extends Error {
  override readonly name: string = 'ParleyError'
  /** Of a send: give it again with the next attempt, and the customer gets the message once. */
  idempotencyKey?: string
}

/** No answer came, or none that could be read: nobody knows whether the request was carried out. */
export class NetworkError extends ParleyError {
  override readonly name: string = 'NetworkError'
}

/** No answer came in time. */
export class TimeoutError extends NetworkError {
  override readonly name: string = 'TimeoutError'
}

/** The service refused the request, or failed. */
export class ApiError extends ParleyError {
  override readonly name: string = 'ApiError'
  readonly status: number
  /** To branch on; there is a class for each that is known. */
  readonly code: string | undefined
  /** The field whose value is taken, where it is one. */
  readonly field: string | undefined
  /** What does not fit. */
  readonly issues: Issue[]
  /** What can be done instead, as the interface for agents says it. */
  readonly next: string[]
  /** Everything else that the answer says of it. */
  readonly data: Record<string, unknown>
  /** To be quoted when a fault is reported. */
  readonly requestId: string | undefined
  /** How long to wait before the next attempt, where the service says it. */
  readonly retryAfterMs: number | undefined

  constructor(refusal: Refusal) {
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

/** 400, 405, 413, 415: the request has to change. */
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
/** Somebody else answers this conversation now. */
export class OwnerMismatchError extends ConflictError {
  override readonly name: string = 'OwnerMismatchError'
}
/** People have this conversation: wait, and take no part in it until it is handed to you. */
export class HeldByPeopleError extends ConflictError {
  override readonly name: string = 'HeldByPeopleError'
}
/** The customer has not answered as many messages as the key may send: wait until they write. */
export class UnansweredLimitError extends ConflictError {
  override readonly name: string = 'UnansweredLimitError'
}
export class ConnectionUnavailableError extends ConflictError {
  override readonly name: string = 'ConnectionUnavailableError'
}
export class AcknowledgementRequiredError extends ConflictError {
  override readonly name: string = 'AcknowledgementRequiredError'
}
/** Nobody knows yet whether the platform took the message: the same key says it once it is known. */
export class NotRetryableError extends ConflictError {
  override readonly name: string = 'NotRetryableError'
}
/** 410: the cursor is older than what is kept. Start anew, and read leads and conversations for what was missed. */
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
export class InvalidMessageError extends UnprocessableError {
  override readonly name: string = 'InvalidMessageError'
}
/** 429. */
export class RateLimitedError extends ApiError {
  override readonly name: string = 'RateLimitedError'
}
/** The key has sent as many messages as it may in a UTC day. */
export class DailySendsReachedError extends RateLimitedError {
  override readonly name: string = 'DailySendsReachedError'
}
/** The key has repeated itself: `next` says what it did. */
export class PausedError extends RateLimitedError {
  override readonly name: string = 'PausedError'
}
/** 5xx. */
export class ServiceError extends ApiError {
  override readonly name: string = 'ServiceError'
}
/** 502: the platform did not take the message. */
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
  UNANSWERED_LIMIT: UnansweredLimitError,
  DAILY_SENDS_REACHED: DailySendsReachedError,
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

export interface Refusal {
  status: number
  message: string
  code: string | undefined
  issues: Issue[]
  next: string[]
  data: Record<string, unknown>
  requestId: string | undefined
  retryAfterMs: number | undefined
}

/** The error of an answer that is none of success. */
export function errorOf(response: Pick<Response, 'status' | 'headers'>, body: unknown, now: number): ApiError {
  const { status, headers } = response
  const details = readBody(body)
  const refusal: Refusal = {
    status,
    ...details,
    message: details.message || `The service answered ${status}`,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterMs: retryAfterMs(headers.get('retry-after'), now),
  }
  const Class = byCode[details.code ?? ''] ?? byStatus[status] ?? (status >= 500 ? ServiceError : ApiError)
  return new Class(refusal)
}

/** The contract's shape, or problem details (RFC 9457) of the interface for agents. */
function readBody(body: unknown): Pick<Refusal, 'message' | 'code' | 'issues' | 'next' | 'data'> {
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

/** In seconds or as a date. */
function retryAfterMs(value: string | null, now: number): number | undefined {
  if (value === null) return undefined
  const text = value.trim()
  const askedMs = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isNaN(askedMs) ? undefined : Math.max(0, askedMs)
}
