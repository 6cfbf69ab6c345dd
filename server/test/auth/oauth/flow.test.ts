import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { test } from 'node:test'
import { UnauthorizedError } from '@modelcontextprotocol/client'
import { servesOAuth } from '../../../src/auth/oauth/redirects.ts'
import { textOf } from '../../support/agents/mcp-client.ts'
import { pick } from '../../support/pick.ts'
import { servedApp } from '../../support/world.ts'
import {
  fetchOf,
  type Json,
  newClient,
  oauthWorld,
  program,
  redirectUri,
  requestOf,
  transportOf,
} from './oauth-world.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Decides as the consent page does about the request that the client put into the address. */
async function allow(w: Awaited<ReturnType<typeof oauthWorld>>, sentTo: URL, settings: object = {}) {
  const request = Object.fromEntries(sentTo.searchParams)
  delete request.prompt
  const query = new URLSearchParams(request)
  const shown = await w.app.inject({ url: `/api/team/v1/oauth/request?${query}`, headers: w.admin.headers })
  assert.equal(shown.statusCode, 200, shown.body)
  const { status, body } = await w.grant(request, settings)
  assert.equal(status, 200, JSON.stringify(body))
  return { shown: shown.json() as Json, answer: new URL(body.redirectTo).searchParams }
}

test('the official client connects by address alone: it registers, a person allows it, and it calls tools', async () => {
  const w = await oauthWorld()
  const { provider, stored } = program()
  await assert.rejects(newClient().connect(transportOf(w, provider)), UnauthorizedError)
  assert.equal(stored.sentTo.pathname, '/oauth/authorize')
  assert.equal(stored.sentTo.searchParams.get('scope'), 'leads.read leads.write inbox.read inbox.write knowledge.read')

  const { shown, answer } = await allow(w, stored.sentTo, { name: 'Claude of Ana', scopes: ['inbox.read'] })
  const { name, host, redirectHost, isLocal, scopes } = shown.request
  assert.deepEqual([name, host, redirectHost, isLocal, scopes.length], ['Claude', null, 'app.example.com', false, 5])
  const transport = transportOf(w, provider)
  await transport.finishAuth(answer)
  const client = newClient()
  await client.connect(transport)
  const { tools } = await client.listTools()
  assert.ok(tools.some((tool) => tool.name === 'read_conversation'))
  assert.ok(!tools.some((tool) => tool.name === 'answer'), 'only what was granted')
  const me = textOf(await client.callTool({ name: 'who_am_i' }))
  assert.deepEqual([me.key.name, me.key.scopes], ['Claude of Ana', ['inbox.read']])

  const [key] = await w.keys()
  assert.deepEqual(
    [key.name, key.status, key.shown, key.oauth.redirectHost, key.answersNewConversations],
    ['Claude of Ana', 'active', 'OAuth', 'app.example.com', false],
  )
  assert.equal(key.createdBy, w.admin.userId)
})

test('the official client refreshes its tokens by itself, and asks for more when a tool needs it', async () => {
  const w = await oauthWorld()
  const { provider, stored } = program()
  await assert.rejects(newClient().connect(transportOf(w, provider)), UnauthorizedError)
  const transport = transportOf(w, provider)
  await transport.finishAuth((await allow(w, stored.sentTo, { scopes: ['inbox.read'] })).answer)
  const client = newClient()
  await client.connect(transport)
  const first = stored.tokens
  w.clock.advance(hourMs + 1)
  textOf(await client.callTool({ name: 'who_am_i' }))
  assert.notEqual(stored.tokens.access_token, first.access_token)
  assert.notEqual(stored.tokens.refresh_token, first.refresh_token)

  // The key has no `inbox.write`: the client sends the browser again, and the same key gets it.
  const { id: conversation_id } = await w.customerWrites('Hello')
  const call = { name: 'answer', arguments: { conversation_id, text: 'Hi' } }
  await assert.rejects(client.callTool(call), UnauthorizedError)
  assert.match(stored.sentTo.searchParams.get('scope'), /\binbox\.write\b/)
  const [before] = await w.keys()
  const again = await allow(w, stored.sentTo, { scopes: ['inbox.read', 'inbox.write'], keyId: before.id })
  await transport.finishAuth(again.answer)
  const keys = await w.keys()
  assert.deepEqual(pick(keys, 'id', 'scopes'), [[before.id, ['inbox.read', 'inbox.write']]])
  assert.equal(textOf(await client.callTool({ name: 'who_am_i' })).key.id, before.id)
})

test('a client with a metadata document needs no registration, and signs if the document says so', async () => {
  const w = await oauthWorld()
  const origin = 'https://app.example.com'
  const url = `${origin}/client.json`
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pages: Record<string, object> = {
    [url]: {
      ...{ client_id: url, client_name: 'ChatGPT', redirect_uris: [redirectUri] },
      ...{ token_endpoint_auth_method: 'private_key_jwt', jwks_uri: `${origin}/jwks.json` },
    },
    [`${origin}/jwks.json`]: { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one' }] },
  }
  const call = async ({ url: asked }: { url: string }): Promise<Json> => {
    const body = Buffer.from(JSON.stringify(pages[asked]))
    return { outcome: 'answered', status: 200, headers: {}, body, isWhole: true, ms: 1 }
  }
  const app = await servedApp({ ...w, outgoing: { ...w.outgoing, call } })
  const { provider, stored } = program({ clientMetadataUrl: url })
  let isSigned = false
  provider.addClientAuthentication = (_headers, form, tokenUrl) => {
    form.set('client_id', url)
    if (!isSigned) return
    const claims = { iss: url, sub: url, aud: String(tokenUrl), exp: w.clock.now().getTime() / 1000 + 60 }
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const signed = `${part({ alg: 'RS256', kid: 'one' })}.${part(claims)}`
    const signature = sign('sha256', Buffer.from(signed), privateKey).toString('base64url')
    form.set('client_assertion', `${signed}.${signature}`)
    form.set('client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer')
  }
  const here = { ...w, app }
  await assert.rejects(newClient().connect(transportOf(here, provider)), UnauthorizedError)
  assert.equal(stored.sentTo.searchParams.get('client_id'), url)
  const request = Object.fromEntries(stored.sentTo.searchParams)
  const shown = await app.inject({ url: `/api/team/v1/oauth/request${stored.sentTo.search}`, headers: w.admin.headers })
  assert.deepEqual([shown.json().request.name, shown.json().request.host], ['ChatGPT', 'app.example.com'])
  const granted = await app.inject({
    ...{ method: 'POST', url: `/api/team/v1/workspaces/${w.workspaceId}/oauth/grants`, headers: w.admin.headers },
    payload: { request, name: 'ChatGPT', scopes: ['inbox.read'] },
  })
  const answer = new URL(granted.json().redirectTo).searchParams
  const form = {
    ...{ grant_type: 'authorization_code', client_id: url, redirect_uri: redirectUri },
    ...{ code: answer.get('code') ?? '', code_verifier: stored.verifier },
  }
  const unsigned = await app.inject({
    ...{ method: 'POST', url: '/oauth/token', payload: new URLSearchParams(form).toString() },
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  assert.deepEqual([unsigned.statusCode, unsigned.json().error], [401, 'invalid_client'], 'no downgrade')
  isSigned = true
  const transport = transportOf(here, provider)
  await transport.finishAuth(answer)
  const client = newClient()
  await client.connect(transport)
  assert.equal(textOf(await client.callTool({ name: 'who_am_i' })).key.name, 'ChatGPT')
})

test('metadata names every endpoint, and the challenge leads to it', async () => {
  const w = await oauthWorld()
  const read = async (path: string) => (await fetchOf(w.app)(w.publicUrl + path)).json() as Json
  const { challenge } = await w.useToken('nothing')
  assert.match(challenge, /resource_metadata="[^"]+\/\.well-known\/oauth-protected-resource\/mcp", scope="leads\.read /)
  for (const path of ['', '/mcp']) {
    const { authorization_servers, resource } = await read(`/.well-known/oauth-protected-resource${path}`)
    assert.deepEqual([authorization_servers, resource], [[w.publicUrl], `${w.publicUrl}/mcp`])
  }
  const server = await read('/.well-known/oauth-authorization-server')
  assert.deepEqual(
    [server.issuer, server.code_challenge_methods_supported, server.token_endpoint_auth_methods_supported],
    [w.publicUrl, ['S256'], ['none', 'private_key_jwt']],
  )
  assert.equal(server.authorization_response_iss_parameter_supported, true)
  assert.equal(server.client_id_metadata_document_supported, true)
  for (const name of ['token_endpoint', 'registration_endpoint', 'revocation_endpoint']) {
    const { status } = await fetchOf(w.app)(server[name], {
      method: 'OPTIONS',
      headers: { origin: 'https://a.example' },
    })
    assert.equal(status, 204, name)
  }
})

test('a grant is an ordinary key: its settings apply, and revoking it ends its tokens at once', async () => {
  const w = await oauthWorld()
  const other = await w.addConnection()
  const approval = { always: true, outsideHours: false, firstAnswers: false, labelIds: [], amountFrom: null }
  const tokens = await w.connect({
    ...{ scopes: ['inbox.read', 'inbox.write'], connectionIds: [other], phoneVisibility: 'masked', approval },
  })
  const [key] = await w.keys()
  assert.deepEqual([key.connectionIds, key.phoneVisibility, key.approval], [[other], 'masked', approval])
  assert.equal((await w.useToken(tokens.access_token)).status, 200)
  const { calls } = (await w.admin.call('GET', `/keys/${key.id}/calls`)).body
  assert.deepEqual(pick(calls, 'verb', 'status'), [['who_am_i', 200]])
  assert.equal((await w.admin.call('PATCH', `/keys/${key.id}`, { maxParts: 2 })).status, 200)
  assert.equal((await w.admin.call('POST', `/keys/${key.id}/rotate`, {})).status, 409, 'it has no value')

  assert.equal((await w.admin.call('DELETE', `/keys/${key.id}`)).status, 200)
  assert.equal((await w.useToken(tokens.access_token)).status, 401)
  assert.equal((await w.refresh(tokens.clientId, tokens.refresh_token)).body.error, 'invalid_grant')
  const rows = await w.db.sql`select from oauth_tokens where workspace_id = ${w.workspaceId}`
  assert.equal(rows.length, 0)
})

test('a connection lasts while it is used, and ends 90 days after the last refresh', async () => {
  const w = await oauthWorld()
  let { clientId, refresh_token } = await w.connect()
  for (let month = 0; month < 4; month++) {
    w.clock.advance(30 * dayMs)
    const { status, body } = await w.refresh(clientId, refresh_token)
    assert.equal(status, 200)
    refresh_token = body.refresh_token
  }
  w.clock.advance(90 * dayMs)
  assert.equal((await w.refresh(clientId, refresh_token)).body.error, 'invalid_grant')
  const rows = await w.db.sql<{ expires_at: Date }[]>`
    select expires_at
    from api_keys
    where workspace_id = ${w.workspaceId}
      and oauth_client is not null`
  assert.deepEqual(
    rows.map(({ expires_at }) => expires_at <= w.clock.now()),
    [true],
  )
})

test('a client that lost the answer to a refresh gets the same refresh token again, for a moment', async () => {
  const w = await oauthWorld()
  const { clientId, refresh_token } = await w.connect()
  const first = await w.refresh(clientId, refresh_token)
  w.clock.advance(5000)
  const again = await w.refresh(clientId, refresh_token)
  assert.deepEqual([again.status, again.body.refresh_token], [200, first.body.refresh_token])
  for (const { access_token } of [first.body, again.body]) assert.equal((await w.useToken(access_token)).status, 200)
})

test('several processes of a client that refresh at once all get the same refresh token', async () => {
  const w = await oauthWorld()
  const { clientId, refresh_token } = await w.connect()
  const answers = await Promise.all(Array.from({ length: 5 }, () => w.refresh(clientId, refresh_token)))
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  const [next, ...others] = new Set(answers.map(({ body }) => body.refresh_token as string))
  assert.deepEqual(others, [])
  assert.equal((await w.refresh(clientId, next)).status, 200)
})

test('a program disconnects itself: its refresh token ends the key, an access token only itself', async () => {
  const w = await oauthWorld()
  const { clientId: client_id, access_token: token, refresh_token } = await w.connect()
  const revoke = (form: Record<string, string>) => w.post('/oauth/revoke', { client_id, ...form })
  assert.equal((await revoke({ token })).status, 200)
  assert.equal((await w.useToken(token)).status, 401)
  assert.equal((await w.keys())[0].status, 'active')
  assert.equal((await revoke({ token: refresh_token })).status, 200)
  assert.equal((await w.keys())[0].status, 'revoked')
  assert.equal((await revoke({ token: 'plr_unknown' })).status, 200)
})

test('a program learns that a person declined', async () => {
  const w = await oauthWorld()
  const { body } = await w.register()
  const query = new URLSearchParams(requestOf(body.client_id, 'x'.repeat(43)))
  const shown = await w.app.inject({ url: `/api/team/v1/oauth/request?${query}`, headers: w.admin.headers })
  const { searchParams, href } = new URL(shown.json().declineTo)
  assert.ok(href.startsWith(`${redirectUri}?`))
  assert.deepEqual(
    ['error', 'state', 'iss'].map((name) => searchParams.get(name)),
    ['access_denied', 'abc', w.publicUrl],
  )
})

test('without https, except on this machine, OAuth is not offered', () => {
  const urls = {
    'https://p.example': true,
    'http://p.example': false,
    'http://localhost:7007': true,
    'http://[::1]:1': true,
  }
  for (const [url, isServed] of Object.entries(urls)) assert.equal(servesOAuth(url), isServed, url)
})
