export type Schema = { [keyword: string]: unknown }

export interface Reference {
  $ref: string
}

export interface Parameter {
  name: string
  in: 'query' | 'path' | 'header' | 'cookie'
  required?: boolean
  description?: string
  style?: string
  explode?: boolean
  schema?: Schema
}

export interface MediaType {
  schema?: Schema
  example?: unknown
}

export interface ApiResponse {
  description: string
  headers?: Record<string, unknown>
  content?: Record<string, MediaType>
}

/** A route as the generator emits it, with everything inline. */
export interface Operation {
  operationId?: string
  tags?: string[]
  summary?: string
  description?: string
  parameters?: Parameter[]
  requestBody?: { required?: boolean; content: Record<string, MediaType> }
  security?: Record<string, string[]>[]
  responses: Record<string, ApiResponse>
  'x-query-patterns'?: Record<string, Schema>
}

/** A route for publication, with shared parts in `components`. */
export interface PublishedOperation extends Omit<Operation, 'parameters' | 'responses'> {
  parameters?: (Parameter | Reference)[]
  responses: Record<string, ApiResponse | Reference>
}

export interface Document<O> {
  openapi: string
  info: { title: string; version: string; description?: string }
  servers?: { url: string; description?: string }[]
  tags?: { name: string; description?: string }[]
  'x-tagGroups'?: { name: string; tags: string[] }[]
  paths: Record<string, Record<string, O>>
  components: Components
}

interface Components {
  schemas?: Record<string, Schema>
  responses?: Record<string, ApiResponse>
  parameters?: Record<string, Parameter>
  headers?: Record<string, unknown>
  securitySchemes?: object
}

export type RouteDocument = Document<Operation>
export type OpenApiDocument = Document<PublishedOperation>

/** Shared parts, by their names in `components`. */
export interface Shared {
  schemas: Map<string, Schema>
  sharedResponses: Map<string, ApiResponse>
}

/** Stores a response by name and returns a reference. Throws if a different response has the name. */
export function shareResponse(shared: Shared, name: string, answer: ApiResponse): Reference {
  const known = shared.sharedResponses.get(name) ?? answer
  if (!isSame(known, answer)) throw duplicateTitleError('answers', name)
  shared.sharedResponses.set(name, known)
  return { $ref: `#/components/responses/${name}` }
}

/**
 * Stores a titled schema by its title and returns a reference. Adds a description or examples that differ, and `null`
 * if allowed, next to the reference. Throws if a schema of another shape has the title.
 */
export function shareSchema(shared: Shared, schema: Schema & { title: string }): Schema {
  const { whole, isNullable } = withoutNull(schema)
  const name = schema.title.replaceAll(/[^A-Za-z0-9]+/g, '')
  const known = shared.schemas.get(name) ?? whole
  if (!isSame(withoutTexts(known), withoutTexts(whole))) throw duplicateTitleError('schemas', schema.title)
  shared.schemas.set(name, known)
  const reference = { $ref: `#/components/schemas/${name}` }
  return { ...(isNullable ? { anyOf: [reference, { type: 'null' }] } : reference), ...differingTexts(whole, known) }
}

const duplicateTitleError = (kind: string, name: string): Error =>
  new Error(`Two different ${kind} have the title ${name}: rename one of them`)

function withoutNull(schema: Schema): { whole: Schema; isNullable: boolean } {
  const types = [schema.type].flat()
  if (!types.includes('null') || types.length === 1) return { whole: schema, isNullable: false }
  const others = types.filter((type) => type !== 'null')
  const whole = { ...schema, type: others.length === 1 ? others[0] : others }
  const values = Array.isArray(schema.enum) ? { enum: schema.enum.filter((value) => value !== null) } : {}
  return { whole: { ...whole, ...values }, isNullable: true }
}

function withoutTexts({ description: _description, examples: _examples, ...shape }: Schema): Schema {
  return shape
}

function differingTexts(schema: Schema, known: Schema): Schema {
  const words = ['description', 'examples'].filter((word) => schema[word] !== undefined)
  const own = words.filter((word) => !isSame(schema[word], known[word]))
  return Object.fromEntries(own.map((word) => [word, schema[word]]))
}

function isSame(one: unknown, other: unknown): boolean {
  return (
    one === other ||
    JSON.stringify(one) === JSON.stringify(other) ||
    JSON.stringify(sortKeys(one)) === JSON.stringify(sortKeys(other))
  )
}

// The order of keywords has no meaning.
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, one]): [string, unknown] => [key, sortKeys(one)])
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

export type Paths<O> = Record<string, Record<string, O>>

export const mapOperations = <A, B>(paths: Paths<A>, change: (operation: A) => B): Paths<B> =>
  mapValues(paths, (item) => mapValues(item, change))

export const mapValues = <A, B>(record: Record<string, A>, change: (value: A, key: string) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]))

export const sortByName = <V>(map: Map<string, V>): Record<string, V> =>
  Object.fromEntries([...map].sort(([a], [b]) => (a < b ? -1 : 1)))

/** Moves path parameters that several operations have in common to `components`. */
export function shareParameters(paths: Paths<PublishedOperation>): {
  operations: Paths<PublishedOperation>
  parameters: Record<string, Parameter>
} {
  const uses = new Map<string, { parameter: Parameter; count: number }>()
  for (const parameter of Object.values(paths).flatMap(Object.values).flatMap(pathParameters)) {
    const use = uses.get(JSON.stringify(parameter)) ?? { parameter, count: 0 }
    uses.set(JSON.stringify(parameter), { parameter, count: use.count + 1 })
  }
  const shared = new Map<string, { text: string; parameter: Parameter }>()
  for (const [text, { parameter, count }] of [...uses].sort(([, a], [, b]) => b.count - a.count)) {
    const name = `${parameter.name[0]?.toUpperCase()}${parameter.name.slice(1)}`
    if (count > 1 && !shared.has(name)) shared.set(name, { text, parameter })
  }
  const names = new Map([...shared].map(([name, { text }]) => [text, name]))
  const refer = (parameter: Parameter | Reference) => {
    const name = names.get(JSON.stringify(parameter))
    return name === undefined ? parameter : { $ref: `#/components/parameters/${name}` }
  }
  const operations = mapOperations(paths, (operation) => {
    const { parameters: own } = operation
    return own === undefined ? operation : { ...operation, parameters: own.map(refer) }
  })
  return { operations, parameters: mapValues(sortByName(shared), ({ parameter }) => parameter) }
}

const pathParameters = ({ parameters = [] }: PublishedOperation): Parameter[] =>
  parameters.filter((one): one is Parameter => 'in' in one && one.in === 'path')
