import { randomBytes } from 'node:crypto'

interface KnownError {
  http: number
  title: string
  details?: string
}

/** Errors of the platform that sending and connecting can cause, by code. */
export const knownErrors: Record<number, KnownError> = {
  0: { http: 401, title: 'We were unable to authenticate the app user' },
  1: { http: 400, title: 'An unknown error occurred' },
  2: { http: 503, title: 'Service temporarily unavailable' },
  3: { http: 500, title: 'Application does not have the capability to make this API call' },
  4: { http: 400, title: 'Application request limit reached' },
  10: { http: 403, title: 'Application does not have permission for this action' },
  33: { http: 400, title: 'Parameter value is not valid' },
  100: { http: 400, title: 'Invalid parameter' },
  190: { http: 401, title: 'Invalid OAuth access token - Cannot parse access token' },
  200: { http: 403, title: 'Permissions error' },
  368: { http: 403, title: 'Temporarily blocked for policies violations' },
  2200: { http: 400, title: 'Callback verification failed' },
  80007: { http: 400, title: 'Rate limit issues' },
  130429: { http: 429, title: 'Rate limit hit', details: 'Cloud API message throughput has been reached.' },
  130472: { http: 400, title: "User's number is part of an experiment" },
  130497: { http: 403, title: 'Business account is restricted from messaging users in this country' },
  131000: { http: 500, title: 'Something went wrong', details: 'Message failed to send due to an unknown error.' },
  131005: { http: 403, title: 'Access denied' },
  131008: { http: 400, title: 'Required parameter is missing' },
  131009: { http: 400, title: 'Parameter value is not valid' },
  131016: { http: 500, title: 'Service unavailable' },
  131021: { http: 400, title: 'Recipient cannot be sender' },
  131026: { http: 400, title: 'Message undeliverable', details: 'Message undeliverable.' },
  131030: { http: 400, title: 'Recipient phone number not in allowed list' },
  131031: { http: 403, title: 'Business Account locked', details: 'Business Account has been locked.' },
  131037: { http: 400, title: 'Display name approval needed' },
  131042: { http: 400, title: 'Business eligibility payment issue' },
  131045: { http: 500, title: 'Incorrect certificate' },
  131047: {
    http: 400,
    title: 'Re-engagement message',
    details:
      'Message failed to send because more than 24 hours have passed since the customer last replied to this number.',
  },
  131048: { http: 400, title: 'Spam rate limit hit' },
  131049: { http: 400, title: 'This message was not delivered to maintain healthy ecosystem engagement.' },
  131050: { http: 400, title: 'User has stopped marketing messages' },
  131051: { http: 400, title: 'Unsupported message type' },
  131052: { http: 400, title: 'Media download error' },
  131053: { http: 400, title: 'Media upload error' },
  131056: { http: 400, title: '(Business Account, Consumer Account) pair rate limit hit' },
  131057: { http: 500, title: 'Account in maintenance mode' },
  131062: { http: 400, title: 'Business-scoped user ids are not supported for this message' },
  132000: { http: 400, title: 'Number of parameters does not match the expected number of params' },
  132001: { http: 404, title: 'Template name does not exist in the translation' },
  132005: { http: 400, title: 'Translated text too long' },
  132007: { http: 400, title: 'Template format character policy violated' },
  132012: { http: 400, title: 'Parameter format does not match format in the created template' },
  132015: { http: 400, title: 'Template is paused' },
  132016: { http: 400, title: 'Template is disabled' },
  132018: { http: 400, title: "There's an issue with the parameters in your template" },
  132068: { http: 400, title: 'Flow is blocked' },
  132069: { http: 400, title: 'Flow is throttled' },
  133000: { http: 500, title: 'Incomplete deregistration' },
  133004: { http: 503, title: 'Server temporarily unavailable' },
  133005: { http: 400, title: 'Two step verification PIN Mismatch' },
  133006: { http: 400, title: 'Phone number re-verification needed' },
  133009: { http: 400, title: 'Two step verification PIN Guessed Too Fast' },
  133010: { http: 400, title: 'Account not registered' },
  133015: { http: 400, title: 'Please wait a few minutes before attempting to register this phone number' },
  133016: { http: 400, title: 'Account register deregister rate limit exceeded' },
  134011: { http: 400, title: 'Payments terms of service has not been accepted' },
  135000: { http: 400, title: 'Generic user error' },
  2593107: { http: 400, title: 'Synchronization request limit exceeded' },
  2593108: { http: 400, title: 'Synchronization request made outside of allowed time window' },
}

interface ErrorOptions {
  details?: string
  message?: string
  subcode?: number
  type?: string
  /** Explanation for the people who use an app. */
  forPeople?: { title: string; text: string }
}

/** Error in the platform's format; `body` is the response body. */
export class GraphError extends Error {
  readonly httpStatus: number
  readonly code: number
  readonly body: object

  constructor(code: number, options: ErrorOptions = {}) {
    const known = knownErrors[code] ?? { http: 400, title: 'Unknown error' }
    const message = options.message ?? `(#${code}) ${known.title}`
    super(message)
    this.code = code
    this.httpStatus = known.http
    const details = options.details ?? known.details
    this.body = {
      error: {
        message,
        type: options.type ?? 'OAuthException',
        code,
        ...(options.subcode === undefined ? {} : { error_subcode: options.subcode }),
        ...(options.forPeople === undefined
          ? {}
          : { error_user_title: options.forPeople.title, error_user_msg: options.forPeople.text }),
        ...(details === undefined ? {} : { error_data: { messaging_product: 'whatsapp', details } }),
        fbtrace_id: `A${randomBytes(16).toString('base64url')}`,
      },
    }
  }
}

export const invalidParameter = (message: string): GraphError => new GraphError(100, { message: `(#100) ${message}` })
export const missingParameter = (details: string): GraphError => new GraphError(131008, { details })

export const unknownObject = (id: string): GraphError =>
  new GraphError(100, {
    subcode: 33,
    type: 'GraphMethodException',
    message:
      `Unsupported request. Object with ID '${id}' does not exist, cannot be loaded due to missing permissions, ` +
      'or does not support this operation. Please read the Graph API documentation at ' +
      'https://developers.facebook.com/docs/graph-api',
  })

export const revokedToken = (): GraphError =>
  new GraphError(190, { subcode: 460, message: 'Error validating access token: The session has been invalidated.' })

export const expiredToken = (now: Date): GraphError =>
  new GraphError(190, {
    subcode: 463,
    message: `Error validating access token: Session has expired. The current time is ${now.toUTCString()}.`,
  })

/** Returns an entry of `errors` in a failed status. */
export function statusError(code: number): object {
  const known: KnownError = knownErrors[code] ?? { http: 400, title: 'Unknown error' }
  return {
    code,
    title: known.title,
    message: known.title,
    error_data: { details: known.details ?? known.title },
    href: 'https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes/',
  }
}

export type Body = Record<string, unknown>

export const isObject = (value: unknown): value is Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
