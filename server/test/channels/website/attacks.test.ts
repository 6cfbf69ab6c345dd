import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { solve } from '../../../../web/src/widget/sha256.ts'
import { freshAddress, signed, type WebsiteWorld, websiteWorld } from './website-world.ts'

const open = (w: WebsiteWorld, body: object, id = w.connectionId) =>
  w.on(id)('POST', 'sessions', { body, address: freshAddress() })

test('a challenge opens one session, on its connection, within five minutes, and only with its solution', async () => {
  const w = await websiteWorld()
  const other = await w.connect()
  const proof = await w.solved()
  assert.equal((await open(w, proof, other)).statusCode, 400)
  assert.equal((await open(w, { ...proof, solution: 'zzzzzz' })).statusCode, 400)
  const [nonce, , signature] = proof.challenge.split('.')
  const easier = `${nonce}.1.${signature}`
  assert.equal((await open(w, { challenge: easier, solution: await solve(easier, 1) })).statusCode, 400)
  const answers = await Promise.all([open(w, proof), open(w, proof), open(w, proof)])
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [201, 400, 400])
  const late = await w.solved()
  w.clock.advance(5 * 60_000 + 1)
  assert.equal((await open(w, late)).statusCode, 400)
  assert.equal((await open(w, {})).statusCode, 400)
})

test('the more chats begin, the harder the challenges get, for this connection alone', async () => {
  const w = await websiteWorld()
  const bits = async (id: string, address: string) =>
    (await w.on(id)('POST', 'challenges', { address })).json().bits as number
  const calm = await bits(w.connectionId, freshAddress())
  let last = calm
  for (let count = 0; count < 80; count++) last = await bits(w.connectionId, freshAddress())
  assert.ok(last > calm)
  assert.equal(await bits(await w.connect(), freshAddress()), calm)
  const address = freshAddress()
  const answers = []
  for (let count = 0; count < 31; count++) answers.push(await w.visit('POST', 'challenges', { address }))
  assert.equal(answers.at(-1)?.statusCode, 429)
  assert.ok(Number(answers.at(-1)?.headers['retry-after']) > 0)
})

test('a visitor sees and writes only the own chat, on the own connection', async () => {
  const w = await websiteWorld()
  const [ana, rui] = [await w.begin(), await w.begin()]
  await w.write(ana, 'My secret')
  assert.deepEqual((await w.updates(rui)).messages, [])
  const other = await w.connect()
  const tokens = [undefined, '', 'x'.repeat(43), ana.slice(0, 42), `${ana}x`]
  for (const token of tokens) {
    const answer = await w.visit('GET', 'updates', { ...(token !== undefined && { token }), address: freshAddress() })
    assert.equal(answer.statusCode, 401, String(token))
  }
  assert.equal((await w.on(other)('GET', 'updates', { token: ana })).statusCode, 401)
  assert.equal((await w.on(randomUUID())('GET', 'config')).statusCode, 404)
  const foreign = await websiteWorld()
  assert.equal((await foreign.visit('GET', 'updates', { token: ana })).statusCode, 401)
  await w.visit('DELETE', 'sessions', { token: ana })
  assert.equal((await w.visit('GET', 'updates', { token: ana })).statusCode, 401)
})

test('scripts of other sites cannot call the routes, and only listed sites can embed the chat', async () => {
  const w = await websiteWorld({ origins: ['https://shop.example'] })
  const from = (origin: string) => w.visit('GET', 'config', { headers: { origin } })
  assert.equal((await from('https://shop.example')).statusCode, 403)
  assert.equal((await from('null')).statusCode, 403)
  assert.equal((await from(w.config.http.publicUrl)).statusCode, 200)
  const frame = (referer?: string) =>
    w.app.inject({ url: `/widget/frame/${w.connectionId}`, headers: referer === undefined ? {} : { referer } })
  assert.equal((await frame('https://evil.example/')).statusCode, 403)
  for (const referer of [undefined, 'https://shop.example/page']) {
    const { statusCode, headers } = await frame(referer)
    if (statusCode === 404) continue
    const policy = String(headers['content-security-policy'])
    assert.match(policy, /frame-ancestors 'self' https:\/\/shop\.example$/)
    assert.match(policy, /default-src 'none'/)
    assert.match(policy, /require-trusted-types-for 'script'/)
    assert.doesNotMatch(policy, /unsafe/)
  }
})

test('an origin that could change the policy is refused', async () => {
  const w = await websiteWorld()
  const origins = [
    '*',
    'javascript:alert(1)',
    'https://a.example/path',
    'https://a.example; script-src *',
    'https://u:p@a.example',
  ]
  for (const origin of origins) {
    const { status, body } = await w.team('PATCH', `/connections/${w.connectionId}`, { widget: { origins: [origin] } })
    assert.equal(status, 400, origin)
    assert.match(JSON.stringify(body), /widget\.origins\[0\]/)
  }
  const changed = await w.team('PATCH', `/connections/${w.connectionId}`, {
    widget: { origins: ['https://A.example/'] },
  })
  assert.deepEqual(changed.body.connection.widget.origins, ['https://a.example'])
})

test('messages have limits of size and rate, by visitor', async () => {
  const w = await websiteWorld()
  const [token, calm] = [await w.begin(), await w.begin()]
  assert.equal((await w.write(token, 'x'.repeat(4001))).statusCode, 400)
  assert.equal((await w.write(token, ' \u0000 ')).statusCode, 400)
  assert.equal((await w.visit('POST', 'messages', { token, body: { clientId: 'no', text: 'x' } })).statusCode, 400)
  const statuses = []
  for (let count = 0; count < 21; count++) statuses.push((await w.write(token, `${count}`)).statusCode)
  assert.equal(statuses.at(-1), 429)
  assert.equal((await w.write(calm, 'Hello')).statusCode, 201)
})

test('a signed identity joins the devices of a person; any other token is refused', async () => {
  const w = await websiteWorld()
  const now = w.clock.now().getTime() / 1000
  const claims = { sub: 'user-7', name: 'Ana Lima', email: 'ana@example.com', phone: '+5511955501234', exp: now + 600 }
  assert.equal((await open(w, { identity: signed(claims, 'x') })).statusCode, 401)
  const rotated = await w.team('POST', `/connections/${w.connectionId}/identity-secret`)
  assert.equal(rotated.status, 201)
  const { secret } = rotated.body
  assert.ok(!JSON.stringify((await w.team('GET', `/connections/${w.connectionId}`)).body).includes(secret))
  const bad: [why: string, token: string][] = [
    ['another secret', signed(claims, `${secret}x`)],
    ['no algorithm', signed(claims, secret, { alg: 'none' })],
    ['another algorithm', signed(claims, secret, { alg: 'HS512' })],
    ['expired', signed({ ...claims, exp: now - 120 }, secret)],
    ['too long', signed({ ...claims, exp: now + 90_000 }, secret)],
    ['without expiry', signed({ sub: 'user-7' }, secret)],
    ['without a user', signed({ exp: now + 60 }, secret)],
    [
      'altered',
      signed(claims, secret).replace(
        /\.[^.]+\./,
        `.${Buffer.from(JSON.stringify({ ...claims, sub: '1' })).toString('base64url')}.`,
      ),
    ],
    ['no token', 'abc'],
  ]
  for (const [why, identity] of bad) assert.equal((await open(w, { identity })).statusCode, 401, why)
  const identity = signed(claims, secret)
  const [one, two] = await Promise.all([open(w, { identity }), open(w, { identity })])
  const [first, second] = [one.json().token, two.json().token]
  await w.write(first, 'From the phone')
  assert.deepEqual(
    (await w.updates(second)).messages.map(({ text }: { text: string }) => text),
    ['From the phone'],
  )
  const found = await w.conversations()
  assert.equal(found.length, 1)
  assert.deepEqual(found[0].contact, { name: 'Ana Lima', phone: '5511955501234' })
  await w.team('POST', `/connections/${w.connectionId}/identity-secret`)
  assert.equal((await open(w, { identity })).statusCode, 201, 'the previous secret works for a day')
  w.clock.advance(86_400_001)
  const renewed = signed({ ...claims, exp: w.clock.now().getTime() / 1000 + 60 }, secret)
  assert.equal((await open(w, { identity: renewed })).statusCode, 401)
})

test('a chat of an anonymous visitor becomes that of the person, unless they have one', async () => {
  const w = await websiteWorld()
  const { secret } = (await w.team('POST', `/connections/${w.connectionId}/identity-secret`)).body
  const identity = signed({ sub: '9', exp: w.clock.now().getTime() / 1000 + 600 }, secret)
  const anonymous = await w.begin()
  await w.write(anonymous, 'Before signing in')
  const joined = await w.visit('POST', 'sessions', { token: anonymous, body: { identity }, address: freshAddress() })
  assert.equal((await w.updates(joined.json().token)).messages.length, 1)
  const later = await w.begin()
  await w.write(later, 'On a shared computer')
  const again = await w.visit('POST', 'sessions', { token: later, body: { identity }, address: freshAddress() })
  const { messages } = await w.updates(again.json().token)
  assert.deepEqual(
    messages.map(({ text }: { text: string }) => text),
    ['Before signing in'],
  )
})
