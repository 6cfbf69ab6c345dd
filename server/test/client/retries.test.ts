import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { pauseBeforeRetry } from '../../../client/src/call.ts'
import {
  ApiError,
  createError,
  DeliveryFailedError,
  ForbiddenError,
  NetworkError,
  NotFoundError,
  NotRetryableError,
  type ParleyError,
  TimeoutError,
  UnavailableError,
  WindowClosedError,
} from '../../../client/src/errors.ts'
import { Parley } from '../../../client/src/parley.ts'
import { clientWorld, network, type RequestOutcome, refusal } from '../support/client/client-world.ts'
import { pick } from '../support/pick.ts'

test('a send with a lost response is retried with the same key and sent once', async () => {
  const { open, customerWrites, platform } = await clientWorld()
  const { id } = await customerWrites('Hello')
  const sent = platform.sends.length
  const { fetch, asked } = network('answerIsLost', refusal(503), 'isLost', 'reaches')
  const { parley } = open({ fetch })
  assert.equal((await parley.inbox.send(id, 'Good morning')).status, 'sent')
  assert.equal(asked.length, 4)
  const keys = new Set(asked.map(({ headers }) => headers['idempotency-key']))
  assert.equal(keys.size, 1)
  assert.match([...keys][0] ?? '', /^[0-9a-f]{32}$/)
  assert.equal(platform.sends.length, sent + 1)
  await parley.inbox.send(id, 'Good morning')
  assert.ok(!keys.has(asked[4]?.headers['idempotency-key']), 'another send has another key')
})

test('a failed send exposes its idempotency key for a later retry', async () => {
  const { open, parley, customerWrites, platform } = await clientWorld()
  const { id } = await customerWrites('Hello')
  const sent = platform.sends.length
  const { fetch } = network('answerIsLost')
  const lost = await open({ fetch, maxRetries: 0 })
    .parley.inbox.send(id, 'Good morning')
    .catch((error: unknown) => error)
  assert.ok(lost instanceof NetworkError)
  assert.ok(lost.idempotencyKey !== undefined)
  await parley.inbox.send(id, 'Good morning', { idempotencyKey: lost.idempotencyKey })
  assert.equal(platform.sends.length, sent + 1)
})

test('uncertain calls are retried only if they are repeatable', async () => {
  const { open } = await clientWorld()
  const created = network('answerIsLost')
  await assert.rejects(open({ fetch: created.fetch }).parley.leads.create({ firstName: 'Ana' }), NetworkError)
  assert.equal(created.asked.length, 1)
  const upserted = network('answerIsLost')
  const upsert = { match: { by: 'externalRef', value: 'a' }, lead: { firstName: 'A', externalRef: 'a' } } as const
  assert.equal((await open({ fetch: upserted.fetch }).parley.leads.upsert(upsert)).action, 'updated')
  const noted = network(refusal(503))
  const { parley } = open({ fetch: noted.fetch })
  await assert.rejects(parley.inbox.update('x', { note: 'Once' }), UnavailableError)
  assert.equal(noted.asked.length, 1)
})

const answered = (status: number, headers: Record<string, string> = {}, data: object = {}) =>
  createError(refusal(status, data, headers), { statusCode: status, statusMessage: 'No', data }, 0)

const rules: [error: ParleyError, isRepeatable: boolean, pauses: (number | null)[]][] = [
  [new NetworkError('lost'), true, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]],
  [new NetworkError('lost'), false, [null]],
  [new TimeoutError('late'), true, [500]],
  [answered(503, { 'retry-after': '5' }), true, [5000, 5000]],
  [answered(503), true, [500, 1000]],
  [answered(503, { 'retry-after': '5' }), false, [null]],
  [answered(429, { 'retry-after': '2' }), false, [2000]],
  [answered(429, { 'retry-after': 'Thu, 01 Jan 1970 00:00:09 GMT' }), true, [9000]],
  [answered(429, { 'retry-after': 'soon' }), true, [500]],
  [answered(429, { 'retry-after': '0' }), true, [500, 500]],
  [answered(500), true, [null]],
  [answered(502, {}, { code: 'DELIVERY_FAILED' }), true, [null]],
  [answered(409, {}, { code: 'NOT_RETRYABLE' }), true, [null]],
  [answered(404), true, [null]],
]

test('only 429, 503 and network errors are retried', () => {
  for (const [error, isRepeatable, pauses] of rules) {
    const found = pauses.map((_, retries) => pauseBeforeRetry(error, isRepeatable, retries))
    assert.deepEqual(found, pauses, `${error.name} ${isRepeatable}`)
  }
})

test('errors have the class of their code, or else of their status', () => {
  const classes: [ApiError, typeof ApiError][] = [
    [answered(502, {}, { code: 'DELIVERY_FAILED' }), DeliveryFailedError],
    [answered(409, {}, { code: 'NOT_RETRYABLE' }), NotRetryableError],
    [answered(503, {}, { code: 'SOMETHING_NEW' }), UnavailableError],
    [answered(422, {}, { code: 'WINDOW_CLOSED' }), WindowClosedError],
    [answered(403), ForbiddenError],
    [answered(404), NotFoundError],
    [answered(418), ApiError],
  ]
  for (const [error, Class] of classes) assert.equal(error.constructor, Class)
  const problem = {
    title: 'Conflict',
    detail: 'People have it.',
    code: 'HELD_BY_PEOPLE',
    next: ['Wait.'],
    owner: 'human',
  }
  const { name, message, next, data } = createError(refusal(409), problem, 0)
  assert.deepEqual([name, message, next, data.owner], ['HeldByPeopleError', 'People have it.', ['Wait.'], 'human'])
})

const never: typeof fetch = (_url, init) =>
  new Promise((_resolve, reject) => {
    init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))
  })
const options = { baseUrl: 'http://127.0.0.1:1/parley', apiKey: 'plk_1' }

test('an attempt that takes too long is aborted', async () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    const parley = new Parley({ ...options, fetch: never, maxRetries: 0, timeoutMs: 5000 })
    const asked = assert.rejects(parley.leads.get('x'), TimeoutError)
    mock.timers.tick(5000)
    await asked
  } finally {
    mock.timers.reset()
  }
})

test('a signal aborts calls, pauses and pagination with its own reason', async () => {
  const why = new Error('enough')
  const calling = new AbortController()
  const called = assert.rejects(
    new Parley({ ...options, fetch: never }).leads.get('x', { signal: calling.signal }),
    why,
  )
  calling.abort(why)
  await called

  const pausing = new AbortController()
  const { fetch } = network('isLost')
  const toAbort: typeof fetch = async (...given) => {
    queueMicrotask(() => setImmediate(() => pausing.abort(why)))
    return fetch(...given)
  }
  await assert.rejects(new Parley({ ...options, fetch: toAbort }).leads.get('x', { signal: pausing.signal }), why)

  const ended = AbortSignal.abort(why)
  await assert.rejects(new Parley({ ...options, fetch: never }).leads.list({}, { signal: ended }).take(1), why)
  await assert.rejects(new Parley(options).events.follow({ signal: ended }).next(), why)
})

const strangers: [RequestOutcome, RegExp][] = [
  [new Response('', { status: 307, headers: { location: 'https://elsewhere.example.com' } }), /redirect/],
  [new Response('<html>', { status: 200 }), /not JSON/],
]

test('responses that are not from Parley are reported, and redirects are not followed', async () => {
  for (const [answer, words] of strangers) {
    const { fetch, asked } = network(answer)
    await assert.rejects(new Parley({ ...options, fetch }).leads.get('x'), words)
    assert.deepEqual(pick(asked, 'url'), ['http://127.0.0.1:1/parley/api/v1/leads/x'])
  }
})
