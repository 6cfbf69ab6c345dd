import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { test } from 'node:test'
import { checkAssertion } from '../../../src/auth/oauth/client-assertion.ts'
import { createClientDocuments } from '../../../src/auth/oauth/clients.ts'
import { manualClock } from '../../../src/base/clock.ts'
import { openOutgoing } from '../../../src/base/outgoing/guarded-fetch.ts'
import { atEnd } from '../../support/file-lifecycle.ts'
import { testNoon } from '../../support/world.ts'
import { type Json, oauthWorld, redirectUri } from './oauth-world.ts'

const url = 'https://app.example.com/client.json'
const document = { client_id: url, client_name: 'Claude', redirect_uris: [redirectUri] }

/** Plays the web: returns what is at an address, and counts how often it is read. */
function web(pages: Record<string, Json>) {
  const read: string[] = []
  const call = async ({ url: asked }: { url: string }): Promise<Json> => {
    read.push(asked)
    const page = pages[asked]
    if (page === undefined) return { outcome: 'failed', error: 'connect', code: 'econnrefused', wasSent: false, ms: 1 }
    const { status = 200, headers = {}, body = page } = page.answer ?? {}
    const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
    return {
      outcome: 'answered',
      status,
      headers,
      body: bytes.subarray(0, 16_384),
      isWhole: bytes.length <= 16_384,
      ms: 1,
    }
  }
  return { outgoing: { call }, read, pages }
}

test('a metadata document says who a client is, and is cached as long as its server allows', async () => {
  const clock = manualClock(testNoon)
  const { outgoing, read, pages } = web({
    [url]: { answer: { headers: { 'cache-control': 'max-age=7200' }, body: document } },
  })
  const documents = createClientDocuments(outgoing, clock)
  const client = await documents.read(url)
  assert.deepEqual(client, {
    ...{ id: url, name: 'Claude', redirectUris: [redirectUri], host: 'app.example.com', jwksUri: null },
  })
  clock.advance(7_199_000)
  await documents.read(url)
  assert.equal(read.length, 1)
  clock.advance(2000)
  delete pages[url]
  assert.deepEqual(await documents.read(url), client, 'an unreachable server changes nothing')
  assert.equal(read.length, 2)
})

const refused: [what: string, page: Json, address?: string][] = [
  ['another client_id', { ...document, client_id: 'https://app.example.com/other.json' }],
  ['no redirect_uris', { client_id: url }],
  ['too many redirect_uris', { ...document, redirect_uris: Array(11).fill(redirectUri) }],
  ['a redirect by http', { ...document, redirect_uris: ['http://app.example.com/callback'] }],
  ['a redirect that runs a script', { ...document, redirect_uris: ['javascript://a.example/%0aalert(1)'] }],
  ['a shared secret', { ...document, token_endpoint_auth_method: 'client_secret_basic' }],
  [
    'keys on another origin',
    { ...document, token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'https://evil.example/k' },
  ],
  ['no keys', { ...document, token_endpoint_auth_method: 'private_key_jwt' }],
  ['more than 16 KiB', { ...document, more: 'x'.repeat(16_384) }],
  ['no JSON', { answer: { body: '<html>' } }],
  ['another status', { answer: { status: 302, headers: { location: 'http://169.254.169.254/' }, body: document } }],
  ['a list', [document]],
  ['no path', document, 'https://app.example.com/'],
  ['dots in the path', document, 'https://app.example.com/x/../client.json'],
  ['a user name', document, 'https://user@app.example.com/client.json'],
  ['a fragment', document, 'https://app.example.com/client.json#x'],
  ['upper case', document, 'https://APP.example.com/client.json'],
]

for (const [what, page, address = url] of refused) {
  test(`a metadata document with ${what} is refused`, async () => {
    const { outgoing } = web({ [address]: page })
    const documents = createClientDocuments(outgoing, manualClock(testNoon))
    await assert.rejects(documents.read(address), { code: 'invalid_client' })
  })
}

test('a metadata document is never read from the network of the operator', async () => {
  const outgoing = openOutgoing({ allowCidrs: [], resolve: async () => ['10.0.0.5'] })
  atEnd(async () => outgoing.close())
  const documents = createClientDocuments(outgoing, manualClock(testNoon))
  const targets = [
    'localhost/c.json',
    '127.0.0.1/c.json',
    '[::1]/c.json',
    '169.254.169.254/latest',
    'db.internal/c',
    'a.example/c',
  ]
  for (const target of targets)
    await assert.rejects(documents.read(`https://${target}`), { code: 'invalid_client' }, target)
})

test('what a client says about itself is one short line', async () => {
  const { register } = await oauthWorld()
  const names = {
    'Claude\u202e\u0007\n': 'Claude',
    '  ': 'Unnamed app',
    ['x'.repeat(500)]: 'x'.repeat(60),
    [`${'x'.repeat(59)}😀`]: `${'x'.repeat(59)}\ufffd`,
  }
  for (const [client_name, shown] of Object.entries(names)) {
    const { body } = await register({ client_name, redirect_uris: [redirectUri] })
    assert.equal(body.client_name, shown)
  }
})

test('a registration stores nothing and cannot be altered', async () => {
  const w = await oauthWorld()
  const { status, body } = await w.register({
    ...{ redirect_uris: [redirectUri], grant_types: ['implicit'], token_endpoint_auth_method: 'client_secret_post' },
  })
  const { token_endpoint_auth_method, grant_types, client_secret } = body
  assert.deepEqual(
    [status, token_endpoint_auth_method, grant_types, client_secret],
    [201, 'none', ['authorization_code', 'refresh_token'], undefined],
  )
  const [content = '', digest] = body.client_id.split('.')
  const [name] = JSON.parse(Buffer.from(content, 'base64url').toString())
  const forged = Buffer.from(JSON.stringify([name, 'https://evil.example/'])).toString('base64url')
  for (const id of [`${forged}.${digest}`, content, `${content}.`, `${body.client_id}.x`, 'plk_x', '']) {
    const query = new URLSearchParams({ client_id: id, redirect_uri: 'https://evil.example/' })
    const shown = await w.app.inject({ url: `/api/team/v1/oauth/request?${query}`, headers: w.admin.headers })
    assert.equal(shown.statusCode, 400, id)
  }
  for (const [metadata, error] of [
    [{ redirect_uris: ['http://evil.example/'] }, 'invalid_redirect_uri'],
    [{ redirect_uris: [] }, 'invalid_redirect_uri'],
    [{ redirect_uris: Array(11).fill(redirectUri) }, 'invalid_redirect_uri'],
    [{ client_name: 7, redirect_uris: [redirectUri] }, 'invalid_client_metadata'],
    [{}, 'invalid_redirect_uri'],
  ] as const) {
    const answer = await w.register(metadata)
    assert.deepEqual([answer.status, answer.body.error], [400, error], JSON.stringify(metadata).slice(0, 80))
  }
})

const audience = 'https://parley.example.com/oauth/token'
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const short = generateKeyPairSync('rsa', { modulusLength: 1024 })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const jwkOf = (key: typeof rsa.publicKey, kid: string) => ({ ...key.export({ format: 'jwk' }), kid })
const keys = [jwkOf(rsa.publicKey, 'rsa'), jwkOf(ec.publicKey, 'ec'), jwkOf(short.publicKey, 'short')]
const seconds = testNoon.getTime() / 1000
const right = { iss: url, sub: url, aud: audience, exp: seconds + 300 }
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

function assertionOf(claims: object, head: object = { alg: 'RS256', kid: 'rsa' }, key = rsa.privateKey) {
  const signed = `${part(head)}.${part(claims)}`
  const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' })
  return `${signed}.${signature.toString('base64url')}`
}

const client = {
  id: url,
  name: 'x',
  redirectUris: [],
  host: 'app.example.com',
  jwksUri: 'https://app.example.com/keys',
}
const check = (assertion: string) =>
  checkAssertion({ ...web({ [client.jwksUri]: { keys } }), audiences: [audience] }, client, assertion, testNoon)

test('a client that has keys signs its requests', async () => {
  await check(assertionOf(right))
  await check(assertionOf({ ...right, aud: ['x', audience] }, { alg: 'ES256', kid: 'ec' }, ec.privateKey))
})

const forgeries: [what: string, assertion: string][] = [
  [
    'another key',
    assertionOf(right, { alg: 'ES256', kid: 'ec' }, generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey),
  ],
  ['an unknown key', assertionOf(right, { alg: 'RS256', kid: 'other' })],
  ['a short key', assertionOf(right, { alg: 'RS256', kid: 'short' }, short.privateKey)],
  ['no algorithm', `${part({ alg: 'none' })}.${part(right)}.`],
  ['a symmetric algorithm', assertionOf(right, { alg: 'HS256', kid: 'rsa' })],
  ['the algorithm of another key', assertionOf(right, { alg: 'ES256', kid: 'rsa' })],
  ['a critical extension', assertionOf(right, { alg: 'RS256', kid: 'rsa', crit: ['b64'] })],
  ['another issuer', assertionOf({ ...right, iss: 'https://evil.example/client.json' })],
  ['another subject', assertionOf({ ...right, sub: 'https://evil.example/client.json' })],
  ['another audience', assertionOf({ ...right, aud: 'https://evil.example/oauth/token' })],
  ['no audience', assertionOf({ ...right, aud: undefined })],
  ['an end in the past', assertionOf({ ...right, exp: seconds - 61 })],
  ['an end far away', assertionOf({ ...right, exp: seconds + 86_400 })],
  ['no end', assertionOf({ ...right, exp: undefined })],
  ['a start in the future', assertionOf({ ...right, nbf: seconds + 120 })],
  [
    'other claims than were signed',
    assertionOf(right).replace(/\.[^.]+\./, `.${part({ ...right, exp: seconds + 900 })}.`),
  ],
  ['no JWT', 'x'],
]

for (const [what, assertion] of forgeries) {
  test(`an assertion with ${what} is refused`, () => assert.rejects(check(assertion), { code: 'invalid_client' }))
}
