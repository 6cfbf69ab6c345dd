import { listOperations } from './openapi.ts'
import type { Operation, Parameter, RouteDocument, Schema } from './openapi-shared.ts'
import { type HintsByOperation, notInCollection, type PostmanHints, postmanHints } from './postman-hints.ts'

export interface PostmanItem {
  name: string
  event: { listen: 'test'; script: { type: 'text/javascript'; exec: string[] } }[]
  request: {
    method: string
    description?: string
    auth?: PostmanAuth
    header: { key: string; value: string }[]
    url: { raw: string; host: string[]; path: string[]; query: PostmanQuery[]; variable: PostmanVariable[] }
    body?: { mode: 'raw'; raw: string; options: { raw: { language: 'json' | 'text' } } }
  }
}

type PostmanAuth = { type: 'noauth' } | { type: 'bearer'; bearer: { key: 'token'; value: string; type: 'string' }[] }
type PostmanVariable = { key: string; value: string; description?: string }
type PostmanQuery = PostmanVariable & { disabled?: true }

export interface PostmanCollection {
  info: { name: string; description: string; schema: string }
  auth: PostmanAuth
  variable: PostmanVariable[]
  item: { name: string; description?: string; item: PostmanItem[] }[]
}

const guide = `Set \`api_key\`, and \`team_token\` to an owner's token for the workspace of that key. Then run the requests
from top to bottom, as often as you like. They change and delete only resources that they create, and one conversation of
the official channel with an open window: they take it over and write to its customer. Use a test workspace, or set
\`conversation_id\` and \`connection_id\`. With several workspaces, set \`workspace_id\` too.`

/** Builds a Postman v2.1 collection with a folder per tag; with keys set, it succeeds from top to bottom. */
export function postmanCollection(
  document: RouteDocument,
  baseUrl: string,
  hints: HintsByOperation = postmanHints,
): PostmanCollection {
  const entries = [...listOperations(document)]
    .filter(({ operation }) => !notInCollection.has(operation.operationId ?? ''))
    .map((one) => entryOf(one, hintsOf(hints, one.operation)))
    .toSorted((a, b) => a.order - b.order)
  const folders = (document.tags ?? []).map(({ name, description }): Folder => {
    const folderEntries = sortByDependencies(entries.filter((entry) => entry.tag === name))
    const fills = folderEntries.flatMap((entry) => entry.fills)
    const needs = folderEntries.flatMap((entry) => entry.needs).filter((need) => !fills.includes(need))
    return { fills, needs, folder: { name, description, item: folderEntries.map(({ item }) => item) } }
  })
  return {
    info: {
      name: document.info.title,
      description: guide,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: bearer('api_key'),
    variable: [
      { key: 'base_url', value: baseUrl },
      { key: 'api_key', value: '' },
      { key: 'team_token', value: '' },
      ...variablesOf([...listOperations(document)].map(({ operation }) => hintsOf(hints, operation))),
    ],
    item: sortByDependencies(folders)
      .map(({ folder }) => folder)
      .filter((folder) => folder.item.length > 0),
  }
}

const hintsOf = (hints: HintsByOperation, { operationId = '' }: Operation): PostmanHints => hints[operationId] ?? {}

function variablesOf(hints: readonly PostmanHints[]): PostmanVariable[] {
  const named = (records: (Record<string, string> | undefined)[], description: string) =>
    records.flatMap((record = {}) => Object.keys(record).map((key) => ({ key, value: '', description })))
  const all = [
    ...named(
      hints.map(({ finds }) => finds),
      'Found by an earlier request, unless you set it.',
    ),
    ...named(
      hints.map(({ saves }) => saves),
      'Filled by an earlier request.',
    ),
  ]
  return all.toSorted((a, b) => (a.key < b.key ? -1 : 1))
}

interface Dependent {
  /** Variables that it sets. */
  fills: string[]
  needs: string[]
}

interface Folder extends Dependent {
  folder: PostmanCollection['item'][number]
}

interface Entry extends Dependent {
  tag: string | undefined
  order: number
  item: PostmanItem
}

function entryOf(
  { path, method, operation }: { path: string; method: string; operation: Operation },
  hints: PostmanHints,
): Entry {
  const item = itemOf(path, method, operation, hints)
  const { order = method === 'delete' ? 100 : 0, saves = {}, finds = {} } = hints
  const needs = [...JSON.stringify(item.request).matchAll(/\{\{(\w+)\}\}/g)].map((match) => match[1] ?? '')
  return { tag: operation.tags?.[0], order, fills: [...Object.keys(saves), ...Object.keys(finds)], needs, item }
}

// Sorts each item after those that fill its variables; keeps the order otherwise.
function sortByDependencies<T extends Dependent>(all: readonly T[]): T[] {
  const remaining = [...all]
  const inOrder: T[] = []
  while (remaining.length > 0) {
    const missing = new Set(remaining.flatMap((each) => each.fills))
    const next = remaining.findIndex(
      ({ needs, fills }) => !needs.some((need) => missing.has(need) && !fills.includes(need)),
    )
    inOrder.push(...remaining.splice(Math.max(next, 0), 1))
  }
  return inOrder
}

function itemOf(path: string, method: string, operation: Operation, hints: PostmanHints): PostmanItem {
  const steps = path
    .slice(1)
    .replaceAll(/\{(\w+)\}/g, ':$1')
    .split('/')
  const body = hints.body ?? bodyOf(operation)
  const query = parametersIn(operation, 'query').map((parameter) => queryOf(parameter, hints.query ?? {}))
  for (const [key, value] of Object.entries(hints.query ?? {})) {
    if (!query.some((known) => known.key === key)) query.push({ key, value })
  }
  const sent = query.filter((each) => !each.disabled).map(({ key, value }) => `${key}=${value}`)
  return {
    name: operation.summary ?? `${method.toUpperCase()} ${path}`,
    event: [{ listen: 'test', script: { type: 'text/javascript', exec: scriptOf(hints) } }],
    request: {
      method: method.toUpperCase(),
      ...(operation.description === undefined ? {} : { description: operation.description }),
      ...authOf(operation),
      header: [...contentTypeOf(hints, body), ...headersOf(operation, hints.headers ?? {})],
      url: {
        raw: `{{base_url}}/${steps.join('/')}${sent.length > 0 ? `?${sent.join('&')}` : ''}`,
        host: ['{{base_url}}'],
        path: steps,
        query,
        variable: parametersIn(operation, 'path').map(({ name, description }) => ({
          key: name,
          value: hints.path?.[name] ?? `{{${snakeCase(name)}}}`,
          ...(description === undefined ? {} : { description }),
        })),
      },
      ...(hints.text === undefined ? {} : { body: asText(hints.text) }),
      ...(body === undefined || hints.text !== undefined ? {} : { body: asJson(body) }),
    },
  }
}

// A header that the route validates itself is optional in its schema, but requests without it fail.
function headersOf(operation: Operation, hinted: Record<string, string>): { key: string; value: string }[] {
  const known = new Set(Object.keys(hinted).map((name) => name.toLowerCase()))
  const others = parametersIn(operation, 'header').filter(
    ({ name, required }) => required && !known.has(name.toLowerCase()),
  )
  return [
    ...Object.entries(hinted).map(([key, value]) => ({ key, value })),
    ...others.map(({ name }) => ({ key: name, value: '{{$guid}}' })),
  ]
}

function parametersIn(operation: Operation, place: Parameter['in']): Parameter[] {
  return (operation.parameters ?? []).filter((parameter) => parameter.in === place)
}

// Optional parameters are listed as disabled: visible, but not sent.
function queryOf(
  { name, description, required, schema }: Parameter,
  hintedValues: Record<string, string>,
): PostmanQuery {
  const value = hintedValues[name] ?? String(schema?.example ?? schema?.default ?? '')
  const isDisabled = hintedValues[name] === undefined && !required
  return {
    key: name,
    value,
    ...(description === undefined ? {} : { description }),
    ...(isDisabled ? { disabled: true } : {}),
  }
}

function authOf({ security }: Operation): { auth?: PostmanAuth } {
  const [first] = security ?? [{ apiKey: [] }]
  if (first === undefined) return { auth: { type: 'noauth' } }
  return 'apiKey' in first ? {} : { auth: bearer('team_token') }
}

function bearer(variable: string): PostmanAuth {
  return { type: 'bearer', bearer: [{ key: 'token', value: `{{${variable}}}`, type: 'string' }] }
}

function asJson(body: unknown) {
  return { mode: 'raw', raw: JSON.stringify(body, null, 2), options: { raw: { language: 'json' } } } as const
}

function asText({ type, body }: { type: string; body: string }) {
  const language = type === 'application/json' ? 'json' : 'text'
  return { mode: 'raw', raw: body, options: { raw: { language } } } as const
}

function contentTypeOf({ text }: PostmanHints, body: unknown): { key: string; value: string }[] {
  const type = text?.type ?? (body === undefined ? undefined : 'application/json')
  return type === undefined ? [] : [{ key: 'Content-Type', value: type }]
}

function scriptOf({ saves = {}, finds = {} }: PostmanHints): string[] {
  const set = (variable: string, place: string) =>
    `pm.collectionVariables.set('${variable}', pm.response.json().${place})`
  return [
    "pm.test('succeeds', () => pm.response.to.be.success)",
    ...Object.entries(saves).map(([variable, place]) => set(variable, place)),
    ...Object.entries(finds).map(
      ([variable, place]) => `if (!pm.variables.get('${variable}')) ${set(variable, place)}`,
    ),
  ]
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** Builds a valid JSON body from the examples of the schema. */
function bodyOf(operation: Operation): unknown {
  const schema = operation.requestBody?.content['application/json']?.schema
  return schema === undefined ? undefined : exampleOf(schema)
}

function exampleOf(schema: Schema): unknown {
  if (schema.example !== undefined) return schema.example
  if (schema.default !== undefined) return schema.default
  if (Array.isArray(schema.enum)) return schema.enum[0]
  const [choice] = (schema.anyOf ?? schema.oneOf ?? []) as Schema[]
  if (choice !== undefined) return exampleOf(choice)
  switch ([schema.type].flat()[0]) {
    case 'object':
      return exampleOfObject(schema)
    case 'array':
      return Number(schema.minItems ?? 0) > 0 ? [exampleOf((schema.items ?? {}) as Schema)] : []
    case 'string':
      return schema.format === 'uuid' ? '{{$guid}}' : 'text'
    case 'integer':
    case 'number':
      return schema.minimum ?? 0
    case 'boolean':
      return true
    default:
      return null
  }
}

// Leaves out optional fields without an example: an invented value could be rejected.
function exampleOfObject(schema: Schema): object {
  const required = new Set((schema.required ?? []) as string[])
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>)
  const shown = properties.filter(([name, property]) => required.has(name) || property.example !== undefined)
  return Object.fromEntries(shown.map(([name, property]) => [name, exampleOf(property)]))
}
