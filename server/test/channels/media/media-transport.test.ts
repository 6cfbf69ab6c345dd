import assert from 'node:assert/strict'
import { createCipheriv, createHash, createHmac, hkdfSync } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { systemClock } from '../../../src/base/clock.ts'
import type { MediaSource } from '../../../src/channels/channel-event.ts'
import type { Connection } from '../../../src/channels/connection/connection.ts'
import type { FileToUpload, MediaTransport, OpenedMedia } from '../../../src/channels/media-transport.ts'
import { partnerMedia } from '../../../src/channels/partner/adapter.ts'
import { linkedMedia } from '../../../src/channels/unofficial/media.ts'
import { isOfPlatform, wabaMedia } from '../../../src/channels/waba/adapter.ts'
import { partnerAt, sessionAt, wabaAt } from '../../support/channels/connections.ts'
import { atEnd, oncePerFile } from '../../support/file-lifecycle.ts'
import { fileServer } from '../../support/outgoing/file-server.ts'
import { openTestOutgoing } from '../../support/outgoing/outgoing.ts'

const file = Buffer.alloc(200_000, 9)
const sha256 = createHash('sha256').update(file).digest()
const id: MediaSource = { by: 'id', id: '1013859600285441' }
const mediaKey = Buffer.alloc(32, 4)
const linked: Extract<MediaSource, { by: 'linked' }> = {
  by: 'linked',
  type: 'image',
  url: null,
  directPath: '/v/t62.7118-24/1?ccb=11',
  mediaKey: mediaKey.toString('base64'),
  fileEncSha256: null,
}

// Only uploads through the session's holder use the database.
const unused = {} as Pick<Parameters<typeof linkedMedia>[0], 'db' | 'keyStore'>

const setUp = oncePerFile(async () => {
  const server = await fileServer(() => {})
  const outgoing = openTestOutgoing()
  atEnd(async () => {
    outgoing.close()
    await server.close()
  })
  const wire = { outgoing, clock: systemClock }
  return { server, waba: wabaMedia(wire), partner: partnerMedia(wire), session: linkedMedia({ ...wire, ...unused }) }
})

const json = (response: ServerResponse, status: number, body: object) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

/** Returns the description of a file, and the file. */
const serving =
  (place: string, more: object = {}, bytes: (response: ServerResponse) => unknown = (response) => response.end(file)) =>
  ({ url = '' }: IncomingMessage, response: ServerResponse) => {
    if (url.includes('/1013859600285441')) json(response, 200, { url: place, mime_type: 'image/png', ...more })
    else bytes(response)
  }

async function open<C extends Connection>(
  way: MediaTransport<C>,
  connection: C,
  source: MediaSource,
  maxBytes = 1_000_000,
) {
  return way.open(connection, source, maxBytes, new AbortController().signal)
}

async function bytesOf(opened: OpenedMedia): Promise<Buffer> {
  assert.ok(opened.outcome === 'opened', JSON.stringify(opened))
  const pieces: Buffer[] = []
  for await (const piece of opened.bytes) pieces.push(Buffer.from(piece))
  return Buffer.concat(pieces)
}

test("a file's URL is requested from the official platform and downloaded with the token", async () => {
  const { server, waba } = await setUp()
  server.asked.length = 0
  const told = { file_size: String(file.length), sha256: sha256.toString('hex') }
  server.answer = serving(`${server.baseUrl}/files/1?mid=5`, told)
  const opened = await open(waba, wabaAt(server.baseUrl), id)
  assert.ok((await bytesOf(opened)).equals(file))
  assert.partialDeepStrictEqual(opened, {
    size: file.length,
    mimeType: 'image/png',
    sha256: sha256.toString('base64'),
  })
  assert.deepEqual(
    server.asked.map(({ line, authorization }) => [line, authorization]),
    [
      ['GET /v25.0/1013859600285441', 'Bearer the-token'],
      ['GET /files/1?mid=5', 'Bearer the-token'],
    ],
  )
  assert.equal(server.asked[1]?.headers['user-agent'], 'Parley')
})

test('a file on another server is downloaded without the token', async () => {
  const { server, waba } = await setUp()
  const other = await fileServer((_, response) => response.end(file))
  server.answer = serving(`${other.baseUrl}/files/1`)
  assert.ok((await bytesOf(await open(waba, wabaAt(server.baseUrl), id))).equals(file))
  assert.deepEqual(
    other.asked.map(({ authorization }) => authorization),
    [undefined],
  )
  await other.close()
})

const official = 'https://graph.facebook.com'
test('the token is sent only to the platform', () => {
  for (const [base, url, isShown] of [
    [official, 'https://lookaside.fbsbx.com/whatsapp_business/attachments/?mid=1', true],
    [official, 'https://graph.facebook.com/v25.0/1', true],
    [official, 'http://lookaside.fbsbx.com/1', false],
    [official, 'https://lookaside.fbsbx.com:8443/1', false],
    [official, 'https://lookaside.fbsbx.com.example.com/1', false],
    [official, 'https://evilfbsbx.com/1', false],
    ['https://proxy.example.com/graph', 'https://proxy.example.com/files/1', true],
    ['https://proxy.example.com', 'https://lookaside.fbsbx.com/1', false],
    ['https://proxy.example.com', 'https://files.example.com/1', false],
    ['https://proxy.example.com', 'http://proxy.example.com/1', false],
    ['http://graph.facebook.com', 'https://lookaside.fbsbx.com/1', false],
  ] as const) {
    assert.equal(isOfPlatform(base, url), isShown, `${base} ${url}`)
  }
})

test("a partner's files are downloaded from its own host with its key, whatever host it names", async () => {
  const { server, partner } = await setUp()
  server.asked.length = 0
  server.answer = serving('https://lookaside.fbsbx.com/whatsapp_business/attachments/?mid=7')
  assert.ok((await bytesOf(await open(partner, partnerAt(server.baseUrl), id))).equals(file))
  assert.deepEqual(
    server.asked.map(({ line, headers }) => [line, headers['d360-api-key']]),
    [
      ['GET /1013859600285441', 'the-key'],
      ['GET /whatsapp_business/attachments/?mid=7', 'the-key'],
    ],
  )
})

test("a partner's path cannot extend its host name and divert its key", async () => {
  const { server, partner } = await setUp()
  for (const named of ['data:.example.com/1', 'x:.example.com/1', 'javascript:@example.com/1']) {
    server.asked.length = 0
    server.answer = serving(named)
    assert.partialDeepStrictEqual(
      await open(partner, partnerAt(server.baseUrl), id),
      { errorCode: 'no_address' },
      named,
    )
    assert.equal(server.asked.length, 1, 'the file was asked for nowhere')
  }
})

const failed = (errorCode: string, isDown = false) => ({ outcome: 'failed', errorCode, isDown })
const forbidden = { outcome: 'refused', errorCode: 'forbidden_address' }
const unknownObject = { error: { code: 100, error_subcode: 33, message: 'Unsupported get request' } }
const told: [what: string, status: number, body: object, expected: object][] = [
  ['an id that is not known any more', 400, unknownObject, { outcome: 'gone', errorCode: '100' }],
  ['404 for the id', 404, {}, { outcome: 'gone', errorCode: 'http_404' }],
  ['a token that is not taken', 401, { error: { code: 190 } }, failed('190', true)],
  ['a platform that is away', 503, {}, failed('http_503')],
  ['no address', 200, {}, failed('no_address')],
  ['more bytes than are wanted', 200, { url: 'http://a', file_size: 2e6 }, { outcome: 'too_large', size: 2e6 }],
  ['an address within', 200, { url: 'http://10.0.0.1/' }, forbidden],
]
const elsewhere = { location: 'http://169.254.169.254/' }
const served: [what: string, respond: (one: ServerResponse) => unknown, expected: object][] = [
  ['an expired address', (one) => one.writeHead(404).end(), failed('http_404')],
  ['410', (one) => one.writeHead(410).end(), { outcome: 'gone', errorCode: 'http_410' }],
  ['a redirect to a private address', (one) => one.writeHead(302, elsewhere).end(), failed('http_302')],
  [
    'too many bytes',
    (one) => one.writeHead(200, { 'content-length': 2e6 }).write('a'),
    { outcome: 'too_large', size: 2e6 },
  ],
]
test('errors of the platform and of the file server are returned', async () => {
  const { server, waba } = await setUp()
  for (const [what, status, body, expected] of told) {
    server.answer = (_, response) => json(response, status, body)
    assert.deepEqual(await open(waba, wabaAt(server.baseUrl), id), expected, what)
  }
  for (const [what, respond, expected] of served) {
    server.answer = serving(`${server.baseUrl}/files/1`, {}, respond)
    assert.deepEqual(await open(waba, wabaAt(server.baseUrl), id), expected, what)
  }
})

test('an id that would change the path is not requested', async () => {
  const { server, waba, partner } = await setUp()
  server.asked.length = 0
  for (const bad of ['..', '.', '', '1/2', '1?a', '1#', ' ', 'é', 'a'.repeat(500)]) {
    const source: MediaSource = { by: 'id', id: bad }
    const refused = { outcome: 'refused', errorCode: 'invalid_id' }
    assert.deepEqual(await open(waba, wabaAt(server.baseUrl), source), refused, bad)
    assert.deepEqual(await open(partner, partnerAt(server.baseUrl), source), refused, bad)
  }
  assert.equal(server.asked.length, 0)
})

/** A file as stored by the network of linked devices. */
function encryptForDevice(plain: Buffer, ofKey: Buffer, purpose: string): Buffer {
  const keys = Buffer.from(hkdfSync('sha256', ofKey, '', `WhatsApp ${purpose} Keys`, 112))
  const [iv, key, mac] = [keys.subarray(0, 16), keys.subarray(16, 48), keys.subarray(48, 80)]
  const cipher = createCipheriv('aes-256-cbc', key, iv)
  const encrypted = Buffer.concat([cipher.update(plain), cipher.final()])
  const digest = createHmac('sha256', mac).update(iv).update(encrypted).digest().subarray(0, 10)
  return Buffer.concat([encrypted, digest])
}

test("a linked device's file is decrypted with the key in its message", async () => {
  const { server, session } = await setUp()
  for (const [type, purpose] of [
    ['image', 'Image'],
    ['sticker', 'Image'],
    ['ptt', 'Audio'],
    ['video', 'Video'],
    ['document', 'Document'],
  ] as const) {
    for (const size of [0, 1, 15, 16, 200_000]) {
      const plain = file.subarray(0, size)
      server.answer = (_, response) => response.end(encryptForDevice(plain, mediaKey, purpose))
      const opened = await open(session, sessionAt(server.baseUrl), { ...linked, type })
      assert.ok((await bytesOf(opened)).equals(plain), `${type} ${size}`)
    }
  }
  assert.equal(server.asked.at(-1)?.line, `GET ${linked.directPath}`)
  assert.equal(server.asked.at(-1)?.headers['user-agent'], 'Parley')
})

test('an altered, truncated or exchanged file of a linked device fails', async () => {
  const { server, session } = await setUp()
  const sealed = encryptForDevice(file.subarray(0, 1000), mediaKey, 'Image')
  const altered = Buffer.from(sealed)
  altered[500] = (altered[500] ?? 0) ^ 1
  for (const bad of [
    altered,
    sealed.subarray(0, -1),
    sealed.subarray(0, 5),
    encryptForDevice(file, file.subarray(0, 32), 'Image'),
  ]) {
    server.answer = (_, response) => response.end(bad)
    const opened = await open(session, sessionAt(server.baseUrl), linked)
    await assert.rejects(() => bytesOf(opened), { name: 'Error' })
  }
  server.answer = (_, response) => response.end(sealed)
  assert.equal((await open(session, sessionAt(server.baseUrl), linked, 900)).outcome, 'too_large')
  // Padding hides a few bytes beyond the limit until the end.
  const slightly = await open(session, sessionAt(server.baseUrl), linked, 999)
  await assert.rejects(() => bytesOf(slightly), { code: 'too_large' })
})

test('a linked device does not download from hosts named in a message', async () => {
  const { server, session } = await setUp()
  server.asked.length = 0
  const bad: Partial<typeof linked>[] = [
    { directPath: '@evil.example.com/a' },
    { directPath: '//evil.example.com/a' },
    { directPath: null, url: 'https://evil.example.com/whatsapp.net' },
    { directPath: null, url: 'http://mmg.whatsapp.net/a' },
    { directPath: null, url: null },
    { mediaKey: 'short' },
    { type: 'md-app-state' },
  ]
  for (const part of bad) {
    const refused = { outcome: 'refused', errorCode: 'invalid_source' }
    assert.deepEqual(await open(session, sessionAt(null), { ...linked, ...part }), refused, JSON.stringify(part))
  }
  assert.equal(server.asked.length, 0)
})

const upload = (name: string): FileToUpload => ({
  ...{ id: 'a file', kind: 'image', mimeType: 'image/png', name, size: file.length, seconds: null, waveform: null },
  bytes: async function* () {
    yield file.subarray(0, 70_000)
    yield file.subarray(70_000)
  },
})

for (const [channel, path] of [
  ['waba', '/v25.0/106540352242922/media'],
  ['partner', '/media'],
] as const) {
  test(`${channel}: an upload is a form with the file, and its id comes back`, async () => {
    const { server, waba, partner } = await setUp()
    let form = Buffer.alloc(0)
    server.answer = async (incoming, response) => {
      form = await buffer(incoming)
      json(response, 200, { id: '4490709327384033' })
    }
    const { signal } = new AbortController()
    const taken =
      channel === 'waba'
        ? await waba.upload(wabaAt(server.baseUrl), upload('a "b".png'), signal)
        : await partner.upload(partnerAt(server.baseUrl), upload('a "b".png'), signal)
    assert.ok(taken.outcome === 'taken', JSON.stringify(taken))
    assert.equal(taken.platformId, '4490709327384033')
    const { line, headers } = server.asked.at(-1) ?? assert.fail()
    assert.equal(line, `POST ${path}`)
    const read = await new Response(form, { headers: { 'content-type': String(headers['content-type']) } }).formData()
    assert.deepEqual([read.get('messaging_product'), read.get('type')], ['whatsapp', 'image/png'])
    const sent = read.get('file')
    assert.ok(sent instanceof File)
    assert.deepEqual([sent.name, sent.type], ['a "b".png', 'image/png'])
    assert.ok(Buffer.from(await sent.arrayBuffer()).equals(file))
  })
}

test('a rejected upload is reported', async () => {
  const { server, waba } = await setUp()
  for (const [status, body, expected] of [
    [400, { error: { code: 131053 } }, { outcome: 'refused', errorCode: '131053' }],
    [401, { error: { code: 190 } }, failed('190', true)],
    [500, {}, failed('http_500')],
    [200, {}, failed('no_media_id')],
  ] as const) {
    server.answer = (incoming, response) => {
      incoming.on('end', () => json(response, status, body)).resume()
    }
    assert.deepEqual(await waba.upload(wabaAt(server.baseUrl), upload('a'), new AbortController().signal), expected)
  }
})
