import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify'
import { type Static, type TProperties, type TSchema, Type } from 'typebox'

/** The HTTP server as a room sees it: a place to put routes whose schemas type their handlers. */
export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

/** A field that null clears. Written as a type list, since `anyOf` would give three errors for one mistake. */
export function nullable<S extends TSchema>(schema: S) {
  const { type, ...rest } = schema as { type?: string; enum?: unknown[] }
  const nulled = { ...rest, type: [type, 'null'], ...(rest.enum === undefined ? {} : { enum: [...rest.enum, null] }) }
  return Type.Unsafe<Static<S> | null>(nulled)
}

/** An object that stands once in the OpenAPI document, under its title, however many routes take or answer it. */
export const titled = <P extends TProperties>(title: string, properties: P) => Type.Object(properties, { title })

export function oneOf<const V extends readonly string[]>(values: V, options: object = {}) {
  return Type.Unsafe<V[number]>({ type: 'string', enum: [...values], ...options })
}

/** Anything, since the handler judges it by itself; the OpenAPI document says what it should be. */
export const publishedAs = (schema: TSchema) => Type.Unsafe<unknown>({ 'x-published': schema })

export const timestamp = (description: string) =>
  Type.String({ format: 'date-time', maxLength: 40, description, example: '2026-03-01T12:00:00.000Z' })

/** Messages name fields, and where these stand in what was sent. */
export const maxMessageLength = 10_000

/** An error answer; in the OpenAPI document it stands once, under its title. */
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
  400: errorAnswer(
    'BadRequest',
    400,
    'The request does not fit: `data.issues` names each field.',
    'Validation failed',
    {
      issues: [{ path: 'firstName', message: 'is required' }],
    },
  ),
  401: errorAnswer(
    'Unauthorized',
    401,
    'The credential was rejected; the message names the reason.',
    'API key missing or not valid',
  ),
  403: errorAnswer(
    'Forbidden',
    403,
    'Not allowed for this workspace or member.',
    'The plan of this workspace does not include leads',
  ),
  404: errorAnswer('NotFound', 404, 'Nothing there that this caller may see.', 'Not found'),
  409: errorAnswer(
    'Conflict',
    409,
    'A value is taken: `data.field` names it.',
    'Lead with this externalRef already exists',
    {
      field: 'externalRef',
    },
  ),
  410: errorAnswer(
    'Gone',
    410,
    '`CURSOR_EXPIRED`: events behind the cursor are no longer kept.',
    'This cursor is too old',
    {
      code: 'CURSOR_EXPIRED',
    },
  ),
  413: errorAnswer('ContentTooLarge', 413, 'The body is over 1 MiB.', 'Body is larger than 1 MiB'),
  415: errorAnswer(
    'UnsupportedMediaType',
    415,
    'The body is not of a type that this route takes.',
    'Send the body as application/json',
  ),
  422: errorAnswer(
    'UnprocessableContent',
    422,
    'Understood, but it cannot be done so; the message says why.',
    'The file is empty',
  ),
  429: errorAnswer(
    'TooManyRequests',
    429,
    'Too many requests or the daily quota is used up; `Retry-After` says when.',
    'Rate limit reached',
    {
      code: 'RATE_LIMITED',
    },
  ),
  500: errorAnswer(
    'InternalError',
    500,
    'A fault of the service. Quote the `x-request-id` header when reporting it.',
    'Internal error',
  ),
  503: errorAnswer(
    'Unavailable',
    503,
    'Not available at the moment; `Retry-After` says when to try again.',
    'Try again shortly',
  ),
} as const

export type KnownStatus = keyof typeof known

/** The error answers of a route for its `schema.response`. */
export function errors<const S extends readonly KnownStatus[]>(...statuses: S): Pick<typeof known, S[number]> {
  const picked = Object.fromEntries(statuses.map((status) => [status, known[status]]))
  return picked as Pick<typeof known, S[number]>
}
