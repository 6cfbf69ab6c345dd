import assert from 'node:assert/strict'
import { test } from 'node:test'
import { IssuerMismatchError, UnauthorizedError } from '@modelcontextprotocol/client'
import { signedInMember } from '../../support/member.ts'
import { waitForNotifications } from '../../support/wait-for-notifications.ts'
import { servedApp, world } from '../../support/world.ts'
import { type Json, newClient, oauthWorld, pkce, program, redirectUri, requestOf, transportOf } from './oauth-world.ts'

const w = await oauthWorld()
const { body: registered } = await w.register()
const clientId: string = registered.client_id

/** Reads the request as the consent page does. */
async function shownTo(request: Record<string, string | undefined>, headers = w.admin.headers) {
  const given = Object.entries(request).filter((pair): pair is [string, string] => pair[1] !== undefined)
  const url = `/api/team/v1/oauth/request?${new URLSearchParams(given)}`
  const reply = await w.app.inject({ url, headers })
  return { status: reply.statusCode, body: reply.json() as Json }
}

const right = requestOf(clientId, pkce().challenge)

const open: [what: string, request: Record<string, string | undefined>][] = [
  ['another site', { ...right, redirect_uri: 'https://evil.example/callback' }],
  ['another path', { ...right, redirect_uri: `${redirectUri}/../evil` }],
  ['a longer address', { ...right, redirect_uri: `${redirectUri}.evil.example` }],
  ['no redirect', { ...right, redirect_uri: undefined }],
  ['no client', { ...right, client_id: undefined }],
  ['an unknown client', { ...right, client_id: 'x.y' }],
]

for (const [what, request] of open) {
  test(`open redirect: a request with ${what} sends the browser nowhere`, async () => {
    const { status, body } = await shownTo(request)
    assert.deepEqual([status, body.declineTo], [400, undefined])
    assert.equal((await w.grant(request)).status, 400)
  })
}

const wrong: [what: string, request: Record<string, string | undefined>, error: string][] = [
  ['the implicit grant', { ...right, response_type: 'token' }, 'unsupported_response_type'],
  ['no PKCE (downgrade)', { ...right, code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
  ['plain PKCE (downgrade)', { ...right, code_challenge_method: 'plain' }, 'invalid_request'],
  ['PKCE without a method (downgrade)', { ...right, code_challenge_method: undefined }, 'invalid_request'],
  ['a short challenge', { ...right, code_challenge: 'abc' }, 'invalid_request'],
  ['another resource', { ...right, resource: 'https://evil.example/mcp' }, 'invalid_target'],
  ['no known scope', { ...right, scope: 'admin leads.delete' }, 'invalid_scope'],
]

for (const [what, request, error] of wrong) {
  test(`a request with ${what} is refused, and only a person returns to the program`, async () => {
    const { status, body } = await shownTo(request)
    assert.deepEqual([status, body.request], [200, null])
    const answer = new URL(body.declineTo).searchParams
    assert.deepEqual([answer.get('error'), answer.get('iss'), answer.get('code')], [error, w.publicUrl, null])
    assert.equal((await w.grant(request)).status, 400)
  })
}

test('a program gets no more than it asked for, and never scopes that no tool needs', async () => {
  const request = { ...right, scope: 'inbox.read leads.delete' }
  assert.deepEqual((await shownTo(request)).body.request.scopes, ['inbox.read'])
  for (const scope of ['inbox.write', 'leads.delete', 'leads.bulk']) {
    assert.equal((await w.grant(request, { scopes: ['inbox.read', scope] })).status, 400, scope)
  }
})

test('CSRF: nobody grants for another person, without their session’s token, or from another site', async () => {
  const grant = (headers: Record<string, string>) =>
    w.app.inject({
      ...{ method: 'POST', url: `/api/team/v1/workspaces/${w.workspaceId}/oauth/grants`, headers },
      payload: { request: right, name: 'Evil', scopes: ['inbox.read'] },
    })
  const { 'x-parley-csrf': _, ...withoutToken } = w.admin.headers
  const member = await signedInMember(w)
  const stranger = await signedInMember(await world(), 'owner')
  const attempts: [headers: Record<string, string>, status: number][] = [
    [{}, 401],
    [withoutToken, 403],
    [{ ...w.admin.headers, origin: 'https://evil.example' }, 403],
    [{ ...w.admin.headers, 'sec-fetch-site': 'cross-site' }, 403],
    [member.headers, 403],
    [stranger.headers, 404],
    [w.admin.headers, 200],
  ]
  for (const [headers, status] of attempts) assert.equal((await grant(headers)).statusCode, status)
})

test('clickjacking: the consent page cannot be framed, and asks for a sign-in', async () => {
  const url = `/oauth/authorize?${new URLSearchParams(right)}`
  const anonymous = await w.app.inject({ url })
  assert.deepEqual(
    [anonymous.statusCode, anonymous.headers.location],
    [303, `/sign-in?next=${encodeURIComponent(url)}`],
  )
  const page = await w.app.inject({ url, headers: { cookie: w.admin.cookie } })
  // The window that the program opened returns to it, which needs to reach its opener.
  const policies = [anonymous, page].map(({ headers }) => headers['cross-origin-opener-policy'])
  assert.deepEqual(policies, ['unsafe-none', 'unsafe-none'])
  const home = await w.app.inject({ url: '/', headers: { cookie: w.admin.cookie } })
  assert.equal(home.headers['cross-origin-opener-policy'], 'same-origin')
  assert.match(String(page.headers['content-security-policy']), /frame-ancestors 'none'/)
})

const stolen: [what: string, change: (form: Record<string, string>) => Record<string, string>][] = [
  ['without the verifier', ({ code_verifier: _, ...form }) => form],
  ['with another verifier', (form) => ({ ...form, code_verifier: pkce().verifier })],
  ['with the challenge as verifier', (form) => ({ ...form, code_verifier: 'x'.repeat(43) })],
  ['with another redirect', (form) => ({ ...form, redirect_uri: 'https://app.example.com/other' })],
  ['without the redirect', ({ redirect_uri: _, ...form }) => form],
]

for (const [what, change] of stolen) {
  test(`code injection: a code ${what} gives nothing, and still works for its program`, async () => {
    const { form } = await w.code()
    const { status, body } = await w.post('/oauth/token', change(form))
    assert.deepEqual([status, body.error], [400, 'invalid_grant'])
    assert.equal((await w.post('/oauth/token', form)).status, 200)
  })
}

test('a code of one program gives another nothing', async () => {
  const { form } = await w.code()
  const { body: other } = await w.register({ client_name: 'Evil', redirect_uris: [redirectUri] })
  const answer = await w.post('/oauth/token', { ...form, client_id: other.client_id })
  assert.equal(answer.body.error, 'invalid_grant')
})

test('a code is valid for a minute', async () => {
  const { form } = await w.code()
  w.clock.advance(60_000)
  assert.equal((await w.post('/oauth/token', form)).body.error, 'invalid_grant')
})

test('code replay: a second use ends what the first gave', async () => {
  const { form, access_token, refresh_token } = await w.connect({ name: 'Replayed' })
  assert.equal((await w.useToken(access_token)).status, 200)
  assert.equal((await w.post('/oauth/token', form)).body.error, 'invalid_grant')
  assert.equal((await w.useToken(access_token)).status, 401)
  assert.equal((await w.refresh(form.client_id, refresh_token)).body.error, 'invalid_grant')
  const key = (await w.keys()).find(({ name }) => name === 'Replayed')
  assert.equal(key.status, 'revoked')
  assert.equal((await w.post('/oauth/token', form)).body.error, 'invalid_grant')
})

test('of many uses of a code at once, one key is made, and it ends', async () => {
  const { form } = await w.code({ name: 'Raced' })
  const answers = await Promise.all(Array.from({ length: 6 }, () => w.post('/oauth/token', form)))
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
  const keys = (await w.keys()).filter(({ name }) => name === 'Raced')
  assert.deepEqual(
    keys.map(({ status }) => status),
    ['revoked'],
  )
})

test('stolen refresh token: a later use of a spent one ends the grant for both', async () => {
  const { clientId: id, refresh_token } = await w.connect()
  const next = await w.refresh(id, refresh_token)
  w.clock.advance(31_000)
  assert.equal((await w.refresh(id, refresh_token)).body.error, 'invalid_grant')
  assert.equal((await w.refresh(id, next.body.refresh_token)).body.error, 'invalid_grant')
  assert.equal((await w.useToken(next.body.access_token)).status, 401)
})

test('stolen refresh token: once its successor is used, even an early repetition ends the grant', async () => {
  const { clientId: id, refresh_token } = await w.connect()
  const next = await w.refresh(id, refresh_token)
  const last = await w.refresh(id, next.body.refresh_token)
  assert.equal(last.status, 200)
  assert.equal((await w.refresh(id, refresh_token)).body.error, 'invalid_grant')
  assert.equal((await w.useToken(last.body.access_token)).status, 401)
})

test('a refresh token works only for its program', async () => {
  const { clientId: id, refresh_token } = await w.connect()
  const { body: other } = await w.register({ client_name: 'Evil', redirect_uris: [redirectUri] })
  assert.equal((await w.refresh(other.client_id, refresh_token)).body.error, 'invalid_grant')
  const revoked = await w.post('/oauth/revoke', { client_id: other.client_id, token: refresh_token })
  assert.equal(revoked.status, 200)
  assert.equal((await w.refresh(id, refresh_token)).status, 200)
})

test('token audience: an access token opens /mcp and nothing else', async () => {
  const { access_token: key, refresh_token } = await w.connect()
  assert.equal((await w.useToken(key)).status, 200)
  for (const path of ['/api/v1/leads', '/api/v1/inbox/conversations', '/api/v1/events', '/api/v2/me', '/metrics']) {
    assert.equal((await w.call('GET', path, { key })).status, 401, path)
  }
  assert.equal((await w.call('GET', `/api/team/v1/workspaces/${w.workspaceId}`, { key })).status, 401)
  assert.equal((await w.useToken(refresh_token)).status, 401, 'a refresh token is no access token')
  const query = await w.app.inject({ method: 'POST', url: `/mcp?access_token=${key}`, payload: {} })
  assert.equal(query.statusCode, 401, 'nor in the address')
})

test('token audience: a token for another server is not issued', async () => {
  const { form } = await w.code()
  const answer = await w.post('/oauth/token', { ...form, resource: 'https://evil.example/mcp' })
  assert.equal(answer.body.error, 'invalid_target')
})

test('an access token ends after an hour', async () => {
  const { access_token } = await w.connect()
  w.clock.advance(3_600_000)
  const { status, challenge } = await w.useToken(access_token)
  assert.equal(status, 401)
  assert.match(challenge, /error="invalid_token"/)
})

test('a tool beyond the granted scopes is refused with the scope that it needs', async () => {
  const { access_token } = await w.connect({ scopes: ['inbox.read'] })
  const { status, challenge } = await w.useToken(access_token, 'answer')
  assert.equal(status, 403)
  assert.match(challenge, /error="insufficient_scope", scope="inbox\.write"/)
})

test('mix-up: the answer names its issuer, and the client refuses that of another one', async () => {
  const { provider, stored } = program()
  await assert.rejects(newClient().connect(transportOf(w, provider)), UnauthorizedError)
  const { body } = await w.grant(Object.fromEntries(stored.sentTo.searchParams))
  const answer = new URL(body.redirectTo).searchParams
  assert.equal(answer.get('iss'), w.publicUrl)
  for (const iss of ['https://evil.example', undefined]) {
    const mixed = new URLSearchParams(answer)
    if (iss === undefined) mixed.delete('iss')
    else mixed.set('iss', iss)
    await assert.rejects(transportOf(w, provider).finishAuth(mixed), IssuerMismatchError)
  }
  await transportOf(w, provider).finishAuth(answer)
})

test('a key can be connected again only by its own program, in its own workspace', async () => {
  await w.connect({ name: 'Mine' })
  const key = (await w.keys()).find(({ name }) => name === 'Mine')
  const { body: other } = await w.register({ client_name: 'Evil', redirect_uris: [redirectUri] })
  const foreign = requestOf(other.client_id, pkce().challenge)
  assert.equal((await w.grant(foreign, { keyId: key.id })).status, 400)
  assert.equal((await w.grant(right, { keyId: w.agent.id })).status, 400)
  const elsewhere = await oauthWorld()
  assert.equal((await elsewhere.grant(right, { keyId: key.id })).status, 400)
})

test('a revoked key ends its tokens on every node', async () => {
  const node = await servedApp({ ...w })
  const { access_token } = await w.connect({ name: 'Everywhere' })
  const { id } = (await w.keys()).find(({ name }) => name === 'Everywhere')
  const use = async () => {
    const headers = { authorization: `Bearer ${access_token}` }
    const payload = { jsonrpc: '2.0', id: 1, method: 'ping' }
    return (await node.inject({ method: 'POST', url: '/mcp', headers, payload })).statusCode
  }
  assert.equal(await use(), 200)
  assert.equal((await w.admin.call('DELETE', `/keys/${id}`)).status, 200)
  await waitForNotifications(w.db)
  assert.equal(await use(), 401)
})

test('connecting a key again ends its former tokens', async () => {
  const before = await w.connect({ name: 'Again' })
  const { id } = (await w.keys()).find(({ name }) => name === 'Again')
  const { access_token } = await w.connect({ keyId: id, scopes: ['inbox.read'] })
  assert.equal((await w.useToken(before.access_token)).status, 401)
  assert.equal((await w.refresh(before.clientId, before.refresh_token)).body.error, 'invalid_grant')
  assert.equal((await w.useToken(access_token)).status, 200)
})

const malformed: [what: string, form: Record<string, string>, status: number, error: string][] = [
  ['no grant type', {}, 400, 'unsupported_grant_type'],
  ['the password grant', { grant_type: 'password', username: 'a', password: 'b' }, 400, 'unsupported_grant_type'],
  ['client credentials', { grant_type: 'client_credentials', client_id: clientId }, 400, 'unsupported_grant_type'],
  ['an unknown code', { grant_type: 'authorization_code', code: 'plc_x', client_id: clientId }, 400, 'invalid_grant'],
  ['no code', { grant_type: 'authorization_code', client_id: clientId }, 400, 'invalid_grant'],
  ['a long code', { grant_type: 'authorization_code', code: 'x'.repeat(10_000) }, 400, 'invalid_request'],
  ['an unknown refresh token', { grant_type: 'refresh_token', refresh_token: 'plr_x' }, 400, 'invalid_grant'],
]

for (const [what, form, status, error] of malformed) {
  test(`the token endpoint refuses ${what} as OAuth prescribes`, async () => {
    const answer = await w.post('/oauth/token', form)
    assert.deepEqual([answer.status, answer.body.error], [status, error])
    assert.equal(answer.headers['cache-control'], 'no-store')
  })
}

test('the token endpoint refuses repeated fields and other bodies', async () => {
  const send = async (payload: string, type: string) => {
    const reply = await w.app.inject({
      method: 'POST',
      url: '/oauth/token',
      payload,
      headers: { 'content-type': type },
    })
    return [reply.statusCode, reply.json().error]
  }
  const form = 'application/x-www-form-urlencoded'
  assert.deepEqual(await send('grant_type=authorization_code&code=a&code=b', form), [400, 'invalid_request'])
  assert.deepEqual(await send(`code=${'x'.repeat(40_000)}`, form), [413, 'invalid_request'])
  assert.deepEqual(await send('<code/>', 'text/xml'), [415, 'invalid_request'])
  assert.deepEqual(await send('{', 'application/json'), [400, 'invalid_request'])
})

test('an unknown client learns that it must register again', async () => {
  const { form } = await w.code()
  const answer = await w.post('/oauth/token', { ...form, client_id: 'x.y' })
  assert.deepEqual([answer.status, answer.body.error], [401, 'invalid_client'])
})

test('nothing that opens anything is in the database or in the log', async () => {
  const { form, access_token, refresh_token } = await w.connect()
  await w.useToken(access_token)
  await w.refresh(form.client_id, refresh_token)
  const rows = await w.db.sql`
    select c::text as text from oauth_codes c union all
    select t::text from oauth_tokens t union all
    select k::text from api_keys k`
  const everything = JSON.stringify(rows) + w.logLines.join('\n')
  for (const secret of [form.code, form.code_verifier, access_token, refresh_token]) {
    assert.ok(secret.length > 20 && !everything.includes(secret))
  }
})

test('a key keeps at most ten access tokens', async () => {
  let { clientId: id, refresh_token } = await w.connect({ name: 'Busy' })
  for (let n = 0; n < 12; n++) {
    w.clock.advance(1000)
    refresh_token = (await w.refresh(id, refresh_token)).body.refresh_token
  }
  const { id: keyId } = (await w.keys()).find(({ name }) => name === 'Busy')
  const [row] = await w.db.sql`
    select count(*)::integer as count
    from oauth_tokens
    where workspace_id = ${w.workspaceId}
      and key_id = ${keyId}
      and kind = 'access'`
  assert.equal(row?.count, 10)
})

test('registration is limited by address', async () => {
  const statuses: number[] = []
  for (let n = 0; n < 21; n++) statuses.push((await w.register(undefined, '10.8.0.1')).status)
  assert.deepEqual([...new Set(statuses.slice(0, 20)), statuses[20]], [201, 429])
  assert.equal((await w.register(undefined, '10.8.0.1')).body.error, 'temporarily_unavailable')
  assert.equal((await w.register()).status, 201)
})
