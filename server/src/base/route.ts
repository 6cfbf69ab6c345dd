import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify'
import { type Static, type TProperties, type TSchema, Type } from 'typebox'

/** The HTTP server that modules register routes on; schemas type the handlers. */
export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

/** A field that null clears. A list of types, because `anyOf` reports three errors for one mistake. */
export function nullable<S extends TSchema>(schema: S) {
  const { type, ...rest } = schema as { type?: string; enum?: unknown[] }
  const nulled = { ...rest, type: [type, 'null'], ...(rest.enum === undefined ? {} : { enum: [...rest.enum, null] }) }
  return Type.Unsafe<Static<S> | null>(nulled)
}

/** An object that the OpenAPI document defines once, by its title, for all routes. */
export const titled = <P extends TProperties>(title: string, properties: P) => Type.Object(properties, { title })

export function oneOf<const V extends readonly string[]>(values: V, options: object = {}) {
  return Type.Unsafe<V[number]>({ type: 'string', enum: [...values], ...options })
}

/** Accepts any value, because the handler validates it; the OpenAPI document shows the schema. */
export const publishedAs = (schema: TSchema) => Type.Unsafe<unknown>({ 'x-published': schema })

export const timestamp = (description: string) =>
  Type.String({ format: 'date-time', maxLength: 40, description, example: '2026-03-01T12:00:00.000Z' })

/** Large, because messages can name many fields and their positions. */
export const maxMessageLength = 10_000

/** An error response, defined once in the OpenAPI document by its title. */
export function errorAnswer(
  title: string,
  statusCode: number,
  description: string,
  statusMessage: string,
  data?: object,
) {
  const properties = {
    statusCode: Type.Integer({ minimum: 400, maximum: 599, example: statusCode }),
    statusMessage: Type.String({ maxLength: maxMessageLength, example: statusMessage }),
    data: Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: 'object', ...(data ? { example: data } : {}) })),
  }
  return { ...Type.Object(properties, { title }), description }
}

const known = {
  400: errorAnswer('BadRequest', 400, 'The request is invalid: `data.issues` names each field.', 'Validation failed', {
    issues: [{ path: 'firstName', message: 'is required' }],
  }),
  401: errorAnswer(
    'Unauthorized',
    401,
    'The credential was rejected; the message gives the reason.',
    'API key missing or not valid',
  ),
  403: errorAnswer(
    'Forbidden',
    403,
    'Not allowed for this workspace or member.',
    'The plan of this workspace does not include leads',
  ),
  404: errorAnswer('NotFound', 404, 'Not found, or not visible to this caller.', 'Not found'),
  409: errorAnswer(
    'Conflict',
    409,
    'A value is already in use: `data.field` names it.',
    'Lead with this externalRef already exists',
    {
      field: 'externalRef',
    },
  ),
  410: errorAnswer(
    'Gone',
    410,
    '`CURSOR_EXPIRED`: events after the cursor have been deleted.',
    'This cursor is too old',
    {
      code: 'CURSOR_EXPIRED',
    },
  ),
  413: errorAnswer('ContentTooLarge', 413, 'The body exceeds 1 MiB.', 'Body is larger than 1 MiB'),
  415: errorAnswer(
    'UnsupportedMediaType',
    415,
    'This route does not accept the content type of the body.',
    'Send the body as application/json',
  ),
  422: errorAnswer(
    'UnprocessableContent',
    422,
    'The request is valid but cannot be processed; the message says why.',
    'The file is empty',
  ),
  429: errorAnswer(
    'TooManyRequests',
    429,
    'The rate limit is reached or the daily quota is used up; `Retry-After` says when to retry.',
    'Rate limit reached',
    {
      code: 'RATE_LIMITED',
    },
  ),
  500: errorAnswer(
    'InternalError',
    500,
    'Internal error. Include the `x-request-id` header when you report it.',
    'Internal error',
  ),
  503: errorAnswer(
    'Unavailable',
    503,
    'Temporarily unavailable; `Retry-After` says when to retry.',
    'Try again shortly',
  ),
} as const

export type KnownStatus = keyof typeof known

/** Returns the error responses for a route's `schema.response`. */
export function errors<const S extends readonly KnownStatus[]>(...statuses: S): Pick<typeof known, S[number]> {
  const picked = Object.fromEntries(statuses.map((status) => [status, known[status]]))
  return picked as Pick<typeof known, S[number]>
}
