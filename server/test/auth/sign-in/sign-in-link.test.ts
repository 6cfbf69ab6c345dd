import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeAt } from '../../../src/auth/sign-in/second-factor.ts'
import { createSignInLink } from '../../../src/auth/sign-in/sign-in.ts'
import { publicUrl, sessionIn, teamWorld } from '../../support/team-app.ts'

const { app, clock, user, send, db } = await teamWorld()

async function linkFor(userId: string): Promise<string> {
  const { url } = await db.tx((tx) => createSignInLink(tx, publicUrl, userId, clock.now()))
  assert.ok(url.startsWith(`${publicUrl}/sign-in/`))
  return url.slice(url.lastIndexOf('/') + 1)
}

const use = (token: string) => app.inject({ method: 'POST', url: '/api/team/v1/sign-in/link', payload: { token } })

test('a link signs in its user', async () => {
  const { userId, email } = await user()
  const sessionToken = sessionIn(await use(await linkFor(userId))) ?? ''
  const session = await send({ userId, email, sessionToken }, 'GET', '/session')
  assert.equal(session.json().user.id, userId)
})

test('of ten concurrent uses of one link, one succeeds', async () => {
  const token = await linkFor((await user()).userId)
  const answers = await Promise.all(Array.from({ length: 10 }, () => use(token)))
  const statuses = answers.map((answer) => answer.statusCode).sort()
  assert.deepEqual(statuses, [200, ...Array(9).fill(401)])
})

test('a link works for 24 hours', async () => {
  const { userId } = await user()
  const [early, late] = [await linkFor(userId), await linkFor(userId)]
  clock.advance(24 * 3_600_000 - 1)
  assert.equal((await use(early)).statusCode, 200)
  clock.advance(1)
  assert.equal((await use(late)).statusCode, 401)
})

test('an invented link gets the same error as a used one', async () => {
  const token = await linkFor((await user()).userId)
  await use(token)
  assert.deepEqual((await use('x'.repeat(43))).json(), (await use(token)).json())
})

test('a forgotten password is replaced after a sign-in by link, for 15 minutes', async () => {
  const { userId, email } = await user()
  const byLink = async () => ({ userId, email, sessionToken: sessionIn(await use(await linkFor(userId))) ?? '' })
  const change = { password: 'a wholly new pass phrase' }
  const slow = await byLink()
  clock.advance(15 * 60_000)
  assert.equal((await send(slow, 'PATCH', '/me', change)).statusCode, 400)
  assert.equal((await send(await byLink(), 'PATCH', '/me', change)).statusCode, 200)
  const payload = { email, password: change.password }
  assert.equal((await app.inject({ method: 'POST', url: '/api/team/v1/sign-in', payload })).statusCode, 200)
})

test('changing the password requires the current one, and ends every other session', async () => {
  const me = await user()
  const payload = { email: me.email, password: 'four plain words together' }
  const second = await app.inject({ method: 'POST', url: '/api/team/v1/sign-in', payload })
  const elsewhere = { ...me, sessionToken: sessionIn(second) ?? '' }
  const change = { password: 'a wholly new pass phrase', currentPassword: 'a wrong one' }
  assert.equal((await send(me, 'PATCH', '/me', change)).statusCode, 400)
  const changed = await send(me, 'PATCH', '/me', { ...change, currentPassword: payload.password })
  assert.equal(changed.statusCode, 200)
  assert.equal((await send(elsewhere, 'GET', '/session')).statusCode, 401)
  assert.equal((await send(me, 'GET', '/session')).statusCode, 401)
  const renewed = { ...me, sessionToken: sessionIn(changed) ?? '' }
  assert.equal((await send(renewed, 'GET', '/session')).statusCode, 200)
  assert.equal((await send(renewed, 'PATCH', '/me', { password: 'too short' })).statusCode, 400)
})

test('creating a sign-in link or installation token requires the password and the code as well as a session', async () => {
  const operator = await user({ isOperator: true })
  const other = await user()
  const password = 'four plain words together'
  const asks: [path: string, body: object][] = [
    ['/sign-in-links', { email: other.email }],
    ['/tokens', { name: 'CI', role: 'owner' }],
  ]
  for (const [path, body] of asks) {
    assert.equal((await send(operator, 'POST', path, body)).statusCode, 400)
    assert.equal((await send(operator, 'POST', path, { ...body, password: 'another' })).statusCode, 400)
    assert.equal((await send(operator, 'POST', path, { ...body, password })).statusCode, 201)
  }
  const secret = (await send(operator, 'POST', '/me/totp', { password })).json().secret
  const on = await send(operator, 'POST', '/me/totp/confirm', { code: codeAt(secret, clock.now()) })
  const now = { ...operator, sessionToken: sessionIn(on) ?? '' }
  for (const [path, body] of asks) {
    const [first] = (await send(now, 'POST', path, { ...body, password })).json().data.issues
    assert.equal(first.path, 'code')
    clock.advance(30_000)
    const code = codeAt(secret, clock.now())
    assert.equal((await send(now, 'POST', path, { ...body, password, code })).statusCode, 201)
  }
})

test('users cannot create a sign-in link for themselves, by session or by their token', async () => {
  const operator = await user({ isOperator: true })
  const password = 'four plain words together'
  const own = { email: operator.email, password }
  assert.equal((await send(operator, 'POST', '/sign-in-links', own)).statusCode, 403)
  const { value } = (await send(operator, 'POST', '/tokens', { name: 'CI', role: 'owner', password })).json()
  const headers = { authorization: `Bearer ${value}` }
  const asked = await app.inject({
    method: 'POST',
    url: '/api/team/v1/sign-in-links',
    headers,
    payload: { email: operator.email },
  })
  assert.equal(asked.statusCode, 403)
})
