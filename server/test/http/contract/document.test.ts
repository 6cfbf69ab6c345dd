import assert from 'node:assert/strict'
import { test } from 'node:test'
import { appWithoutDatabase, checkContract } from '../../../../scripts/contract.ts'
import { makeRest } from '../../../src/base/load-later.ts'
import { listOperations, openapiDocument, routesDocument } from '../../../src/http/contract/openapi.ts'
import type { Schema } from '../../../src/http/contract/openapi-shared.ts'
import { postmanCollection } from '../../../src/http/contract/postman.ts'
import { notInCollection, postmanHints } from '../../../src/http/contract/postman-hints.ts'
import { atEnd, oncePerFile } from '../../support/file-lifecycle.ts'

const app = oncePerFile(() => {
  const made = appWithoutDatabase()
  atEnd(async () => (await made).close())
  return made
})
const document = oncePerFile(async () => openapiDocument(await app()))
const operations = async () => [...listOperations(await document())]

test('docs/ matches the contract of the app', async () => {
  assert.deepEqual(await checkContract(await app()), [], 'run npm run contract')
})

// Schemas compile on first use, which most tests do not reach.
test('all schemas of routes compile', async () => {
  await app()
  await makeRest()
})

test('every operation has a description', async () => {
  const silent = (await operations()).filter(({ operation }) => !operation.summary || !operation.description)
  assert.deepEqual(
    silent.map(({ operation }) => operation.operationId),
    [],
  )
  assert.doesNotMatch(JSON.stringify(await document()), /Default Response/)
})

test('every operationId is unique, starts with a verb and has at most 40 characters', async () => {
  const names = (await operations()).map(({ method, path, operation }) => operation.operationId ?? `${method} ${path}`)
  assert.deepEqual(
    names.filter((name) => !/^[a-z]+[A-Za-z]{0,39}$/.test(name) || name.length > 40),
    [],
    'give the route an operationId',
  )
  assert.equal(new Set(names).size, names.length)
})

test('every operation has one described tag in one group', async () => {
  const { tags = [], 'x-tagGroups': groups = [] } = await document()
  const described = tags.filter(({ description }) => description).map(({ name }) => name)
  const lost = (await operations()).filter(({ operation }) => {
    const [tag = '', ...others] = operation.tags ?? []
    return others.length > 0 || !described.includes(tag)
  })
  assert.deepEqual(
    lost.map(({ operation }) => [operation.operationId, operation.tags]),
    [],
    'describe the tag in http/contract/openapi.ts',
  )
  assert.deepEqual(groups.flatMap((group) => group.tags).sort(), [...described].sort())
})

test('every operation declares 400', async () => {
  const silent = (await operations()).filter(({ operation }) => !('400' in operation.responses))
  assert.deepEqual(
    silent.map(({ operation }) => operation.operationId),
    [],
    'declare it with errors(400, …)',
  )
})

test('every error is a shared component', async () => {
  const written = (await operations()).flatMap(({ operation }) =>
    Object.entries(operation.responses)
      .filter(([status, answer]) => Number(status) >= 400 && !('$ref' in answer))
      .map(([status]) => `${operation.operationId} ${status}`),
  )
  assert.deepEqual(written, [], 'make it by errorAnswer, with a title')
})

test('every object with several fields is a shared component', async () => {
  const found = new Map<string, string[]>()
  for (const { at, schema } of objectsOf(await document(), '#')) {
    const { description: _description, examples: _examples, ...shape } = schema
    if (Object.keys(shape.properties as object).length < 3) continue
    const text = JSON.stringify(shape)
    found.set(text, [...(found.get(text) ?? []), at])
  }
  const twice = [...found.values()].filter((places) => places.length > 1)
  assert.deepEqual(twice, [], 'give the schema a title: titled(…)')
})

test('docs/openapi.json has at most 70,000 lines', async () => {
  const lines = JSON.stringify(await document(), null, 2).split('\n').length
  assert.ok(lines > 10_000 && lines <= 70_000, `${lines} lines: name what is written twice by titled(…)`)
})

const isWrong: Record<string, (property: Schema) => boolean> = {
  'no field has a default, which would make it a required one in clients': (property) => 'default' in property,
  'no field is of null alone, which clients leave out of their types': (property) => property.type === 'null',
}

for (const [rule, breaks] of Object.entries(isWrong)) {
  test(rule, async () => {
    const found = [...objectsOf(await document(), '#')].flatMap(({ at, schema }) =>
      Object.entries(schema.properties as Record<string, Schema>)
        .filter(([, property]) => breaks(property))
        .map(([name]) => `${at} ${name}`),
    )
    assert.deepEqual(found, [])
  })
}

test('the event name discriminates the payload', async () => {
  const { schemas = {} } = (await document()).components
  const { oneOf, discriminator } = schemas.Event as { oneOf: { $ref: string }[]; discriminator: { mapping: object } }
  const choices = oneOf.map(({ $ref }) => {
    const { properties, required } = schemas[$ref.split('/').at(-1) ?? ''] as Record<string, unknown>
    const { event, payload } = properties as Record<string, { enum?: string[]; $ref?: string }>
    assert.deepEqual(required, ['id', 'event', 'occurred_at', 'payload'])
    return { $ref, name: event?.enum?.[0] ?? '', payload: payload?.$ref }
  })
  assert.deepEqual(discriminator.mapping, Object.fromEntries(choices.map(({ $ref, name }) => [name, $ref])))
  assert.ok(choices.every(({ name, payload }) => name !== '' && payload !== undefined))
  // Lead events share a schema, except merges.
  const others = choices.filter(({ name }) => !name.startsWith('lead.') || name === 'lead.merged').length
  assert.equal(new Set(choices.map(({ payload }) => payload)).size, others + 1)
})

test('collection hints refer to existing operations', async () => {
  const ids = new Set((await operations()).map(({ operation }) => operation.operationId))
  const named = [...Object.keys(postmanHints), ...notInCollection]
  assert.deepEqual(
    named.filter((id) => !ids.has(id)),
    [],
  )
  assert.equal(new Set(named).size, named.length)
})

test('the collection changes and deletes only resources that it has created', async () => {
  const collection = postmanCollection(routesDocument(await app()), 'https://parley.example')
  const own = new Set<string>()
  const foreign: string[] = []
  for (const { request, name, event } of collection.item.flatMap((folder) => folder.item)) {
    const last = request.url.variable.at(-1)?.value.replace(/^\{\{(\w+)\}\}$/, '$1') ?? ''
    if (['PATCH', 'PUT', 'DELETE'].includes(request.method) && !own.has(last)) foreign.push(name)
    const script = event.flatMap((each) => each.script.exec).join('\n')
    for (const [, variable] of script.matchAll(/^pm\.collectionVariables\.set\('(\w+)'/gm)) own.add(variable ?? '')
  }
  assert.deepEqual(foreign, [
    // Sent back unchanged.
    'Change a workspace',
    // A key owns what it uploads.
    'Change owner, status or labels; add a note',
    // It is open already, because its window is open.
    'Change status, labels, priority, assignee or team',
    // Without a change.
    'Update billing settings',
  ])
})

test('routes for API keys document 429 and Retry-After', async () => {
  const { components } = await document()
  const limited = (await operations()).filter(({ operation }) => operation.security?.some((way) => 'apiKey' in way))
  assert.ok(limited.length >= 17)
  for (const { operation, path } of limited) {
    assert.deepEqual(operation.responses[429], { $ref: '#/components/responses/TooManyRequests' }, path)
  }
  const { headers = {} } = components.responses?.TooManyRequests ?? {}
  assert.deepEqual(Object.keys(headers), [
    'x-request-id',
    'Retry-After',
    'RateLimit-Limit',
    'RateLimit-Remaining',
    'RateLimit-Reset',
    'RateLimit-Policy',
  ])
})

function* objectsOf(value: unknown, at: string): Generator<{ at: string; schema: Schema }> {
  if (typeof value !== 'object' || value === null) return
  const { properties } = value as Schema
  if (typeof properties === 'object' && properties !== null) yield { at, schema: value as Schema }
  for (const [key, part] of Object.entries(value)) {
    if (key !== 'example' && key !== 'examples') yield* objectsOf(part, `${at}/${key.replaceAll('/', '~1')}`)
  }
}
