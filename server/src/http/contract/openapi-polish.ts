import { STATUS_CODES } from 'node:http'
import { errors } from '../../base/route.ts'
import { errorSchema, exampleOfError, isError } from './openapi-error.ts'
import { always, headerComponents, limits, whenToRetry } from './openapi-headers.ts'
import { shareParameters } from './openapi-parameters.ts'
import { type Place, publish } from './openapi-schemas.ts'
import { type Shared, shareAnswer } from './openapi-shared.ts'
import type {
  Answer,
  MediaType,
  OpenApiDocument,
  Operation,
  Parameter,
  PublishedOperation,
  Reference,
  RouteDocument,
  Schema,
} from './openapi-types.ts'

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
