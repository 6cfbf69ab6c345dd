import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { after, test } from 'node:test'
import { openOutgoing, type StreamAnswer, type StreamRequest } from '../../../src/base/outgoing/guarded-fetch.ts'
import { StreamEnded } from '../../../src/base/outgoing/stream.ts'
import { endless, fileServer } from '../../support/outgoing/file-server.ts'
import { assertFailure } from '../../support/outgoing/outgoing.ts'
import { until } from '../../support/until.ts'

const server = await fileServer((_, response) => response.end('hello'))
const outgoing = openOutgoing({ allowCidrs: ['127.0.0.0/8'], resolve: async () => ['10.0.0.1'] })
after(async () => {
  outgoing.close()
  await server.close()
})

const request = (more: Partial<StreamRequest> = {}): StreamRequest => ({
  method: 'GET',
  url: `${server.baseUrl}/file`,
  headers: {},
  body: null,
  idleTimeoutMs: 5_000,
  maxAnswerBytes: 1_000_000,
  signal: new AbortController().signal,
  ...more,
})

async function open(more: Partial<StreamRequest> = {}) {
  const answer = await outgoing.stream(request(more))
  assert.ok(answer.outcome === 'answered', JSON.stringify(answer))
  return answer
}

async function read(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of bytes) pieces.push(Buffer.from(piece))
  return Buffer.concat(pieces)
}

async function endOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  try {
    await read(bytes)
    return 'whole'
  } catch (error) {
    assert.ok(error instanceof StreamEnded, String(error))
    return error.code
  }
}

test('a file arrives in chunks with its head, and the connection is reused', async () => {
  const file = Buffer.alloc(300_000, 3)
  const sockets = new Set<unknown>()
  server.answer = (incoming, response) => {
    sockets.add(incoming.socket)
    response.setHeader('content-type', 'image/png').end(file)
  }
  for (let n = 0; n < 2; n++) {
    const answer = await open()
    assert.deepEqual([answer.status, answer.headers['content-type']], [200, 'image/png'])
    assert.ok((await read(answer.bytes)).equals(file))
  }
  assert.equal(sockets.size, 1)
})

test('an endless response is aborted at the size limit and read with backpressure', async () => {
  let count = { written: 0 }
  server.answer = (_, response) => {
    count = endless(response)
  }
  const answer = await open({ maxAnswerBytes: 50_000_000 })
  const first = await answer.bytes.next()
  assert.ok(first.done !== true)
  let before = -1
  // The server stops when the buffers between the two sides are full.
  await until(async () => {
    const isSame = count.written === before
    before = count.written
    await new Promise((resolve) => setImmediate(resolve))
    return isSame
  }, 'the other side waiting')
  assert.ok(count.written < 20_000_000, `${count.written} bytes were taken that nobody read`)
  assert.equal(await endOf(answer.bytes), 'too_large')
})

test('silence aborts a response: before the head, and between two chunks', async () => {
  server.answer = () => {}
  const none = await streamInTime((answer) => answer.outcome === 'failed' && !answer.wasSent)
  assert.deepEqual(assertFailure(none), ['timeout', true])
  server.answer = (_, response) => response.writeHead(200, { 'content-length': 100 }).write('some')
  const answer = await streamInTime(({ outcome }) => outcome === 'failed')
  assert.ok(answer.outcome === 'answered')
  assert.equal(answer.length, 100)
  assert.equal(await endOf(answer.bytes), 'silent')
})

/** Repeats a test with a longer timeout: on a busy machine a short silence means nothing. */
async function streamInTime(isTooShort: (answer: StreamAnswer) => boolean): Promise<StreamAnswer> {
  for (let idleTimeoutMs = 50; ; idleTimeoutMs *= 4) {
    const answer = await outgoing.stream(request({ idleTimeoutMs }))
    if (!isTooShort(answer) || idleTimeoutMs > 10_000) return answer
  }
}

test('a trickle, which is never silent, also aborts a response', async () => {
  server.answer = (_, response) => {
    const timer = setInterval(() => response.write('a'), 2)
    response.on('close', () => clearInterval(timer))
  }
  assert.equal(await endOf((await open({ slowAfterMs: 20 })).bytes), 'slow')
})

test('a truncated file is not complete', async () => {
  server.answer = (_, response) => {
    response.writeHead(200, { 'content-length': 100 })
    response.write('some', () => response.destroy())
  }
  assert.equal(await endOf((await open()).bytes), 'reset')
})

test('a stream ends at once when it is aborted', async () => {
  server.answer = (_, response) => response.writeHead(200).write('some')
  const calling = new AbortController()
  const answer = await open({ signal: calling.signal })
  await answer.bytes.next()
  calling.abort()
  assert.equal(await endOf(answer.bytes), 'aborted')
  const late = await outgoing.stream(request({ signal: calling.signal }))
  assert.equal(late.outcome, 'failed')
})

test('a reader that stops releases the connection, even if everything has arrived', async () => {
  const sockets: Socket[] = []
  server.answer = (incoming, response) => {
    sockets.push(incoming.socket)
    response.end('hello')
  }
  for (let n = 0; n < 5; n++) {
    for await (const piece of (await open()).bytes) {
      assert.equal(piece.length, 5)
      break
    }
  }
  // A connection may be returned just after the next call has started.
  const left = () => new Set(sockets.filter(({ destroyed }) => !destroyed)).size
  await until(() => left() <= 2, 'the end of the others, or their next use')
})

test('a redirect is returned as a response and not followed', async () => {
  server.asked.length = 0
  server.answer = (_, response) => response.writeHead(302, { location: `${server.baseUrl}/inner` }).end()
  const answer = await open()
  assert.equal(answer.status, 302)
  answer.cancel()
  assert.equal(server.asked.length, 1)
})

test('streams reach the same addresses as calls', async () => {
  for (const url of ['https://files.example.com/a', 'http://10.0.0.1/a', 'https://169.254.169.254/', 'ftp://a.b/c']) {
    const answer = await outgoing.stream(request({ url }))
    assert.ok(answer.outcome === 'failed', url)
    assert.match(answer.error, /^(?:forbidden|invalid)_address$/, url)
    assert.equal(answer.wasSent, false)
  }
})

test('a body is sent in chunks with its length, and the response is returned', async () => {
  const piece = Buffer.alloc(60_000, 5)
  async function* bytes() {
    for (let n = 0; n < 20; n++) yield piece
  }
  let got = 0
  server.answer = (incoming, response) => {
    incoming.on('data', (chunk: Buffer) => {
      got += chunk.length
    })
    incoming.on('end', () => response.end('{"id":"1"}'))
  }
  const body = { bytes: bytes(), length: 20 * piece.length }
  const answer = await open({ method: 'POST', headers: { 'content-type': 'application/octet-stream' }, body })
  assert.equal((await read(answer.bytes)).toString(), '{"id":"1"}')
  assert.equal(got, 20 * piece.length)
  assert.equal(server.asked.at(-1)?.headers['content-length'], String(got))
})

test('a body that is shorter or longer than its length never looks complete to the server', async () => {
  let ended = 0
  server.answer = (incoming, response) => {
    incoming.on('error', () => {})
    incoming.on('end', () => {
      ended++
      response.end()
    })
    incoming.resume()
  }
  async function* five() {
    yield Buffer.from('12345')
  }
  for (const length of [3, 9]) {
    const answer = await outgoing.stream(request({ method: 'POST', body: { bytes: five(), length } }))
    assert.equal(answer.outcome, 'failed', String(length))
  }
  assert.equal(ended, 0)
})
