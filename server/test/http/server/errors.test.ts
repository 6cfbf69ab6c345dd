import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { conflict, unauthorized } from '../../../src/base/errors.ts'
import { isUuid } from '../../../src/base/id.ts'
import { ConnectionLost, DatabaseError, NoConnection } from '../../../src/base/postgres/failures.ts'
import type { App } from '../../../src/base/route.ts'
import { testServer } from '../../support/http.ts'

const closed = { additionalProperties: false }
const body = Type.Object(
  { name: Type.String({ minLength: 1 }), tags: Type.Optional(Type.Array(Type.String())) },
  closed,
)
const querystring = Type.Object({ limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })) }, closed)
const params = Type.Object({ id: Type.String({ maxLength: 255 }) })

function withRoutes(failure?: unknown): { app: App; lines: string[] } {
  const { app, lines } = testServer()
  for (const face of ['/api/v1/leads', '/api/v1/inbox/conversations']) {
    app.get(face, { schema: { querystring } }, async (request) => ({ limit: request.query.limit ?? null }))
    app.post(face, { schema: { body } }, async (request) => request.body)
    app.get(`${face}/:id`, { schema: { params } }, async (request) => ({ length: request.params.id.length }))
    app.delete(`${face}/:id`, async () => ({ success: true }))
    app.get(`${face}/failing/now`, async () => {
      throw failure
    })
  }
  app.get('/site/*', async () => 'page')
  return { app, lines }
}

const json = { 'content-type': 'application/json' }
const issue = (path: string, message: string) => ({
  statusCode: 400,
  statusMessage: 'Validation failed',
  data: { issues: [{ path, message }] },
})

test('validation errors name each field', async () => {
  const { app } = withRoutes()
  const rows: [method: 'GET' | 'POST', url: string, payload: string | undefined, path: string, message: string][] = [
    ['POST', '/api/v1/leads', '{}', 'name', 'is required'],
    ['POST', '/api/v1/leads', '{"name":"A","nam":1}', 'nam', 'is not a known field'],
    ['POST', '/api/v1/leads', '{"name":null}', 'name', 'must be string'],
    ['POST', '/api/v1/leads', '{"name":"A","tags":["a",1]}', 'tags[1]', 'must be string'],
    ['POST', '/api/v1/leads', '{"name":"A","__proto__":{"x":1}}', '__proto__', 'is not a known field'],
    ['POST', '/api/v1/leads', '{"name":"A","constructor":{"x":1}}', 'constructor', 'is not a known field'],
    ['POST', '/api/v1/leads', 'null', '', 'must be object'],
    ['POST', '/api/v1/leads', '', '', 'is required: send a JSON body'],
    ['POST', '/api/v1/leads', '{"name":', '', 'is not valid JSON'],
    ['GET', '/api/v1/leads?limit=0', undefined, 'limit', 'must be at least 1'],
    ['GET', '/api/v1/leads?limit=1&limit=2', undefined, 'limit', 'is given more than once'],
    ['GET', '/api/v1/leads?limi=2', undefined, 'limi', 'is not a known field'],
    ['GET', '/api/v1/leads?__proto__=2', undefined, '__proto__', 'is not a known field'],
    ['GET', '/api/v1/leads?limit=%00', undefined, 'limit', 'must not contain the NUL character'],
    ['GET', '/api/v1/leads?limit=%ED%A0%80', undefined, 'limit', 'is not valid percent-encoding'],
    ['GET', '/api/v1/leads?limit=%E0%A4%A', undefined, 'limit', 'is not valid percent-encoding'],
    ['GET', '/api/v1/leads/%E0%A4%A', undefined, '', 'is not valid percent-encoding'],
    ['GET', '/api/v1/leads/a%00b', undefined, 'id', 'must not contain the NUL character'],
    ['GET', `/api/v1/leads/${'a'.repeat(10_000)}`, undefined, 'id', 'must have at most 255 characters'],
  ]
  for (const [method, url, payload, path, message] of rows) {
    const answer = await app.inject({ method, url, payload, headers: payload === undefined ? {} : json })
    assert.deepEqual([answer.statusCode, answer.json()], [400, issue(path, message)], `${method} ${url} ${payload}`)
  }
})

test('a DELETE can have a JSON content type without a body', async () => {
  const { app } = withRoutes()
  const answer = await app.inject({ method: 'DELETE', url: '/api/v1/leads/1', headers: json })
  assert.equal(answer.statusCode, 200)
})

test('inbox errors have a code and name the first problem', async () => {
  const { app } = withRoutes()
  const url = '/api/v1/inbox/conversations'
  const query = await app.inject({ url: `${url}?limit=500` })
  assert.deepEqual(query.json(), {
    statusCode: 400,
    statusMessage: 'limit must be at most 100',
    data: { code: 'INVALID_QUERY', issues: [{ path: 'limit', message: 'must be at most 100' }] },
  })
  const posted = await app.inject({ method: 'POST', url, payload: '[', headers: json })
  assert.equal(posted.json().data.code, 'INVALID_REQUEST')
  assert.match(posted.json().statusMessage, /^The body is not valid JSON/)
})

test('unsupported media types, encodings and sizes are rejected', async () => {
  const { app } = withRoutes()
  const post = (headers: Record<string, string>, payload: string | Buffer) =>
    app.inject({ method: 'POST', url: '/api/v1/leads', headers, payload })
  const ok = '{"name":"A"}'
  const rows: [type: string | undefined, payload: string | Buffer, statusCode: number][] = [
    ['application/json', ok, 200],
    ['application/json; charset=utf-8', ok, 200],
    ['application/json;charset="UTF-8"', ok, 200],
    ['application/merge-patch+json', ok, 200],
    ['application/json; charset=iso-8859-1', ok, 415],
    ['text/plain', ok, 415],
    ['application/x-www-form-urlencoded', 'name=A', 415],
    ['multipart/form-data; boundary=x', ok, 415],
    ['application/jsonx', ok, 415],
    ['nonsense', ok, 415],
    [undefined, ok, 415],
    ['application/json', `{"name":"${'a'.repeat(1_048_576 - 11)}"}`, 200],
    ['application/json', `{"name":"${'a'.repeat(1_048_576 - 10)}"}`, 413],
    ['application/json', Buffer.from('{"name":"\xff"}', 'latin1'), 400],
  ]
  for (const [type, payload, statusCode] of rows) {
    const answer = await post(type === undefined ? {} : { 'content-type': type }, payload)
    assert.equal(answer.statusCode, statusCode, `${type} ${payload.length}`)
    if (statusCode !== 200) assert.equal(answer.json().statusCode, statusCode)
  }
  const zipped = await post({ ...json, 'content-encoding': 'gzip' }, ok)
  assert.equal(zipped.statusCode, 415)
})

test('an unknown route is 404 and a known one with another method 405 with Allow', async () => {
  const { app } = withRoutes()
  const rows: [method: 'GET' | 'PUT' | 'POST' | 'HEAD' | 'OPTIONS', url: string, status: number, allow?: string][] = [
    ['GET', '/api/v1/nothing', 404],
    ['GET', '/api/v1/nothing?a=1&a=2', 404],
    ['GET', '/api/v1/leads/', 404],
    ['POST', '/api/v1/nothing', 404],
    ['POST', '/site/page', 404],
    ['PUT', '/api/v1/leads', 405, 'GET, POST'],
    ['PUT', '/api/v1/leads?search=x', 405, 'GET, POST'],
    ['HEAD', '/api/v1/leads', 405, 'GET, POST'],
    ['OPTIONS', '/api/v1/leads', 405, 'GET, POST'],
    ['POST', '/api/v1/leads/some-id', 405, 'DELETE, GET'],
  ]
  for (const [method, url, status, allow] of rows) {
    const answer = await app.inject({ method, url })
    assert.deepEqual([answer.statusCode, answer.headers.allow], [status, allow], `${method} ${url}`)
    if (status === 404) assert.deepEqual(answer.json(), { statusCode: 404, statusMessage: 'Route not found' })
  }
})

test('thrown errors keep status, message, data and headers', async () => {
  const rejected = await failing(unauthorized('API key expired'))
  assert.deepEqual(rejected.json(), { statusCode: 401, statusMessage: 'API key expired' })
  assert.equal(rejected.headers['www-authenticate'], 'Bearer')
  const taken = await failing(conflict('Lead with this externalRef already exists', { field: 'externalRef' }))
  assert.deepEqual(taken.json(), {
    statusCode: 409,
    statusMessage: 'Lead with this externalRef already exists',
    data: { field: 'externalRef' },
  })
})

test('an internal error exposes only the request id', async () => {
  for (const failure of [new Error('secret'), 'secret', null, Object.assign(new Error('secret'), { code: '22P02' })]) {
    const answer = await failing(failure)
    const data = { requestId: answer.headers['x-request-id'] }
    assert.deepEqual(answer.json(), { statusCode: 500, statusMessage: 'Internal error', data })
  }
})

test('an unavailable database is 503 with Retry-After', async () => {
  const ofDatabase = (code: string, routine = '') =>
    Object.assign(new DatabaseError('away', 0, 'error'), { code, routine })
  const failures = [
    new ConnectionLost(),
    new NoConnection(),
    ...['57P01', '57P02', '57P03', '53300', '55P03', '57014', '25006', '08006', '08P01'].map((code) =>
      ofDatabase(code),
    ),
    // A standby rejects writes of the rate limit counters.
    ofDatabase('0A000', 'get_relation_info'),
  ]
  for (const failure of failures) {
    const answer = await failing(failure)
    assert.equal(answer.statusCode, 503, String(failure))
    assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/)
    const inbox = await failing(failure, '/api/v1/inbox/conversations')
    assert.equal(inbox.json().data.code, 'CHAT_INBOX_UNAVAILABLE')
  }
})

test('logs contain no URLs, bodies or quoted values', async () => {
  const sent = 'Marker7391'
  const failure = Object.assign(new Error(`invalid input "${sent}"\n    at ${sent} (${sent}:1:1)`), {
    code: '22P02',
    detail: sent,
    query: sent,
    parameters: [sent],
    where: sent,
    cause: new Error(sent),
  })
  const { app, lines } = withRoutes(failure)
  await app.inject({ url: `/api/v1/leads/failing/now?search=${sent}`, headers: { authorization: `Bearer ${sent}` } })
  await app.inject({ url: `/api/v1/leads/${sent}` })
  await app.inject({ url: `/${sent}` })
  await app.inject({ url: `/api/v1/leads/%E0%A4%A${sent}` })
  await app.inject({ method: 'POST', url: '/api/v1/leads', headers: json, payload: `{"name":"${sent}"` })
  await app.inject({ method: 'POST', url: '/api/v1/leads', headers: json, payload: `{"${sent}":"${sent}"}` })
  assert.ok(lines.length >= 6)
  assert.ok(!lines.join('').includes(sent))
  const failed = lines.map((line) => JSON.parse(line)).find((line) => line.level === 'error')
  assert.equal(failed.route, '/api/v1/leads/failing/now')
  assert.equal(failed.err.code, '22P02')
  assert.match(failed.err.stack.join(' '), /errors\.test\.ts/)
})

const requests = [
  { url: '/api/v1/leads' },
  { url: '/api/v1/leads/failing/now' },
  { url: '/nowhere' },
  { url: '/api/v1/leads', method: 'PUT' },
  { url: '/api/v1/%E0%A4%A' },
  { url: '/api/v1/leads', method: 'PUT', payload: 'x'.repeat(2_000_000), headers: json },
] as const

test('every response has a request id and the security headers', async () => {
  const { app } = withRoutes(new Error('broken'))
  for (const request of requests) {
    const { headers } = await app.inject({ ...request })
    assert.ok(isUuid(String(headers['x-request-id'])), request.url)
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['referrer-policy'], 'no-referrer')
    assert.equal(headers['cache-control'], 'no-store')
    assert.equal(headers['content-security-policy'], "default-src 'none'; frame-ancestors 'none'")
    assert.equal(headers['access-control-allow-origin'], undefined)
  }
})

test('a plain x-request-id of the caller is kept', async () => {
  const { app } = withRoutes(new Error('broken'))
  const rows: [sent: string, kept: boolean][] = [
    ['order-42_a.B', true],
    ['x'.repeat(64), true],
    ['x'.repeat(65), false],
    ['two words', false],
    ['<script>', false],
    ['', false],
  ]
  for (const [sent, kept] of rows) {
    for (const request of requests) {
      const { headers } = await app.inject({ url: request.url, headers: { 'x-request-id': sent } })
      assert.equal(headers['x-request-id'] === sent, kept, `${request.url} ${sent}`)
    }
  }
})

async function failing(failure: unknown, face = '/api/v1/leads') {
  return withRoutes(failure).app.inject({ url: `${face}/failing/now` })
}
