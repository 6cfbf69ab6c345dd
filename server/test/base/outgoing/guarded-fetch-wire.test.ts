import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { after, beforeEach, test } from 'node:test'
import type { OutgoingRequest } from '../../../src/base/outgoing/http-exchange.ts'
import { assertFailure, openTestOutgoing } from '../../support/outgoing/outgoing.ts'
import { okAnswer, rawServer } from '../../support/outgoing/raw-server.ts'
import { until } from '../../support/until.ts'
import { reset } from '../../support/wire/reset.ts'

const server = await rawServer()
let outgoing = openTestOutgoing()
after(async () => {
  outgoing.close()
  await server.close()
})
// One client per test, so that tests don't share connections.
beforeEach(() => {
  outgoing.close()
  outgoing = openTestOutgoing()
  server.sockets = []
  server.requests = []
  server.answer = (socket) => socket.write(okAnswer())
})

const plain = { method: 'POST', headers: {}, body: '{}', timeoutMs: 10_000, maxAnswerBytes: 1_000 } as const
const call = (more: Partial<OutgoingRequest> = {}) =>
  outgoing.call({ ...plain, url: `http://127.0.0.1:${server.port}/hook`, ...more })

const head = 'HTTP/1.1 200 OK\r\n'
const failures: [what: string, answer: (socket: Socket) => void, error: string, timeoutMs?: number][] = [
  ['sends nothing', () => {}, 'timeout', 60],
  ['sends its head byte by byte forever', (socket) => trickle(socket, `${head}x-a: `), 'timeout', 60],
  ['sends its body byte by byte forever', (socket) => trickle(socket, `${head}\r\n`), 'timeout', 60],
  ['sends 1xx forever', (socket) => trickle(socket, '', 'HTTP/1.1 102 Processing\r\n\r\n'), 'timeout', 60],
  ['announces more than it sends', (socket) => socket.write(`${head}content-length: 9\r\n\r\nabc`), 'timeout', 60],
  ['resets', reset, 'reset'],
  ['closes its side', (socket) => socket.end(), 'reset'],
  ['closes its side within the head', (socket) => socket.end('HTTP/1.1 200 O'), 'reset'],
  ['closes its side within the body', (socket) => socket.end(`${head}content-length: 9\r\n\r\nabc`), 'reset'],
  ['resets within the body', (socket) => cut(socket, `${head}content-length: 9\r\n\r\nabc`), 'reset'],
  ['closes between chunks', (socket) => socket.end(`${head}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n`), 'reset'],
  ['sends a head that is too long', (socket) => socket.write(`${head}x-a: ${'a'.repeat(20_000)}\r\n\r\n`), 'answer'],
  ['sends too many fields', (socket) => socket.write(`${head}${'x-a: b\r\n'.repeat(5_000)}\r\n`), 'answer'],
  ['uses another protocol', (socket) => socket.write('220 smtp.example.com ESMTP\r\n'), 'answer'],
  [
    'sends both content-length and transfer-encoding',
    (socket) => socket.write(`${head}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`),
    'answer',
  ],
  ['sends invalid chunks', (socket) => socket.write(`${head}transfer-encoding: chunked\r\n\r\nzz\r\nabc`), 'answer'],
  [
    'switches protocols',
    (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nhi'),
    'reset',
  ],
]

for (const [what, answer, error, timeoutMs] of failures) {
  test(`a server that ${what} is a failure of kind ${error}, and the request may have been processed`, async () => {
    server.answer = answer
    const { result, path } = await callInTime(timeoutMs)
    assert.deepEqual(assertFailure(result), [error, true])
    // Data of a canceled call may be read later.
    const arrived = () => server.requests.filter((request) => request.startsWith(`POST ${path} `)).length
    await until(() => arrived() > 0, 'the request')
    assert.equal(arrived(), 1)
  })
}

let calls = 0

/** Repeats a test with more time: on a busy machine a short timeout can end before the connection is open. */
async function callInTime(timeoutMs: number = plain.timeoutMs) {
  for (let ms = timeoutMs; ; ms *= 4) {
    const path = `/hook-${++calls}`
    const result = await call({ url: `http://127.0.0.1:${server.port}${path}`, timeoutMs: ms })
    const isTooShort = result.outcome === 'failed' && result.error === 'timeout' && !result.wasSent
    if (!isTooShort || ms >= plain.timeoutMs) return { result, path }
  }
}

function trickle(socket: Socket, start: string, drop = 'a'): void {
  socket.write(start)
  const timer = setInterval(() => socket.write(drop), 5)
  socket.once('close', () => clearInterval(timer))
}

function cut(socket: Socket, text: string): void {
  socket.write(text, () => setImmediate(() => reset(socket)))
}

test('only the start of a long response is read, and its connection is closed', async () => {
  server.answer = (socket) => trickle(socket, `${head}content-length: 9000000\r\n\r\n`, 'x'.repeat(600))
  const closed = new Promise((resolve) => {
    const { answer } = server
    server.answer = (socket, of) => {
      socket.once('close', resolve)
      answer(socket, of)
    }
  })
  const answer = await call()
  assert.ok(answer.outcome === 'answered')
  assert.deepEqual([answer.status, answer.body.toString(), answer.isWhole], [200, 'x'.repeat(1_000), false])
  await closed
})

test('a response of exactly the maximum size is complete, and one without a body is empty', async () => {
  server.answer = (socket) => socket.write(okAnswer('x'.repeat(1_000)))
  const full = await call()
  assert.ok(full.outcome === 'answered' && full.isWhole && full.body.length === 1_000)
  server.answer = (socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n')
  const empty = await call({ maxAnswerBytes: 0 })
  assert.ok(empty.outcome === 'answered' && empty.isWhole && empty.body.length === 0)
})

test('compressed responses are not decompressed', async () => {
  server.answer = (socket) => socket.write(`${head}content-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc`)
  const answer = await call()
  assert.ok(answer.outcome === 'answered')
  assert.equal(answer.body.toString(), 'abc')
  assert.match(server.requests[0] ?? '', /accept-encoding: identity/i)
})

test('a redirect is returned as a response', async () => {
  server.answer = (socket) =>
    socket.write('HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/\r\ncontent-length: 0\r\n\r\n')
  const answer = await call()
  assert.ok(answer.outcome === 'answered')
  assert.deepEqual([answer.status, server.requests.length], [302, 1])
})

test('headers that control routing and framing cannot be overridden', async () => {
  const headers = {
    Host: 'inner',
    'Content-Length': '9',
    'Transfer-Encoding': 'chunked',
    Connection: 'upgrade',
    Upgrade: 'x',
    Expect: '100-continue',
  }
  await call({ headers: { ...headers, 'Accept-Encoding': 'gzip', 'Proxy-Authorization': 'x', 'x-own': '1' } })
  const [request = ''] = server.requests
  const lines = request.toLowerCase().split('\r\n').slice(1, -2)
  assert.deepEqual(lines.sort(), [
    'accept-encoding: identity',
    'connection: keep-alive',
    'content-length: 2',
    `host: 127.0.0.1:${server.port}`,
    'x-own: 1',
  ])
})

test('an invalid header prevents the request', async () => {
  const answer = await call({ headers: { 'x-own': 'a\r\nx-smuggled: 1' } })
  assert.deepEqual([...assertFailure(answer), server.requests.length], ['invalid_request', false, 0])
})

test('no byte is sent if the caller refuses it, on a new connection or a pooled one', async () => {
  for (const _ of ['new', 'kept']) {
    const answer = await call({ shouldSend: () => false })
    assert.deepEqual([...assertFailure(answer), server.requests.length], ['withheld', false, 0])
    await call()
    server.requests = []
  }
})

test('a connection is reused by the next call', async () => {
  for (let n = 0; n < 5; n++) await call()
  assert.deepEqual([server.requests.length, server.sockets.length], [5, 1])
})

for (const [how, leave] of [
  ['closed', (socket: Socket) => socket.end()],
  ['reset', reset],
] as const) {
  test(`a pooled connection that is ${how} when it is reused: repeatable requests are sent once more, others never`, async () => {
    server.answer = (socket, of) => (of === 1 ? socket.write(okAnswer()) : leave(socket))
    await call()
    const repeated = await call({ canRepeat: true })
    assert.deepEqual([repeated.outcome, server.requests.length, server.sockets.length], ['answered', 3, 2])

    await call()
    server.requests = []
    const single = await call()
    assert.deepEqual([...assertFailure(single), server.requests.length], ['reset', true, 1])
  })
}

test('a request is not repeated on a closed new connection or after a response has started', async () => {
  server.answer = (socket) => socket.end()
  assert.equal((await call({ canRepeat: true })).outcome, 'failed')
  assert.equal(server.requests.length, 1)
  server.answer = (socket, of) =>
    of === 1 ? socket.write(okAnswer()) : socket.end(`${head}content-length: 9\r\n\r\nabc`)
  await call()
  server.requests = []
  assert.equal((await call({ canRepeat: true })).outcome, 'failed')
  assert.equal(server.requests.length, 1)
})

test('a request that may have been sent never counts as unsent, even if its repetition was not', async () => {
  const dying = await rawServer()
  const url = `http://127.0.0.1:${dying.port}/`
  dying.answer = (socket, of) => (of === 1 ? socket.write(okAnswer()) : void dying.close())
  await call({ url })
  const answer = await call({ url, canRepeat: true })
  assert.deepEqual(assertFailure(answer), ['connect', true])
})

test('close closes all connections', async () => {
  const other = openTestOutgoing()
  server.answer = () => other.close()
  const answer = await other.call({ ...plain, url: `http://127.0.0.1:${server.port}/` })
  assert.ok(answer.outcome === 'failed')
  assert.equal(answer.error, 'reset')
})

test('a closed port is a connection failure with the error code of the system', async () => {
  const gone = await rawServer()
  await gone.close()
  const answer = await call({ url: `http://127.0.0.1:${gone.port}/` })
  assert.ok(answer.outcome === 'failed')
  assert.deepEqual([answer.error, answer.code, answer.wasSent], ['connect', 'econnrefused', false])
})
