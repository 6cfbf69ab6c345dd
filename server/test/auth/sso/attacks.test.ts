import assert from 'node:assert/strict'
import { test } from 'node:test'
import { safeNext } from '../../../src/auth/sso/attempt.ts'
import { createOidc } from '../../../src/auth/sso/oidc.ts'
import { openTestOutgoing } from '../../support/outgoing/outgoing.ts'
import { publicUrl, sessionIn } from '../../support/team-app.ts'
import { createKey } from './fake-provider.ts'
import { person, ssoWorld } from './sso-world.ts'

const w = await ssoWorld()
const { fake, start, comeBack, signIn, configure } = w
const { workspaceId } = await w.team()
const access = [{ group: null, workspaceId, role: 'member' }]
await configure({ access })

/** Starts a sign-in, changes the address of the provider, and returns the answer of the provider with its cookie. */
async function answered(change: (url: URL) => void = () => {}) {
  fake.state.account = person().account
  const { url, cookie } = await start()
  const changed = new URL(url)
  change(changed)
  return { back: await fake.visit(changed.href), cookie }
}

test('a request has state, nonce and a PKCE challenge, each different every time', async () => {
  const [one, two] = [new URL((await start()).url).searchParams, new URL((await start()).url).searchParams]
  for (const name of ['state', 'nonce', 'code_challenge']) {
    assert.match(one.get(name) ?? '', /^[\w-]{43}$/, name)
    assert.notEqual(one.get(name), two.get(name), name)
  }
  assert.equal(one.get('code_challenge_method'), 'S256')
  assert.equal(one.get('response_type'), 'code')
})

const other = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
const changedRequests: [what: string, name: string][] = [
  ['a token with another nonce', 'nonce'],
  ['a code for another PKCE challenge', 'code_challenge'],
  ['another state', 'state'],
]
for (const [what, name] of changedRequests) {
  test(`an answer with ${what} is refused`, async () => {
    const { back, cookie } = await answered((url) => url.searchParams.set(name, other))
    const reply = await comeBack(back, cookie)
    assert.equal(reply.headers.location, '/sign-in?sso=failed')
    assert.equal(sessionIn(reply), undefined)
  })
}

const changedAnswers: [what: string, change: (url: URL) => void, outcome: string][] = [
  ['of another issuer', (url) => url.searchParams.set('iss', 'https://other.example.com'), 'failed'],
  ['without the issuer that it announces', (url) => url.searchParams.delete('iss'), 'failed'],
  ['without a state', (url) => url.searchParams.delete('state'), 'failed'],
  ['with a made-up code', (url) => url.searchParams.set('code', other), 'failed'],
  [
    'that refuses access',
    (url) => {
      url.searchParams.delete('code')
      url.searchParams.set('error', 'access_denied')
    },
    'denied',
  ],
]
for (const [what, change, outcome] of changedAnswers) {
  test(`an answer ${what} gives no session`, async () => {
    const { back, cookie } = await answered()
    const changed = new URL(back)
    change(changed)
    const reply = await comeBack(changed.href, cookie)
    assert.equal(reply.headers.location, `/sign-in?sso=${outcome}`)
    assert.equal(sessionIn(reply), undefined)
  })
}

test('an answer works once, and only in the browser that began', async () => {
  const { back, cookie } = await answered()
  const { cookie: strangers } = await start()
  for (const foreign of ['', 'parley_sso=', 'parley_sso=AAAA', strangers]) {
    const reply = await comeBack(back, foreign)
    assert.match(String(reply.headers.location), /^\/sign-in\?sso=(?:expired|failed)$/)
    assert.equal(sessionIn(reply), undefined, foreign)
  }
  const fresh = await answered()
  assert.ok(sessionIn(await comeBack(fresh.back, fresh.cookie)))
  assert.equal(sessionIn(await comeBack(fresh.back, fresh.cookie)), undefined, 'the code was used')
  assert.notEqual(cookie, strangers)
})

test('an ID token that none of the published keys signed is refused', async () => {
  const { privateKey: _, jwk } = createKey()
  const { back, cookie } = await answered()
  fake.state.intercept = (request, response) => {
    if (!request.url?.startsWith('/jwks')) return false
    const { d, p, q, dp, dq, qi, ...published } = jwk
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: [published] }))
    return true
  }
  const reply = await comeBack(back, cookie)
  fake.state.intercept = null
  assert.equal(reply.headers.location, '/sign-in?sso=failed')
})

test('the provider may replace its keys at any time', async () => {
  const { account } = person()
  assert.ok((await signIn(account)).session)
  fake.rotateKeys()
  assert.ok((await signIn(account)).session)
})

test('a provider that is down or slow delays nobody for long, and the page says so', async () => {
  const { back, cookie } = await answered()
  fake.state.intercept = (_request, response) => {
    response.statusCode = 503
    response.end()
    return true
  }
  assert.equal((await comeBack(back, cookie)).headers.location, '/sign-in?sso=unavailable')
  // Never answers.
  fake.state.intercept = () => true
  const outgoing = openTestOutgoing()
  const oidc = createOidc(outgoing, 100)
  await assert.rejects(oidc.metadata({ issuer: fake.issuer, clientId: 'parley' }), { reason: 'unavailable' })
  outgoing.close()
  fake.state.intercept = null
})

test('after sign-in the browser opens only paths of this service', async () => {
  const own = ['/', '/w/1/inbox?status=open', '/oauth/authorize?client_id=https://app.example.com', '/invite/abc']
  const foreign = [
    ...['https://evil.example', '//evil.example', '/\\evil.example', '\\\\evil.example', 'evil', ''],
    ...['/\t/evil.example', '/%0a//evil.example\n', 'javascript:alert(1)', `/${'a'.repeat(2000)}`],
  ]
  for (const next of own) assert.equal(safeNext(next, publicUrl), next)
  for (const next of foreign) assert.equal(safeNext(next, publicUrl), '/', next)
  assert.equal((await signIn(person().account, '//evil.example')).to, '/')
})

test('a logout token is accepted only as the specification demands, once', async () => {
  const { account } = person()
  await signIn(account)
  const seconds = Math.floor(Date.now() / 1000)
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
  const good = { iss: fake.issuer, aud: 'parley', iat: seconds, jti: 'one', events, sub: account.sub }
  const rows: [what: string, token: string, status: number][] = [
    ['another issuer', fake.sign({ ...good, iss: 'https://other.example.com' }), 400],
    ['another audience', fake.sign({ ...good, aud: 'other' }), 400],
    ['an old time', fake.sign({ ...good, iat: seconds - 1000 }), 400],
    ['an expired time', fake.sign({ ...good, exp: seconds - 1000 }), 400],
    ['no events', fake.sign({ ...good, events: undefined }), 400],
    ['other events', fake.sign({ ...good, events: { other: {} } }), 400],
    ['a nonce', fake.sign({ ...good, nonce: 'n' }), 400],
    ['nobody', fake.sign({ ...good, sub: undefined }), 400],
    ['no id', fake.sign({ ...good, jti: undefined }), 400],
    ['another key', fake.sign(good, createKey()), 400],
    ['no signature', `${fake.sign(good).split('.').slice(0, 2).join('.')}.`, 400],
    ['all that it needs', fake.sign(good), 200],
    ['an id that was used', fake.sign(good), 400],
  ]
  for (const [what, token, status] of rows) {
    const reply = await w.app.inject({
      method: 'POST',
      url: `/sso/${w.providerId}/logout`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({ logout_token: token }).toString(),
    })
    assert.equal(reply.statusCode, status, `${what}: ${reply.body}`)
    assert.equal(reply.headers['cache-control'], 'no-store')
  }
})
