import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { Type } from 'typebox'
import type { App } from '../../../src/base/route.ts'
import { serveHealth, startDraining } from '../../../src/http/monitoring/health.ts'
import { servedAt, testServer } from '../../support/http.ts'
import { exchange, listen, parseAnswers } from '../../support/wire/raw-http.ts'

const host = 'Host: localhost\r\n'

const serveEcho = (app: App) =>
  app.post('/echo', { schema: { body: Type.Object({}) } }, async (request) => request.body)

/** A route that responds when it is released. */
function slowRoute() {
  const [started, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const serve = (app: App) =>
    app.get('/slow', async () => {
      started.resolve()
      await released.promise
      return { done: true }
    })
  return { serve, started: started.promise, release: released.resolve }
}

test('malformed HTTP gets an error in the common format', async () => {
  const { port } = await servedAt(serveEcho)
  const rows: [name: string, bytes: string, statusCode: number][] = [
    ['garbage', '\x16\x03\x01\x02\x00\x01\x00\r\n\r\n', 400],
    ['unknown method', `FOO / HTTP/1.1\r\n${host}\r\n`, 400],
    ['bad header', `GET / HTTP/1.1\r\n${host}bad header\r\n\r\n`, 400],
    ['no host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['two lengths', `POST /echo HTTP/1.1\r\n${host}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`, 400],
    [
      'length and chunks',
      `POST /echo HTTP/1.1\r\n${host}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\na`,
      400,
    ],
    [
      'bad chunk',
      `POST /echo HTTP/1.1\r\n${host}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
      400,
    ],
    ['huge head', `GET /?${'a'.repeat(140_000)} HTTP/1.1\r\n${host}\r\n`, 431],
    ['long address', `GET /${'%C3%A9'.repeat(10_000)} HTTP/1.1\r\n${host}Connection: close\r\n\r\n`, 404],
    ['unknown expectation', `GET / HTTP/1.1\r\n${host}Expect: wonders\r\nConnection: close\r\n\r\n`, 404],
    ['bytes in the address', `GET /\xff\xfe HTTP/1.1\r\n${host}\r\n`, 400],
    ['any address', `OPTIONS * HTTP/1.1\r\n${host}Connection: close\r\n\r\n`, 404],
    ['full address', `GET http://localhost/ HTTP/1.1\r\n${host}Connection: close\r\n\r\n`, 404],
  ]
  for (const [name, bytes, statusCode] of rows) {
    const [answer] = await exchange(port, bytes)
    assert.equal(answer?.statusCode, statusCode, name)
    const body = JSON.parse(answer.body)
    assert.deepEqual([body.statusCode, typeof body.statusMessage], [statusCode, 'string'], name)
    assert.match(answer.headers['x-request-id'] ?? '', /^[0-9a-f-]{36}$/, name)
    assert.equal(answer.headers['x-content-type-options'], 'nosniff', name)
  }
})

test('a body over 1 MiB gets 413 while it is still being sent', async () => {
  const { port } = await servedAt(serveEcho)
  const headers = { 'content-type': 'application/json' }
  for (const megabytes of [2, 8]) {
    const body = `{"a":"${'a'.repeat(megabytes * 1024 * 1024)}"}`
    for (let attempt = 0; attempt < 3; attempt++) {
      const answer = await fetch(`http://127.0.0.1:${port}/echo`, { method: 'POST', headers, body })
      assert.equal(answer.status, 413)
      assert.equal(await answer.text(), '{"statusCode":413,"statusMessage":"Body is larger than 1 MiB"}')
    }
  }
})

test('closing finishes running requests, refuses new ones and closes connections', async () => {
  const { serve, started, release } = slowRoute()
  const { app, port } = await servedAt((one) => {
    serveHealth(one, async () => {})
    serve(one)
  })
  const [busy, pipelined] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')]
  await Promise.all([once(busy, 'connect'), once(pipelined, 'connect')])
  busy.write(`GET /slow HTTP/1.1\r\n${host}\r\n`)
  await started
  // A connection with a partial request is not idle, so it is open when the server closes.
  pipelined.write(`GET /readyz HTTP/1.1\r\n${host}`)
  await fetch(`http://127.0.0.1:${port}/healthz`)

  const closed = app.close()
  await new Promise((resolve) => setImmediate(resolve))
  pipelined.write('\r\n')
  const [refused] = parseAnswers(await text(pipelined))
  assert.equal(refused?.statusCode, 503)
  assert.deepEqual(JSON.parse(refused.body).data, { code: 'DRAINING' })
  assert.equal(refused.headers.connection, 'close')
  await assert.rejects(fetch(`http://127.0.0.1:${port}/healthz`))

  release()
  const [answer] = parseAnswers(await text(busy))
  assert.deepEqual([answer?.statusCode, answer?.headers.connection], [200, 'close'])
  assert.deepEqual(JSON.parse(answer?.body ?? ''), { done: true })
  await closed
})

test('draining serves requests, closes their connections, and fails readiness only', async () => {
  const { serve, started, release } = slowRoute()
  const { app, port } = await servedAt((one) => {
    serveHealth(one, async () => {})
    serve(one)
    one.get('/written', (_request, reply) => {
      reply.hijack()
      reply.raw.writeHead(200, { 'content-length': 2 }).end('{}')
    })
  })
  const busy = connect(port, '127.0.0.1')
  busy.write(`GET /slow HTTP/1.1\r\n${host}\r\n`)
  await started
  const before = await fetch(`http://127.0.0.1:${port}/readyz`)
  assert.deepEqual([before.status, before.headers.get('connection')], [200, 'keep-alive'])

  startDraining(app)
  const rows: [path: string, statusCode: number][] = [
    ['/readyz', 503],
    ['/healthz', 200],
    ['/written', 200],
    ['/nowhere', 404],
  ]
  for (const [path, statusCode] of rows) {
    // Reads until the server closes the connection.
    const [answer] = await exchange(port, `GET ${path} HTTP/1.1\r\n${host}\r\n`)
    assert.deepEqual([answer?.statusCode, answer?.headers.connection], [statusCode, 'close'], path)
    if (path === '/readyz') assert.deepEqual(JSON.parse(answer?.body ?? '').data, { code: 'DRAINING' })
  }
  release()
  const [answer] = parseAnswers(await text(busy))
  assert.deepEqual([answer?.statusCode, answer?.headers.connection], [200, 'close'])
  await app.close()
})

test('a disconnect during the body is not mistaken for an unavailable database', async () => {
  const { app, lines } = testServer()
  serveEcho(app)
  const { promise: seen, resolve: see } = Promise.withResolvers<void>()
  const { promise: answered, resolve: answer } = Promise.withResolvers<number>()
  app.addHook('preParsing', async () => see())
  app.addHook('onError', async (_request, reply) => answer(reply.statusCode))
  const socket = connect(await listen(app), '127.0.0.1')
  socket.write(`POST /echo HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"a"`)
  await seen
  socket.destroy()
  await answered
  await app.close()
  assert.ok(!lines.some((line) => /"level":"(?:warn|error)"/.test(line)))
})

test('a body that does not arrive in time gets 408, except files', async () => {
  const { app } = testServer({ bodyTimeoutMs: 30 })
  app.addContentTypeParser('application/octet-stream', (_request, body, done) => done(null, body))
  serveEcho(app)
  app.post('/file', { config: { takesFiles: true } }, async (request) => ({ file: await text(request.raw) }))
  const port = await listen(app)
  const half = (path: string) =>
    `POST ${path} HTTP/1.1\r\n${host}Connection: close\r\nContent-Type: application/octet-stream\r\nContent-Length: 4\r\n\r\n{"`
  const file = connect(port, '127.0.0.1')
  file.write(half('/file'))
  const [late] = await exchange(port, half('/echo').replace('octet-stream', 'json'))
  assert.equal(late?.statusCode, 408)
  assert.equal(JSON.parse(late.body).statusMessage, 'The request took too long to arrive')
  file.write('"}')
  const [kept] = parseAnswers(await text(file))
  assert.deepEqual([kept?.statusCode, kept?.body], [200, '{"file":"{\\"\\"}"}'])
})

test('a streamed body must arrive in time too', async () => {
  const { app } = testServer({ bodyTimeoutMs: 50 })
  app.addContentTypeParser('application/octet-stream', (_request, body, done) => done(null, body))
  const { promise: held, resolve: goOn } = Promise.withResolvers<void>()
  app.post('/stream', async (request) => {
    const size = (await text(request.raw)).length
    await held
    return { size }
  })
  const port = await listen(app)
  const head = `POST /stream HTTP/1.1\r\n${host}Connection: close\r\nContent-Type: application/octet-stream\r\nContent-Length: 4\r\n\r\n`
  const whole = exchange(port, `${head}four`)
  const [late] = await exchange(port, `${head}tw`)
  assert.equal(late?.statusCode, 408)
  // The deadline of the complete request started first, so it has passed.
  goOn()
  const [kept] = await whole
  assert.deepEqual([kept?.statusCode, kept?.body], [200, '{"size":4}'])
})

test('a request refused before its body has arrived loses its connection in time', async () => {
  const { app } = testServer({ bodyTimeoutMs: 40 })
  app.addHook('onRequest', async (_request, reply) => reply.code(401).send({ success: false }))
  app.post('/json', () => ({}))
  app.post('/file', { config: { takesFiles: true } }, () => ({}))
  const port = await listen(app)
  for (const path of ['/json', '/file']) {
    const socket = connect(port, '127.0.0.1')
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.on('error', () => {})
    socket.write(`POST ${path} HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n{`)
    const [answer] = await once(socket, 'data')
    assert.match(String(answer), /^HTTP\/1\.1 401/)
    const drip = setInterval(() => socket.write(' '), 5)
    await closed
    clearInterval(drip)
  }
})
