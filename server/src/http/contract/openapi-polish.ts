import { STATUS_CODES } from 'node:http'
import { errors } from '../../base/route.ts'
import { requestIdHeader } from '../server/answer-headers.ts'
import {
  type Answer,
  type MediaType,
  type OpenApiDocument,
  type Operation,
  type Parameter,
  type PublishedOperation,
  type Reference,
  type RouteDocument,
  type Schema,
  type Shared,
  shareAnswer,
  shareParameters,
  shareSchema,
} from './openapi-shared.ts'

const listKeywords = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])
const mapKeywords = new Set(['properties', 'patternProperties', '$defs'])
const schemaKeywords = new Set(['items', 'additionalProperties', 'not', 'propertyNames', 'contains'])

interface Place {
  shared: Shared
  /** An answer leaves nothing out because it has a default; a request may. */
  part: 'request' | 'answer'
}

/** A schema as it is published: `examples` as the standard spells it, errors and titled ones by reference. */
function publish(schema: Schema, place: Place): Schema {
  if (schema['x-published'] !== undefined) return publish(schema['x-published'] as Schema, place)
  if (isError(schema)) return { $ref: '#/components/schemas/Error' }
  const result: Schema = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'example') result.examples = [value]
    else if (listKeywords.has(keyword)) result[keyword] = (value as Schema[]).map((each) => publish(each, place))
    else if (mapKeywords.has(keyword)) result[keyword] = publishEach(value as Record<string, Schema>, place)
    else if (schemaKeywords.has(keyword) && typeof value === 'object') result[keyword] = publish(value as Schema, place)
    else result[keyword] = value
  }
  const whole = withoutDefaults(nameChoices(result, place.shared), place.part)
  return typeof whole.title === 'string' ? shareSchema(place.shared, { ...whole, title: whole.title }) : whole
}

function publishEach(properties: Record<string, Schema>, place: Place): Record<string, Schema> {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, publish(schema, place)]))
}

// A field with a default need not be sent. Generators make it a required part of their types, so words say it instead.
function withoutDefaults(schema: Schema, part: Place['part']): Schema {
  const properties = (schema.properties ?? {}) as Record<string, Schema>
  const names = Object.keys(properties).filter((name) => properties[name]?.default !== undefined)
  if (names.length === 0) return schema
  const said = Object.entries(properties).map(([name, property]) => [name, sayDefault(property, part)])
  const required = (schema.required ?? []) as string[]
  const needed = part === 'request' ? required.filter((name) => !names.includes(name)) : required
  return { ...schema, properties: Object.fromEntries(said), required: needed }
}

function sayDefault({ default: value, ...property }: Schema, part: Place['part']): Schema {
  if (value === undefined || part === 'answer') return property
  const words = `Default: \`${JSON.stringify(value)}\`.`
  return { ...property, description: property.description === undefined ? words : `${property.description} ${words}` }
}

// Names are not those of the values that choose, so that a discriminator has to tell which is which.
function nameChoices(schema: Schema, shared: Shared): Schema {
  const { discriminator, oneOf } = schema as { discriminator?: { propertyName: string }; oneOf?: Schema[] }
  if (discriminator === undefined || oneOf === undefined) return schema
  const mapping = oneOf.map(({ $ref }) => {
    const choice = shared.schemas.get(String($ref).split('/').at(-1) ?? '')
    const properties = (choice?.properties ?? {}) as Record<string, { const?: unknown; enum?: unknown[] }>
    const { const: value, enum: values } = properties[discriminator.propertyName] ?? {}
    return [value ?? values?.[0], $ref]
  })
  return { ...schema, discriminator: { ...discriminator, mapping: Object.fromEntries(mapping) } }
}

/**
 * Makes the generated document one to read: titled schemas and answers are written once, answers show their headers,
 * and what can go wrong on any route is said of every route.
 */
export function polish({ paths, ...document }: RouteDocument): OpenApiDocument {
  const shared: Shared = { schemas: new Map([['Error', errorSchema]]), answers: new Map() }
  const polished = mapOperations(paths, (operation) => polishOperation(operation, shared))
  const { operations, parameters } = shareParameters(polished)
  const components = {
    ...document.components,
    schemas: inOrder(shared.schemas),
    responses: inOrder(shared.answers),
    parameters,
    headers: headerComponents,
  }
  return { ...document, paths: operations, components }
}

type Paths<O> = Record<string, Record<string, O>>

const mapOperations = <A, B>(paths: Paths<A>, change: (operation: A) => B): Paths<B> =>
  mapValues(paths, (item) => mapValues(item, change))

const mapValues = <A, B>(record: Record<string, A>, change: (value: A, key: string) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]))

const inOrder = <V>(map: Map<string, V>): Record<string, V> =>
  Object.fromEntries([...map].sort(([a], [b]) => (a < b ? -1 : 1)))

function polishOperation(operation: Operation, shared: Shared): PublishedOperation {
  const { 'x-query-patterns': patterns, parameters = [], requestBody, responses, ...rest } = operation
  const request: Place = { shared, part: 'request' }
  const published = [...parameters.map((one) => polishParameter(one, request)), ...custom(patterns, request)]
  const isLimited = operation.security?.some((way) => 'apiKey' in way) ?? false
  return {
    ...rest,
    ...(published.length > 0 ? { parameters: published } : {}),
    ...(requestBody ? { requestBody: { ...requestBody, content: polishContent(requestBody.content, request) } } : {}),
    responses: mapValues(withCommonErrors(operation), (answer, status) =>
      polishAnswer(answer, Number(status), isLimited, { shared, part: 'answer' }),
    ),
  }
}

// What has a default need not be sent.
function polishParameter(parameter: Parameter, place: Place): Parameter {
  if (parameter.schema === undefined) return parameter
  const isOptional = parameter.schema.default !== undefined
  return { ...parameter, ...(isOptional ? { required: false } : {}), schema: publish(parameter.schema, place) }
}

function custom(patterns: Record<string, Schema> | undefined, place: Place): Parameter[] {
  if (patterns === undefined) return []
  const schema = publish({ type: 'object', patternProperties: patterns, additionalProperties: false }, place)
  return [{ name: 'custom', in: 'query', required: false, style: 'form', explode: true, schema }]
}

// Whatever asks the database can meet a fault, and a database that is away; what asks after the service's health says
// so itself.
function withCommonErrors({ tags = [], responses }: Operation): Record<string, Answer> {
  if (tags.includes('Service')) return responses
  const common = Object.entries(errors(500, 503)).map(([status, schema]): [string, Answer] => [
    status,
    { description: schema.description, content: { 'application/json': { schema: { ...schema } } } },
  ])
  return { ...Object.fromEntries(common), ...responses }
}

function polishAnswer(answer: Answer, status: number, isLimited: boolean, place: Place): Answer | Reference {
  const headers = {
    ...always,
    ...(status === 429 || status === 503 ? whenToRetry : {}),
    ...(status === 429 || (isLimited && status < 300) ? limits : {}),
    ...answer.headers,
  }
  const { content, ...rest } = { ...answer, description: describe(answer, status) }
  if (content === undefined) return { ...rest, headers }
  const polished = { ...rest, headers, content: polishContent(content, place) }
  const name = nameOfError(content)
  return name === undefined ? polished : shareAnswer(place.shared, name, polished)
}

// The generator's word for an answer that its schema does not describe.
const describe = ({ description }: Answer, status: number): string =>
  description === 'Default Response' ? (STATUS_CODES[status] ?? description) : description

function nameOfError(content: Record<string, MediaType>): string | undefined {
  const { schema } = content['application/json'] ?? {}
  if (schema === undefined || !isError(schema) || typeof schema.title !== 'string') return undefined
  return 'text/html' in content ? `${schema.title}OrPage` : schema.title
}

function polishContent(content: Record<string, MediaType>, place: Place): Record<string, MediaType> {
  return mapValues(content, (media) => {
    if (media.schema === undefined) return media
    const example = isError(media.schema) ? { example: exampleOfError(media.schema) } : {}
    return { ...media, schema: publish(media.schema, place), ...example }
  })
}

const count = (description: string, example: number) => ({
  description,
  schema: { type: 'integer', minimum: 0, maximum: 9_007_199_254_740_991, examples: [example] },
})

/** The headers of answers, as `components` has them. */
const headerComponents = {
  RequestId: {
    description: 'Names this request in the logs. Quote it when reporting a problem.',
    schema: { type: 'string', maxLength: 64 },
  },
  RetryAfter: count('Seconds to wait before the next try.', 12),
  RateLimitLimit: count(
    'Requests that the limit allows a minute. Absent, as all of these, when it is turned off.',
    3000,
  ),
  RateLimitRemaining: count('Requests left of them.', 2999),
  RateLimitReset: count('Seconds until all of them are there again.', 60),
  RateLimitPolicy: {
    description: 'The limit and its window in seconds.',
    schema: { type: 'string', maxLength: 64, examples: ['3000;w=60'] },
  },
}

const refer = (name: keyof typeof headerComponents) => ({ $ref: `#/components/headers/${name}` })

const always = { [requestIdHeader]: refer('RequestId') }
const whenToRetry = { 'Retry-After': refer('RetryAfter') }
const limits = {
  'RateLimit-Limit': refer('RateLimitLimit'),
  'RateLimit-Remaining': refer('RateLimitRemaining'),
  'RateLimit-Reset': refer('RateLimitReset'),
  'RateLimit-Policy': refer('RateLimitPolicy'),
}

const errorSchema: Schema = {
  type: 'object',
  title: 'Error',
  description: 'The one shape of every error.',
  required: ['statusCode', 'statusMessage'],
  properties: {
    statusCode: { type: 'integer', description: 'The HTTP status.', examples: [400] },
    statusMessage: { type: 'string', description: 'What went wrong, for people.', examples: ['Validation failed'] },
    data: {
      type: 'object',
      description: 'What a program may need: `issues`, `code`, `field` or `requestId`.',
      properties: {
        code: { type: 'string', description: 'To branch on.', examples: ['RATE_LIMITED'] },
        field: { type: 'string', description: 'The field whose value is taken.', examples: ['externalRef'] },
        requestId: { type: 'string', description: 'As in `x-request-id`: quote it when reporting a fault.' },
        issues: {
          type: 'array',
          description: 'What does not fit, at most 20.',
          items: {
            type: 'object',
            required: ['path', 'message'],
            properties: {
              path: {
                type: 'string',
                description: 'The field; empty for the whole.',
                examples: ['items[3].lead.email'],
              },
              message: { type: 'string', description: 'What to change.', examples: ['is required'] },
            },
          },
        },
      },
      additionalProperties: true,
    },
  },
}

/** Whether a schema says no more than "an error". */
function isError({ properties = {} }: { properties?: unknown }): boolean {
  const { statusCode, statusMessage, data, ...others } = properties as Record<string, Schema>
  return Boolean(statusCode && statusMessage && Object.keys(others).length === 0 && !data?.properties)
}

/** The example of one, of the examples of its parts. */
function exampleOfError({ properties = {} }: { properties?: unknown }): object {
  const { statusCode, statusMessage, data } = properties as Record<string, Schema>
  const example = { statusCode: statusCode?.example, statusMessage: statusMessage?.example }
  return data?.example === undefined ? example : { ...example, data: data.example }
}
