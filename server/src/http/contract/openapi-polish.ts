import { STATUS_CODES } from 'node:http'
import { errors } from '../../base/route.ts'
import { requestIdHeader } from '../server/response-headers.ts'
import {
  type ApiResponse,
  type MediaType,
  mapOperations,
  mapValues,
  type OpenApiDocument,
  type Operation,
  type Parameter,
  type PublishedOperation,
  type Reference,
  type RouteDocument,
  type Schema,
  type Shared,
  shareParameters,
  shareResponse,
  shareSchema,
  sortByName,
} from './openapi-shared.ts'

const listKeywords = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])
const mapKeywords = new Set(['properties', 'patternProperties', '$defs'])
const schemaKeywords = new Set(['items', 'additionalProperties', 'not', 'propertyNames', 'contains'])

interface PublishContext {
  shared: Shared
  /** In a response, fields with a default are always present; a request may omit them. */
  part: 'request' | 'answer'
}

/** Returns a schema for publication: `example` becomes `examples`, and errors and titled schemas become references. */
function publish(schema: Schema, context: PublishContext): Schema {
  if (schema['x-published'] !== undefined) return publish(schema['x-published'] as Schema, context)
  if (isError(schema)) return { $ref: '#/components/schemas/Error' }
  const result: Schema = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'example') result.examples = [value]
    else if (listKeywords.has(keyword)) result[keyword] = (value as Schema[]).map((each) => publish(each, context))
    else if (mapKeywords.has(keyword))
      result[keyword] = mapValues(value as Record<string, Schema>, (each) => publish(each, context))
    else if (schemaKeywords.has(keyword) && typeof value === 'object')
      result[keyword] = publish(value as Schema, context)
    else result[keyword] = value
  }
  const whole = withoutDefaults(addDiscriminatorMapping(result, context.shared), context.part)
  return typeof whole.title === 'string' ? shareSchema(context.shared, { ...whole, title: whole.title }) : whole
}

// Fields with a default are optional in requests. Code generators make them required, so the description says it
// instead.
function withoutDefaults(schema: Schema, part: PublishContext['part']): Schema {
  const properties = (schema.properties ?? {}) as Record<string, Schema>
  const names = Object.keys(properties).filter((name) => properties[name]?.default !== undefined)
  if (names.length === 0) return schema
  const described = Object.entries(properties).map(([name, property]) => [name, describeDefault(property, part)])
  const required = (schema.required ?? []) as string[]
  const needed = part === 'request' ? required.filter((name) => !names.includes(name)) : required
  return { ...schema, properties: Object.fromEntries(described), required: needed }
}

function describeDefault({ default: value, ...property }: Schema, part: PublishContext['part']): Schema {
  if (value === undefined || part === 'answer') return property
  const words = `Default: \`${JSON.stringify(value)}\`.`
  return { ...property, description: property.description === undefined ? words : `${property.description} ${words}` }
}

// Schema names differ from the values of the property, so the discriminator needs a mapping.
function addDiscriminatorMapping(schema: Schema, shared: Shared): Schema {
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
 * Polishes the generated document: shares titled schemas and responses, adds headers to responses, and adds the errors
 * that are possible on every route.
 */
export function polishDocument({ paths, ...document }: RouteDocument): OpenApiDocument {
  const shared: Shared = { schemas: new Map([['Error', errorSchema]]), sharedResponses: new Map() }
  const polished = mapOperations(paths, (operation) => polishOperation(operation, shared))
  const { operations, parameters } = shareParameters(polished)
  const components = {
    ...document.components,
    schemas: sortByName(shared.schemas),
    responses: sortByName(shared.sharedResponses),
    parameters,
    headers: headerComponents,
  }
  return { ...document, paths: operations, components }
}

function polishOperation(operation: Operation, shared: Shared): PublishedOperation {
  const { 'x-query-patterns': patterns, parameters = [], requestBody, responses, ...rest } = operation
  const request: PublishContext = { shared, part: 'request' }
  const published = [...parameters.map((one) => polishParameter(one, request)), ...customParameters(patterns, request)]
  const isLimited = operation.security?.some((scheme) => 'apiKey' in scheme) ?? false
  return {
    ...rest,
    ...(published.length > 0 ? { parameters: published } : {}),
    ...(requestBody ? { requestBody: { ...requestBody, content: polishContent(requestBody.content, request) } } : {}),
    responses: mapValues(withCommonErrors(operation), (answer, status) =>
      polishResponse(answer, Number(status), isLimited, { shared, part: 'answer' }),
    ),
  }
}

// Parameters with a default are optional.
function polishParameter(parameter: Parameter, context: PublishContext): Parameter {
  if (parameter.schema === undefined) return parameter
  const isOptional = parameter.schema.default !== undefined
  return { ...parameter, ...(isOptional ? { required: false } : {}), schema: publish(parameter.schema, context) }
}

function customParameters(patterns: Record<string, Schema> | undefined, context: PublishContext): Parameter[] {
  if (patterns === undefined) return []
  const schema = publish({ type: 'object', patternProperties: patterns, additionalProperties: false }, context)
  return [{ name: 'custom', in: 'query', required: false, style: 'form', explode: true, schema }]
}

// All routes that use the database can fail or find it unavailable; the health routes declare their own errors.
function withCommonErrors({ tags = [], responses }: Operation): Record<string, ApiResponse> {
  if (tags.includes('Service')) return responses
  const common = Object.entries(errors(500, 503)).map(([status, schema]): [string, ApiResponse] => [
    status,
    { description: schema.description, content: { 'application/json': { schema: { ...schema } } } },
  ])
  return { ...Object.fromEntries(common), ...responses }
}

function polishResponse(
  answer: ApiResponse,
  status: number,
  isLimited: boolean,
  context: PublishContext,
): ApiResponse | Reference {
  const headers = {
    ...commonHeaders,
    ...(status === 429 || status === 503 ? retryHeaders : {}),
    ...(status === 429 || (isLimited && status < 300) ? rateLimitHeaders : {}),
    ...answer.headers,
  }
  const { content, ...rest } = { ...answer, description: describe(answer, status) }
  if (content === undefined) return { ...rest, headers }
  const polished = { ...rest, headers, content: polishContent(content, context) }
  const name = nameOfError(content)
  return name === undefined ? polished : shareResponse(context.shared, name, polished)
}

// The generator's text for a response without a description.
const describe = ({ description }: ApiResponse, status: number): string =>
  description === 'Default Response' ? (STATUS_CODES[status] ?? description) : description

function nameOfError(content: Record<string, MediaType>): string | undefined {
  const { schema } = content['application/json'] ?? {}
  if (schema === undefined || !isError(schema) || typeof schema.title !== 'string') return undefined
  return 'text/html' in content ? `${schema.title}OrPage` : schema.title
}

function polishContent(content: Record<string, MediaType>, context: PublishContext): Record<string, MediaType> {
  return mapValues(content, (media) => {
    if (media.schema === undefined) return media
    const example = isError(media.schema) ? { example: exampleOfError(media.schema) } : {}
    return { ...media, schema: publish(media.schema, context), ...example }
  })
}

const count = (description: string, example: number) => ({
  description,
  schema: { type: 'integer', minimum: 0, maximum: 9_007_199_254_740_991, examples: [example] },
})

const headerComponents = {
  RequestId: {
    description: 'Id of this request in the logs. Quote it when you report a problem.',
    schema: { type: 'string', maxLength: 64 },
  },
  RetryAfter: count('Seconds to wait before you retry.', 12),
  RateLimitLimit: count('Requests allowed per minute. All RateLimit headers are absent if the limit is off.', 3000),
  RateLimitRemaining: count('Requests left.', 2999),
  RateLimitReset: count('Seconds until the limit is fully restored.', 60),
  RateLimitPolicy: {
    description: 'The limit and its window in seconds.',
    schema: { type: 'string', maxLength: 64, examples: ['3000;w=60'] },
  },
}

const refer = (name: keyof typeof headerComponents) => ({ $ref: `#/components/headers/${name}` })

const commonHeaders = { [requestIdHeader]: refer('RequestId') }
const retryHeaders = { 'Retry-After': refer('RetryAfter') }
const rateLimitHeaders = {
  'RateLimit-Limit': refer('RateLimitLimit'),
  'RateLimit-Remaining': refer('RateLimitRemaining'),
  'RateLimit-Reset': refer('RateLimitReset'),
  'RateLimit-Policy': refer('RateLimitPolicy'),
}

const errorSchema: Schema = {
  type: 'object',
  title: 'Error',
  description: 'Shape of every error.',
  required: ['statusCode', 'statusMessage'],
  properties: {
    statusCode: { type: 'integer', description: 'HTTP status.', examples: [400] },
    statusMessage: { type: 'string', description: 'What went wrong, for people.', examples: ['Validation failed'] },
    data: {
      type: 'object',
      description: 'Details for programs: `issues`, `code`, `field` or `requestId`.',
      properties: {
        code: { type: 'string', description: 'Branch on this.', examples: ['RATE_LIMITED'] },
        field: { type: 'string', description: 'The field whose value exists already.', examples: ['externalRef'] },
        requestId: { type: 'string', description: 'Same as `x-request-id`: quote it when you report a problem.' },
        issues: {
          type: 'array',
          description: 'Validation errors, at most 20.',
          items: {
            type: 'object',
            required: ['path', 'message'],
            properties: {
              path: {
                type: 'string',
                description: 'Path of the field; empty: the whole body or query.',
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

/** Returns whether a schema is a plain error, without fields of its own. */
function isError({ properties = {} }: { properties?: unknown }): boolean {
  const { statusCode, statusMessage, data, ...others } = properties as Record<string, Schema>
  return Boolean(statusCode && statusMessage && Object.keys(others).length === 0 && !data?.properties)
}

/** Builds the example of an error from the examples of its fields. */
function exampleOfError({ properties = {} }: { properties?: unknown }): object {
  const { statusCode, statusMessage, data } = properties as Record<string, Schema>
  const example = { statusCode: statusCode?.example, statusMessage: statusMessage?.example }
  return data?.example === undefined ? example : { ...example, data: data.example }
}
