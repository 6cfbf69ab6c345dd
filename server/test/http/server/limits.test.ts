import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RouteOptions } from 'fastify'
import { simulatorWorld } from '../../support/channels/simulator.ts'
import { allRoutes } from '../../support/contract/routes.ts'
import { findUnlimited } from '../../support/limits.ts'

function* unlimitedOf({ method, url, schema = {} }: RouteOptions): Generator<string> {
  const parts = schema as Record<string, unknown>
  for (const part of ['params', 'querystring', 'headers', 'body']) {
    yield* findUnlimited(parts[part], `${method} ${url} ${part}`)
  }
  for (const [status, answer] of Object.entries((parts.response ?? {}) as object)) {
    yield* findUnlimited(answer, `${method} ${url} ${status}`)
  }
}

test('all strings, numbers and lists of routes have limits', async () => {
  const routes = await allRoutes()
  assert.ok(routes.length > 150, 'the routes are seen')
  assert.deepEqual(
    routes.flatMap((route) => [...unlimitedOf(route)]),
    [],
  )
})

test('responses that repeat a session token are not compressed', async () => {
  // Changing routes may create a session, and with it a new token.
  const readers = (await allRoutes()).filter(({ method }) => [method].flat().includes('GET'))
  const namesToken = ({ schema = {} }: RouteOptions) => JSON.stringify(schema.response ?? {}).includes('"csrfToken"')
  assert.deepEqual(
    readers.filter(namesToken).map(({ url, config }) => [url, config?.repeatsToken]),
    [['/api/team/v1/session', true]],
  )
})

test('all routes of the simulator have limits too', async () => {
  const { simulator } = await simulatorWorld()
  const { paths } = simulator.app.swagger() as { paths: Record<string, Record<string, Operation>> }
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): [string, Operation] => [`${method} ${path}`, operation]),
  )
  assert.ok(operations.length > 15, 'the knobs are seen')
  const found = operations.flatMap(([at, { parameters = [], requestBody = {}, responses = {} }]) => [
    ...parameters.flatMap(({ name, schema }) => [...findUnlimited(schema, `${at} ${name}`)]),
    ...[requestBody, ...Object.values(responses)].flatMap((each) => [...findUnlimited(each, at)]),
  ])
  assert.deepEqual(found, [])
})

interface Operation {
  parameters?: { name: string; schema: object }[]
  requestBody?: object
  responses?: Record<string, object>
}

test('missing limits are found anywhere in a schema', () => {
  const text = { type: 'string' }
  const rows: [schema: object, found: string[]][] = [
    [text, [' has no maxLength']],
    [{ type: ['string', 'null'], maxLength: 5 }, []],
    [{ type: 'string', enum: ['a'] }, []],
    [{ type: 'integer', minimum: 0 }, [' has no maximum']],
    [{ type: 'array', items: text }, [' has no maxItems', '[] has no maxLength']],
    [{ type: 'object', properties: { a: text } }, ['.a has no maxLength']],
    [{ type: 'object', patternProperties: { '^k_': text } }, ['.^k_ has no maxLength']],
    [{ type: 'object', additionalProperties: text }, ['.* has no maxLength']],
    [{ anyOf: [{ type: 'null' }, text] }, ['(1) has no maxLength']],
    [{ content: { 'text/plain': { schema: text } } }, ['.text/plain has no maxLength']],
  ]
  for (const [schema, found] of rows) assert.deepEqual([...findUnlimited(schema, '')], found)
})
