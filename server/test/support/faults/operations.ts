import { basePath } from '../../../src/agents/http/routes.ts'
import type { Verb } from '../../../src/agents/verb.ts'
import { verbs } from '../../../src/agents/verbs/verbs.ts'
import type { App } from '../../../src/base/route.ts'
import { operationsOf, routesOf } from '../../../src/http/contract/openapi.ts'
import type { Schema } from '../../../src/http/contract/openapi-types.ts'

/** What can be asked, by whichever interface. */
export interface AnyOperation {
  name: string
  method: string
  /** With names in braces. */
  path: string
  query: Schema
  headers: Schema
  body: Schema | null
  /** Of the interface for agents. */
  verb: Verb | null
}

/** Every operation of the OpenAPI document and every verb of agents; not what streams, which never ends. */
export function allOperations(app: App): AnyOperation[] {
  const documented = [...operationsOf(routesOf(app))].flatMap(({ path, method, operation }): AnyOperation[] => {
    if (Object.values(operation.responses).some(({ content }) => content?.['text/event-stream'])) return []
    const among = (place: string): Schema => {
      const all = (operation.parameters ?? []).filter((one) => one.in === place)
      return {
        type: 'object',
        properties: Object.fromEntries(all.map(({ name, schema, required }) => [name, { ...schema, required }])),
        required: all.filter(({ required }) => required).map(({ name }) => name),
      }
    }
    const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema ?? null
    const name = operation.operationId ?? `${method} ${path}`
    return [{ name, method, path, query: among('query'), headers: among('header'), body, verb: null }]
  })
  return [...documented, ...verbs.map(operationOfVerb)]
}

function operationOfVerb(verb: Verb): AnyOperation {
  const { method, path } = verb.http
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  const { properties, required = [] } = verb.input as unknown as {
    properties: Record<string, Schema>
    required?: string[]
  }
  const rest: Schema = {
    type: 'object',
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !inPath.includes(name))),
    required: required.filter((name) => !inPath.includes(name)),
  }
  const none: Schema = { type: 'object', properties: {} }
  return {
    name: verb.name,
    method: method.toLowerCase(),
    path: `${basePath}${path.replaceAll(/:(\w+)/g, '{$1}')}`,
    query: method === 'GET' ? rest : none,
    headers: none,
    body: method === 'GET' ? null : rest,
    verb,
  }
}
