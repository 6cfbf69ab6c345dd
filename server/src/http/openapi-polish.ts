import type { Answer, MediaType, OpenApiDocument, Operation, Schema } from './openapi-types.ts'

const errorSchema: Schema = {
  type: 'object',
  title: 'Error',
  description: 'The one shape of every error.',
  required: ['statusCode', 'statusMessage'],
  properties: {
    statusCode: { type: 'integer', description: 'The HTTP status.', examples: [400] },
    statusMessage: { type: 'string', description: 'What went wrong, for people.', examples: ['Validation failed'] },
    data: { type: 'object', description: 'What a program may need: `issues`, `code`, `field` or `requestId`.' },
  },
}
const requestId = {
  description: 'Names this request in the logs. Quote it when reporting a problem.',
  schema: { type: 'string', maxLength: 64 },
}

/**
 * Makes the generated document one to read: titled schemas become components, errors share one, every answer shows
 * its `x-request-id`, every operation has an id. Throws when two different schemas have one title.
 */
export function polish(document: OpenApiDocument): OpenApiDocument {
  const schemas = new Map<string, Schema>([['Error', errorSchema]])
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      item[method] = polishOperation(operation, `${method}${path}`, schemas)
    }
  }
  document.components.schemas = Object.fromEntries([...schemas].sort(([a], [b]) => (a < b ? -1 : 1)))
  document.components.headers = { RequestId: requestId }
  return document
}

function polishOperation(operation: Operation, place: string, schemas: Map<string, Schema>): Operation {
  const { 'x-postman': _, 'x-query-patterns': patterns, operationId, ...rest } = operation
  const parameters = (rest.parameters ?? []).map((parameter) => ({
    ...parameter,
    ...(parameter.schema ? { schema: refer(parameter.schema, schemas) } : {}),
  }))
  if (patterns !== undefined) {
    const schema = refer({ type: 'object', patternProperties: patterns, additionalProperties: false }, schemas)
    parameters.push({ name: 'custom', in: 'query', required: false, style: 'form', explode: true, schema })
  }
  const body = rest.requestBody
  return {
    operationId: operationId ?? nameOf(place),
    ...rest,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: { ...body, content: polishContent(body.content, schemas) } } : {}),
    responses: Object.fromEntries(
      Object.entries(rest.responses).map(([status, answer]) => [status, polishAnswer(answer, schemas)]),
    ),
  }
}

/** `post/api/v1/leads/{identifier}/restore` reads `postLeadsByIdentifierRestore`. */
function nameOf(place: string): string {
  return place
    .replace('/api/v1/', '/')
    .replace('/api/team/v1/', '/team/')
    .replaceAll('{', 'by-')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
    .map((word, index) => (index === 0 ? word : word[0]?.toUpperCase() + word.slice(1)))
    .join('')
}

function polishAnswer(answer: Answer, schemas: Map<string, Schema>): Answer {
  const headers = { 'x-request-id': { $ref: '#/components/headers/RequestId' }, ...answer.headers }
  const { content, ...rest } = answer
  return { ...rest, headers, ...(content ? { content: polishContent(content, schemas) } : {}) }
}

function polishContent(content: Record<string, MediaType>, schemas: Map<string, Schema>): Record<string, MediaType> {
  return Object.fromEntries(
    Object.entries(content).map(([type, media]) => {
      if (media.schema === undefined) return [type, media]
      const example = exampleOfError(media.schema)
      return [type, example ? asError(example) : { ...media, schema: refer(media.schema, schemas) }]
    }),
  )
}

function asError(example: object): MediaType {
  return { schema: { $ref: '#/components/schemas/Error' }, example }
}

/** The example of a schema that says no more than "an error"; nothing for any other schema. */
function exampleOfError(schema: Schema): object | undefined {
  const properties = (schema.properties ?? {}) as Record<string, Schema>
  const { statusCode, statusMessage, data, ...others } = properties
  if (!statusCode || !statusMessage || Object.keys(others).length > 0 || data?.properties) return undefined
  const example = { statusCode: statusCode.example, statusMessage: statusMessage.example }
  return data?.example === undefined ? example : { ...example, data: data.example }
}

const listKeywords = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])
const mapKeywords = new Set(['properties', 'patternProperties', '$defs'])
const schemaKeywords = new Set(['items', 'additionalProperties', 'not', 'propertyNames', 'contains'])

function refer(schema: Schema, schemas: Map<string, Schema>): Schema {
  const result: Schema = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'example') result.examples = [value]
    else if (listKeywords.has(keyword)) result[keyword] = (value as Schema[]).map((each) => refer(each, schemas))
    else if (mapKeywords.has(keyword)) result[keyword] = referEach(value as Record<string, Schema>, schemas)
    else if (schemaKeywords.has(keyword) && typeof value === 'object') result[keyword] = refer(value as Schema, schemas)
    else result[keyword] = value
  }
  return typeof schema.title === 'string' ? referTo(schema.title, result, schemas) : result
}

function referEach(properties: Record<string, Schema>, schemas: Map<string, Schema>): Record<string, Schema> {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, refer(schema, schemas)]))
}

function referTo(title: string, schema: Schema, schemas: Map<string, Schema>): Schema {
  const name = title.replaceAll(/[^A-Za-z0-9]+/g, '')
  const known = schemas.get(name)
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
    throw new Error(`Two different schemas have the title ${title}: give one of them another`)
  }
  schemas.set(name, schema)
  return { $ref: `#/components/schemas/${name}` }
}
