import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { brotliDecompressSync, createGunzip, gunzipSync } from 'node:zlib'
import type { App } from '../../../src/base/route.ts'
import { servedAt } from '../../support/http.ts'

const text = JSON.stringify({ text: 'The order has not arrived yet. '.repeat(100) })
const json = 'application/json; charset=utf-8'

const readers: Record<string, (body: Buffer) => Buffer> = { br: brotliDecompressSync, gzip: gunzipSync }
const plain = (body: Buffer, encoding: unknown) => (readers[String(encoding)] ?? ((same) => same))(body).toString()

interface Received {
  status: number | undefined
  headers: IncomingMessage['headers']
  body: Buffer
}

async function ask(
  port: number,
  path: string,
  encoding?: string,
  { method = 'GET', accept = '*/*' } = {},
): Promise<Received> {
  const headers = { accept, ...(encoding === undefined ? {} : { 'accept-encoding': encoding }) }
  const request = get({ port, path, headers, agent: false, method })
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  return { status: answer.statusCode, headers: answer.headers, body: await buffer(answer) }
}

const serveLong = (app: App) => app.get('/long', (_request, reply) => reply.type(json).send(text))

/** A route that streams these chunks. */
const serveStream = (path: string, pieces: () => Iterable<string> | AsyncIterable<string>) => (app: App) =>
  app.get(path, (_request, reply) => reply.type('text/csv').send(Readable.from(pieces())))

/** Returns the start of the response for a client that accepts gzip. */
async function begin(port: number, path: string): Promise<IncomingMessage> {
  const request = get({ port, path, headers: { 'accept-encoding': 'gzip' }, agent: false })
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  return answer
}

/** Lines with some variation. */
const linesOf = (n: number) => `${n},${(n * 2_654_435_761) % 4_294_967_296}\n`

test('responses are compressed in an accepted encoding, or not at all', async () => {
  const { port } = await servedAt(serveLong)
  const rows: [accepted: string | undefined, encoding: string | undefined][] = [
    [undefined, undefined],
    ['', undefined],
    ['identity', undefined],
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['GZIP;Q=0.5', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['deflate, zstd', undefined],
    ['*', 'gzip'],
    ['*;q=0', undefined],
    ['identity;q=0, *;q=0', undefined],
    ['gzip;q=0, *', undefined],
    ['br;q=0.000, gzip', 'gzip'],
    ['br ; q=0, *', 'gzip'],
    ['gzip;q=', 'gzip'],
    [';;,,;q=1,=', undefined],
    ['gzip;'.repeat(2000), 'gzip'],
    ['a,'.repeat(6000), undefined],
  ]
  for (const [accepted, encoding] of rows) {
    const { status, headers, body } = await ask(port, '/long', accepted)
    const label = String(accepted).slice(0, 40)
    assert.equal(status, 200, label)
    assert.equal(headers['content-encoding'], encoding, label)
    assert.equal(headers.vary, 'accept-encoding', label)
    assert.equal(headers['content-length'], String(body.length), label)
    assert.equal(headers['content-type'], json, label)
    assert.equal(plain(body, encoding), text, label)
    assert.equal(headers['x-padding'] === undefined, encoding === undefined, label)
  }
})

test('responses from 1 KB on are compressed, counted in bytes', async () => {
  const rows: [body: string, isCompressed: boolean][] = [
    ['x'.repeat(1023), false],
    ['x'.repeat(1024), true],
    ['é'.repeat(511), false],
    ['é'.repeat(512), true],
    ['x'.repeat(128 * 1024), true],
    ['x'.repeat(128 * 1024 + 1), true],
    ['日'.repeat(100_000), true],
  ]
  const { port } = await servedAt((app) => {
    app.get('/none', (_request, reply) => reply.code(204).send())
    for (const [n, [body]] of rows.entries()) app.get(`/${n}`, (_request, reply) => reply.type('text/plain').send(body))
  })
  for (const [n, [body, isCompressed]] of rows.entries()) {
    for (const encoding of ['br', 'gzip']) {
      const answer = await ask(port, `/${n}`, encoding)
      assert.equal(answer.headers['content-encoding'], isCompressed ? encoding : undefined, `${n} ${encoding}`)
      assert.equal(answer.headers.vary, isCompressed ? 'accept-encoding' : undefined)
      assert.ok(plain(answer.body, answer.headers['content-encoding']) === body, `${n} ${encoding}`)
    }
  }
  const none = await ask(port, '/none', 'gzip')
  assert.deepEqual([none.status, none.body.length, none.headers.vary], [204, 0, undefined])
})

test('textual responses are compressed; event streams, images and prepared responses are not', async () => {
  const rows: [headers: Record<string, string>, isCompressed: boolean][] = [
    [{ 'content-type': json }, true],
    [{ 'content-type': 'application/problem+json' }, true],
    [{ 'content-type': 'text/markdown' }, true],
    [{ 'content-type': 'text/csv; charset=utf-8' }, true],
    [{ 'content-type': 'application/x-ndjson' }, true],
    [{ 'content-type': 'image/svg+xml' }, true],
    [{ 'content-type': 'text/event-stream' }, false],
    [{ 'content-type': 'text/event-stream; charset=utf-8' }, false],
    [{ 'content-type': 'image/png' }, false],
    [{ 'content-type': 'application/octet-stream' }, false],
    [{ 'content-type': json, etag: '"1"' }, false],
    [{ 'content-type': json, 'content-encoding': 'gzip' }, false],
    [{ 'content-type': 'text/plain', 'content-range': 'bytes 0-2999/9000' }, false],
  ]
  const { port } = await servedAt((app) => {
    for (const [n, [headers]] of rows.entries()) {
      app.get(`/${n}`, (_request, reply) => reply.headers(headers).send(Buffer.from(text)))
      app.get(`/stream/${n}`, (_request, reply) => reply.headers(headers).send(Readable.from([Buffer.from(text)])))
    }
  })
  for (const [n, [headers, isCompressed]] of rows.entries()) {
    for (const path of [`/${n}`, `/stream/${n}`]) {
      const answer = await ask(port, path, 'br')
      const label = `${path} ${JSON.stringify(headers)}`
      assert.equal(answer.headers['content-encoding'], isCompressed ? 'br' : headers['content-encoding'], label)
      assert.equal(plain(answer.body, isCompressed ? 'br' : 'identity'), text, label)
      assert.equal(answer.headers.etag, headers.etag)
    }
  }
})

test('hijacked responses and those with tokens are not compressed', async () => {
  const { port } = await servedAt((app) => {
    app.get('/token', { config: { repeatsToken: true } }, (_request, reply) => reply.type(json).send(text))
    app.get('/live', (_request, reply) => {
      reply.hijack()
      reply.raw.writeHead(200, { 'content-type': 'text/event-stream' }).end(text)
    })
  })
  for (const path of ['/live', '/token']) {
    const { headers, body } = await ask(port, path, 'gzip, br')
    assert.deepEqual([headers['content-encoding'], body.toString()], [undefined, text], path)
  }
})

test('a JSON Response object is compressed and keeps status and headers', async () => {
  const rows: Record<string, () => Response> = {
    '/long': () => new Response(text, { status: 201, headers: { 'content-type': 'application/json', 'x-own': '1' } }),
    '/short': () => Response.json({ ok: true }, { status: 202 }),
    '/events': () => new Response(text, { headers: { 'content-type': 'text/event-stream' } }),
    '/nothing': () => new Response(null, { status: 202 }),
    '/fails': () => new Response(brokenBody(), { headers: { 'content-type': 'application/json' } }),
  }
  const { port } = await servedAt((app) => {
    for (const [path, make] of Object.entries(rows)) app.get(path, (_request, reply) => reply.send(make()))
  })
  const seen = Object.fromEntries(
    await Promise.all(
      Object.keys(rows).map(async (path) => {
        const { status, headers, body } = await ask(port, path, 'gzip')
        const encoding = headers['content-encoding']
        return [path, [status, encoding, headers['x-own'], plain(body, encoding)]]
      }),
    ),
  )
  assert.deepEqual(seen['/long'], [201, 'gzip', '1', text])
  assert.deepEqual(seen['/short'], [202, undefined, undefined, '{"ok":true}'])
  assert.deepEqual(seen['/events'], [200, undefined, undefined, text])
  assert.deepEqual(seen['/nothing'], [202, undefined, undefined, ''])
  assert.deepEqual(seen['/fails'].slice(0, 3), [500, undefined, undefined])
})

const brokenBody = () =>
  new ReadableStream({
    pull: () => {
      throw new Error('broke off')
    },
  })

test('error responses are compressed too', async () => {
  const { lines, port } = await servedAt((app) =>
    app.register(async (scope) => {
      scope.setErrorHandler((_error, _request, reply) => reply.code(418).type(json).send(text))
      scope.get('/fails', async () => {
        throw new Error('failed')
      })
    }),
  )
  const failed = await ask(port, '/fails', 'gzip')
  assert.deepEqual([failed.status, failed.headers['content-encoding']], [418, 'gzip'])
  assert.equal(plain(failed.body, 'gzip'), text)
  const lost = await ask(port, '/nowhere', 'br', { accept: 'text/html' })
  assert.deepEqual([lost.status, lost.headers['content-encoding']], [404, 'br'])
  assert.match(plain(lost.body, 'br'), /^<!doctype html>[\s\S]*<\/html>\n$/)
  assert.equal(lines.filter((line) => line.includes('"error"')).length, 0)
})

test('HEAD has the headers of GET, and all encodings have equal content', async () => {
  const keys = Array.from({ length: 1000 }, (_, n) => [`key ${n} ☎`, { n, odd: n % 2 === 1, of: [String(n * 7919)] }])
  const value = Object.fromEntries(keys)
  const { port } = await servedAt((app) => app.get('/keys', { exposeHeadRoute: true }, async () => value))
  for (const encoding of ['gzip', 'br', 'identity']) {
    const [head, whole] = [await ask(port, '/keys', encoding, { method: 'HEAD' }), await ask(port, '/keys', encoding)]
    assert.deepEqual(JSON.parse(plain(whole.body, encoding)), value)
    assert.equal(head.body.length, 0)
    for (const name of ['content-encoding', 'content-length', 'content-type', 'vary'] as const) {
      assert.equal(head.headers[name], whole.headers[name], `${encoding} ${name}`)
    }
  }
})

test('streams are flushed per chunk', async () => {
  const goOn = Promise.withResolvers<void>()
  const slow = serveStream('/slow', async function* () {
    yield 'a,b\n'
    await goOn.promise
    yield '1,2\n'
  })
  const { port } = await servedAt(slow)
  const pieces = (await begin(port, '/slow')).pipe(createGunzip())
  assert.equal(String((await once(pieces, 'data'))[0]), 'a,b\n')
  goOn.resolve()
  assert.equal(String(await buffer(pieces)), '1,2\n')
})

test('an aborted stream never looks complete', async () => {
  const pieces = Array.from({ length: 50 }, (_, n) => linesOf(n).repeat(1000))
  const broken = serveStream('/broken', function* () {
    yield* pieces
    throw new Error('the database went away')
  })
  const { port } = await servedAt((app) => {
    app.get('/whole', (_request, reply) =>
      reply.type('text/csv').header('content-length', '5').send(Readable.from(pieces)),
    )
    broken(app)
  })
  for (const encoding of ['gzip', 'br']) {
    const whole = await ask(port, '/whole', encoding)
    assert.equal(whole.headers['content-encoding'], encoding)
    assert.equal(plain(whole.body, encoding), pieces.join(''))
    await assert.rejects(ask(port, '/broken', encoding), { code: 'ECONNRESET' })
  }
})

test('a stream that fails before its first byte becomes a readable error', async () => {
  // biome-ignore lint/correctness/useYield: it fails before.
  const fails = serveStream('/fails', function* () {
    throw new Error('the database went away')
  })
  const { port } = await servedAt(fails)
  for (const encoding of ['gzip', 'br', 'identity']) {
    const { status, headers, body } = await ask(port, '/fails', encoding)
    assert.deepEqual([status, headers['content-encoding'], headers['x-padding']], [500, undefined, undefined], encoding)
    assert.equal(JSON.parse(body.toString()).statusMessage, 'Internal error')
  }
})

test('a disconnect destroys the source', async () => {
  const ended = Promise.withResolvers<void>()
  const endless = serveStream('/endless', function* () {
    try {
      for (let n = 0; ; n++) yield linesOf(n).repeat(100)
    } finally {
      ended.resolve()
    }
  })
  const { port } = await servedAt(endless)
  const answer = await begin(port, '/endless')
  await once(answer, 'data')
  answer.destroy()
  await ended.promise
})

test('padding hides the exact length of responses', async () => {
  const { port } = await servedAt(serveLong)
  const paddings = new Set<string>()
  for (let n = 0; n < 40; n++) paddings.add(String((await ask(port, '/long', 'gzip')).headers['x-padding']))
  const lengths = new Set([...paddings].map((padding) => padding.length))
  assert.ok(lengths.size > 10, `${lengths.size} lengths`)
  assert.ok([...paddings].every((padding) => /^[\w-]{1,128}$/.test(padding)))
  assert.ok(paddings.size > 30, 'what repeats is short in HTTP/2')
})
