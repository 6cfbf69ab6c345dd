import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { conflict, notFound, unauthorized } from '../../../src/base/errors.ts'
import { type App, errors, timestamp } from '../../../src/base/route.ts'
import { openapiDocument, registerOpenApi, routesDocument } from '../../../src/http/contract/openapi.ts'
import { postmanCollection } from '../../../src/http/contract/postman.ts'
import { serveReference } from '../../../src/http/contract/reference.ts'
import { serveHealth } from '../../../src/http/monitoring/health.ts'
import { checkAnswers } from '../../support/contract/contract.ts'
import { testServer } from '../../support/http.ts'

const thing = Type.Object(
  { id: Type.String(), name: Type.String({ example: 'Ana' }), createdAt: timestamp('When it was made.') },
  { title: 'Thing' },
)
const answer = Type.Object({ success: Type.Literal(true), data: thing })
const made = { id: 'one', name: 'Ana', createdAt: '2026-03-01T12:00:00.000Z' }
const common = { tags: ['Leads'], security: [{ apiKey: [] }] }

async function fakeService(overrides: { data?: object; failure?: unknown } = {}) {
  const { app } = testServer()
  await registerOpenApi(app)
  const check = checkAnswers(app)
  app.addHook('onRequest', async (request) => {
    if (request.routeOptions.url?.startsWith('/api/') && request.headers.authorization !== 'Bearer key') {
      throw unauthorized('API key required')
    }
  })
  serveHealth(app, async () => {})
  serveReference(app, 'https://parley.example')
  serveThings(app, overrides)
  await app.ready()
  return { app, check }
}

function serveThings(app: App, { data = made, failure }: { data?: object; failure?: unknown }): void {
  const params = Type.Object({ thingId: Type.String() })
  const body = Type.Object(
    { name: Type.String({ example: 'Ana' }), note: Type.Optional(Type.String()) },
    { additionalProperties: false },
  )
  const one = { ...common, params, response: { 200: answer, ...errors(401, 404) } }
  app.get(
    '/api/v1/things/:thingId',
    { schema: { ...one, operationId: 'getThing', summary: 'Read' } },
    async (request) => {
      if (failure !== undefined) throw failure
      if (request.params.thingId !== made.id) throw notFound('Thing not found')
      return { success: true, data } as never
    },
  )
  app.delete('/api/v1/things/:thingId', { schema: { ...one, summary: 'Delete' } }, async (request) => {
    if (request.params.thingId !== made.id) throw notFound('Thing not found')
    return { success: true as const, data: made }
  })
  const create = {
    ...common,
    operationId: 'createThing',
    summary: 'Create',
    body,
    response: { 200: answer, ...errors(400, 401) },
  }
  app.post('/api/v1/things', { schema: create }, async () => ({ success: true as const, data: made }))
}

const read = { url: '/api/v1/things/one', headers: { authorization: 'Bearer key' } }

test('the document shares titled schemas and errors, and is served with its collection', async () => {
  const { app } = await fakeService()
  const document = openapiDocument(app)
  assert.equal(document.openapi, '3.1.0')
  assert.deepEqual(Object.keys(document.components.schemas ?? {}), ['Error', 'Thing'])
  const operation = document.paths['/api/v1/things/{thingId}']?.get
  assert.deepEqual(operation?.responses[404], { $ref: '#/components/responses/NotFound' })
  assert.deepEqual(document.components.responses?.NotFound, {
    description: 'Not found, or not visible to this caller.',
    headers: { 'x-request-id': { $ref: '#/components/headers/RequestId' } },
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        example: { statusCode: 404, statusMessage: 'Not found' },
      },
    },
  })
  const text = JSON.stringify(document)
  assert.ok(text.includes('"data":{"$ref":"#/components/schemas/Thing"}'))
  assert.equal(JSON.stringify(openapiDocument((await fakeService()).app)), text)
  assert.deepEqual((await app.inject('/openapi.json')).json(), document)
  const collection = postmanCollection(routesDocument(app), 'https://parley.example')
  assert.deepEqual((await app.inject('/postman.json')).json(), JSON.parse(JSON.stringify(collection)))
})

test('two different schemas with one title throw', async () => {
  const { app } = testServer()
  await registerOpenApi(app)
  for (const [url, type] of [
    ['/a', Type.String({ title: 'Same' })],
    ['/b', Type.Number({ title: 'Same' })],
  ] as const) {
    app.get(url, { schema: { response: { 200: type } } }, async () => null as never)
  }
  await app.ready()
  assert.throws(() => openapiDocument(app), /Two different schemas have the title Same/)
})

test('undeclared statuses, missing fields and extra fields fail the check', async () => {
  const rows: [overrides: { data?: object; failure?: unknown }, problem: RegExp][] = [
    [{ failure: conflict('Taken') }, /409: declares 200,401,404/],
    [{ data: { id: 'one', name: 'Ana' } }, /must have required property 'createdAt'/],
    [{ data: { ...made, secret: 1 } }, /must NOT have unevaluated properties/],
    [{ data: { ...made, createdAt: 'yesterday' } }, /must match format "date-time"/],
  ]
  for (const [overrides, problem] of rows) {
    const { app, check } = await fakeService(overrides)
    const broken = await app.inject(read)
    assert.equal(broken.statusCode, 500)
    assert.throws(check.assertNone, problem)
  }
})
