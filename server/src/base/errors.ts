export type ErrorData = Record<string, unknown>

/** An error that the caller sees as `{ statusCode, statusMessage, data? }`. Any other error becomes a bare 500. */
export class ApiError extends Error {
  readonly statusCode: number
  readonly data: ErrorData | undefined
  readonly headers: Record<string, string>

  constructor(
    statusCode: number,
    message: string,
    options: { data?: ErrorData; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.statusCode = statusCode
    this.data = options.data
    this.headers = options.headers ?? {}
  }
}

export interface Issue {
  /** Dotted path of the field, such as `items[3].lead.email`; empty for the whole request. */
  path: string
  message: string
  /** Allowed values, or the first of them. */
  allowed?: readonly string[]
}

export type RequestPart = 'body' | 'query' | 'params' | 'headers'

// A body of 1 MiB can have 100,000 errors.
export const maxIssues = 20

/** Input that violates its schema or a further rule. Each API formats it in its own way. */
export class InvalidInput extends ApiError {
  readonly issues: Issue[]
  readonly part: RequestPart

  constructor(issues: Issue[], part: RequestPart = 'body', cause?: unknown) {
    const shown = issues.slice(0, maxIssues)
    super(400, 'Validation failed', { data: { issues: shown }, cause })
    this.issues = shown
    this.part = part
  }
}

export const invalid = (path: string, message: string, part: RequestPart = 'body'): InvalidInput =>
  new InvalidInput([{ path, message }], part)

export const badRequest = (message: string, data?: ErrorData): ApiError => new ApiError(400, message, { data })

/** The only answer to a rejected credential; `reason` never distinguishes an unknown key from a mistyped one. */
export const unauthorized = (reason: string): ApiError =>
  new ApiError(401, reason, { headers: { 'www-authenticate': 'Bearer' } })

export const forbidden = (message: string, data?: ErrorData): ApiError => new ApiError(403, message, { data })
export const notFound = (message: string, data?: ErrorData): ApiError => new ApiError(404, message, { data })
export const conflict = (message: string, data?: ErrorData, cause?: unknown): ApiError =>
  new ApiError(409, message, { data, cause })
export const gone = (message: string, data?: ErrorData): ApiError => new ApiError(410, message, { data })
export const unprocessable = (message: string, data?: ErrorData): ApiError => new ApiError(422, message, { data })
export const tooManyRequests = (message: string, retryAfterSeconds: number, data?: ErrorData): ApiError =>
  new ApiError(429, message, { data, headers: { 'retry-after': String(Math.max(1, Math.ceil(retryAfterSeconds))) } })
export const unavailable = (message: string, data?: ErrorData, retryAfterSeconds = 5): ApiError =>
  new ApiError(503, message, { data, headers: { 'retry-after': String(retryAfterSeconds) } })
