import assert from 'node:assert/strict'
import { test } from 'node:test'
import { appWithoutDatabase, checkContract } from '../../../../scripts/contract.ts'
import { compileRest } from '../../../src/base/validation.ts'
import { openapiDocument, operationsOf, routesOf } from '../../../src/http/contract/openapi.ts'
import type { Schema } from '../../../src/http/contract/openapi-shared.ts'
import { postmanCollection } from '../../../src/http/contract/postman.ts'
import { notInCollection, postmanHints } from '../../../src/http/contract/postman-hints.ts'
import { atEnd, oncePerFile } from '../../support/file-end.ts'

const app = oncePerFile(() => {
  const made = appWithoutDatabase()
  atEnd(async () => (await made).close())
  return made
})
const document = oncePerFile(async () => openapiDocument(await app()))
const operations = async () => [...operationsOf(await document())]

test('the contract in docs/ is the one that the app serves', async () => {
  assert.deepEqual(await checkContract(await app()), [], 'run npm run contract')
})

// They are compiled when they are first needed, which for most of them is in no test.
test('every schema of a route is one that can be compiled', async () => {
  await app()
  await compileRest()
})

test('every operation says in a sentence what its name does not', async () => {
  const silent = (await operations()).filter(({ operation }) => !operation.summary || !operation.description)
  assert.deepEqual(
    silent.map(({ operation }) => operation.operationId),
    [],
  )
  assert.doesNotMatch(JSON.stringify(await document()), /Default Response/)
})

test('every operation has a name by hand: a verb first, at most 40 characters, its own', async () => {
  const names = (await operations()).map(({ method, path, operation }) => operation.operationId ?? `${method} ${path}`)
  assert.deepEqual(
    names.filter((name) => !/^[a-z]+[A-Za-z]{0,39}$/.test(name) || name.length > 40),
    [],
    'give the route an operationId',
  )
  assert.equal(new Set(names).size, names.length)
})

test('every operation is about one resource, which is described and stands in one group', async () => {
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

test('every operation says that what it is asked may be bad: any address can be one that nobody could read', async () => {
  const silent = (await operations()).filter(({ operation }) => !('400' in operation.responses))
  assert.deepEqual(
    silent.map(({ operation }) => operation.operationId),
    [],
    'declare it with errors(400, …)',
  )
})

test('every error is written once, under a name', async () => {
  const written = (await operations()).flatMap(({ operation }) =>
    Object.entries(operation.responses)
      .filter(([status, answer]) => Number(status) >= 400 && !('$ref' in answer))
      .map(([status]) => `${operation.operationId} ${status}`),
  )
  assert.deepEqual(written, [], 'make it by errorAnswer, with a title')
})

test('every object of several fields is written once, under a name', async () => {
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

test('the document stays one to read: at most 37,500 lines as it is written to docs/', async () => {
  const lines = JSON.stringify(await document(), null, 2).split('\n').length
  assert.ok(lines > 10_000 && lines <= 37_500, `${lines} lines: name what is written twice by titled(…)`)
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

test('the name of an event says what its payload is', async () => {
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
  // Those of leads have one in common.
  const others = choices.filter(({ name }) => !name.startsWith('lead.')).length
  assert.equal(new Set(choices.map(({ payload }) => payload)).size, others + 1)
})

test('hints for the collection name operations that are there', async () => {
  const ids = new Set((await operations()).map(({ operation }) => operation.operationId))
  const named = [...Object.keys(postmanHints), ...notInCollection]
  assert.deepEqual(
    named.filter((id) => !ids.has(id)),
    [],
  )
  assert.equal(new Set(named).size, named.length)
})

test('what the collection changes or removes, it has made itself', async () => {
  const collection = postmanCollection(routesOf(await app()), 'https://parley.example')
  const own = new Set<string>()
  const foreign: string[] = []
  for (const { request, name, event } of collection.item.flatMap((folder) => folder.item)) {
    const last = request.url.variable.at(-1)?.value.replace(/^\{\{(\w+)\}\}$/, '$1') ?? ''
    if (['PATCH', 'PUT', 'DELETE'].includes(request.method) && !own.has(last)) foreign.push(name)
    const script = event.flatMap((each) => each.script.exec).join('\n')
    for (const [, variable] of script.matchAll(/^pm\.collectionVariables\.set\('(\w+)'/gm)) own.add(variable ?? '')
  }
  assert.deepEqual(foreign, [
    // Sent back as it was read.
    'Change a workspace',
    // A key owns what it sends in.
    'Change owner, status or labels; add a note',
    // Open already, since text can be sent in it.
    'Change status, labels or assignee',
  ])
})

test('routes for API keys say when their limit answers 429, and when to try again', async () => {
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
