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
export function errorResponse(
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

const errorResponses = {
  400: errorResponse(
    'BadRequest',
    400,
    'The request is invalid: `data.issues` names each field.',
    'Validation failed',
    {
      issues: [{ path: 'firstName', message: 'is required' }],
    },
  ),
  401: errorResponse(
    'Unauthorized',
    401,
    'The credential was rejected; the message gives the reason.',
    'API key missing or not valid',
  ),
  403: errorResponse(
    'Forbidden',
    403,
    'Not allowed for this workspace or member.',
    'The plan of this workspace does not include leads',
  ),
  404: errorResponse('NotFound', 404, 'Not found, or not visible to this caller.', 'Not found'),
  409: errorResponse(
    'Conflict',
    409,
    'A value is already in use: `data.field` names it.',
    'Lead with this externalRef already exists',
    {
      field: 'externalRef',
    },
  ),
  410: errorResponse(
    'Gone',
    410,
    '`CURSOR_EXPIRED`: events after the cursor have been deleted.',
    'This cursor is too old',
    {
      code: 'CURSOR_EXPIRED',
    },
  ),
  413: errorResponse('ContentTooLarge', 413, 'The body exceeds 1 MiB.', 'Body is larger than 1 MiB'),
  415: errorResponse(
    'UnsupportedMediaType',
    415,
    'This route does not accept the content type of the body.',
    'Send the body as application/json',
  ),
  422: errorResponse(
    'UnprocessableContent',
    422,
    'The request is valid but cannot be processed; the message says why.',
    'The file is empty',
  ),
  429: errorResponse(
    'TooManyRequests',
    429,
    'The rate limit is reached or the daily quota is used up; `Retry-After` says when to retry.',
    'Rate limit reached',
    {
      code: 'RATE_LIMITED',
    },
  ),
  500: errorResponse(
    'InternalError',
    500,
    'Internal error. Include the `x-request-id` header when you report it.',
    'Internal error',
  ),
  503: errorResponse(
    'Unavailable',
    503,
    'Temporarily unavailable; `Retry-After` says when to retry.',
    'Try again shortly',
  ),
} as const

export type ErrorStatus = keyof typeof errorResponses

/** Returns the error responses for a route's `schema.response`. */
export function errors<const S extends readonly ErrorStatus[]>(...statuses: S): Pick<typeof errorResponses, S[number]> {
  const picked = Object.fromEntries(statuses.map((status) => [status, errorResponses[status]]))
  return picked as Pick<typeof errorResponses, S[number]>
}
