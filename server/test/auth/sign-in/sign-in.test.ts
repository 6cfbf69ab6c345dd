import assert from 'node:assert/strict'
import { test } from 'node:test'
import { manualClock } from '../../../src/base/clock.ts'
import { newId } from '../../../src/base/id.ts'
import { version } from '../../../src/base/version.ts'
import { startNode } from '../../support/events/feed-world.ts'
import {
  cookieOf,
  operatorToken,
  password,
  publicUrl,
  type SignedIn,
  sessionIn,
  teamWorld,
} from '../../support/team-app.ts'

const w = await teamWorld()
const { app, clock, user, send, db } = w

function signIn(email: string, guess = password, headers: Record<string, string> = {}, remoteAddress = '192.0.2.1') {
  const payload = { email, password: guess }
  return app.inject({ method: 'POST', url: '/api/team/v1/sign-in', payload, headers, remoteAddress })
}

const guess = (email: string, words: string, from: string) => signIn(email, words, {}, from)

test('an e-mail address with its domain in another script is the same user, and cannot be added twice', async () => {
  const name = `ana-${newId(clock.now())}`
  const { userId } = await user({ email: `${name}@münchen.de` })
  for (const email of [`${name}@xn--mnchen-3ya.de`, `${name.toUpperCase()}@MÜNCHEN.de`]) {
    const answer = await signIn(email)
    assert.equal(answer.statusCode, 200, email)
    const cookie = cookieOf(answer.cookies[0]?.value ?? '')
    assert.equal((await app.inject({ url: '/api/team/v1/session', headers: { cookie } })).json().user.id, userId)
    await assert.rejects(user({ email }), /already exists/)
  }
})

test('the right password sets a session cookie that works', async () => {
  const { email, userId } = await user()
  const answer = await signIn(`  ${email.toUpperCase()} `)
  assert.equal(answer.statusCode, 200)
  assert.equal(answer.json().step, 'done')
  const cookie = answer.cookies[0]
  assert.equal(cookie?.httpOnly, true)
  assert.equal(cookie?.sameSite, 'Lax')
  const session = await app.inject({ url: '/api/team/v1/session', headers: { cookie: cookieOf(cookie?.value ?? '') } })
  assert.equal(session.json().user.id, userId)
  assert.equal(session.json().user.email, email)
  assert.equal(session.json().csrfToken, answer.json().csrfToken)
  assert.equal(session.json().version, version)
})

test('over HTTPS the cookie is Secure and bound to the host by its name', async () => {
  const http = { ...w.config.http, publicUrl: 'https://parley.test' }
  const secure = await startNode(w, { config: { ...w.config, http } })
  const { email } = await user()
  const payload = { email, password }
  const answer = await secure.app.inject({ method: 'POST', url: '/api/team/v1/sign-in', payload })
  assert.match(
    String(answer.headers['set-cookie']),
    /^__Host-parley_session=[^;]+; Path=\/; Expires=.*; HttpOnly; Secure; SameSite=Lax$/,
  )
})

test('a wrong password and an unknown e-mail get the same response', async () => {
  const { email } = await user()
  const wrong = await signIn(email, 'not the password')
  const unknown = await signIn('nobody@example.com', 'not the password')
  assert.equal(wrong.statusCode, 401)
  assert.deepEqual(wrong.json(), unknown.json())
  assert.equal(wrong.cookies.length, 0)
})

test('failed attempts delay the next one, longer each time, even for unknown accounts', async () => {
  for (const email of [(await user()).email, 'no-such-account@example.com']) {
    const from = `198.51.100.${email.length}`
    for (let n = 0; n < 5; n++) assert.equal((await guess(email, 'wrong', from)).statusCode, 401)
    const waits: number[] = []
    for (let round = 0; round < 4; round++) {
      const early = await guess(email, password, from)
      assert.equal(early.statusCode, 429)
      waits.push(Number(early.headers['retry-after']))
      clock.advance(Number(early.headers['retry-after']) * 1000)
      assert.equal((await guess(email, 'wrong', from)).statusCode, 401)
    }
    assert.deepEqual(waits, [1, 2, 4, 8])
  }
})

test('parallel attempts are counted individually', async () => {
  const { email } = await user()
  const guesses = await Promise.all(
    Array.from({ length: 20 }, (_, at) => guess(email, `wrong ${at}`, '198.51.100.200')),
  )
  assert.equal(guesses.filter((answer) => answer.statusCode === 401).length, 5)
  assert.equal(guesses.filter((answer) => answer.statusCode === 429).length, 15)
})

test('one address cannot try a password on every account, but many people of an office can sign in from it', async () => {
  const [from, others] = ['2001:db8::1', '2001:db8::ffff']
  for (let person = 0; person < 30; person++) {
    assert.equal((await guess((await user()).email, password, from)).statusCode, 200)
  }
  for (let n = 0; n < 25; n++) await guess(`someone-${n}@example.com`, 'wrong', from)
  assert.equal((await guess('yet-another@example.com', 'wrong', others)).statusCode, 429)
})

test('a cross-site sign-in is refused', async () => {
  const { email } = await user()
  assert.equal((await signIn(email, password, { origin: 'https://evil.example' })).statusCode, 403)
  assert.equal((await signIn(email, password, { 'sec-fetch-site': 'cross-site' })).statusCode, 403)
  assert.equal((await signIn(email, password, { origin: publicUrl })).statusCode, 200)
})

test("signing in ends the browser's previous session", async () => {
  const planted = await user()
  const { email } = await user()
  const answer = await signIn(email, password, { cookie: cookieOf(planted.sessionToken) })
  assert.notEqual(sessionIn(answer), planted.sessionToken)
  assert.equal((await send(planted, 'GET', '/session')).statusCode, 401)
})

const dayMs = 24 * 3_600_000

test('a session ends 14 days after its last use by default', async () => {
  const me = await user()
  for (const days of [13, 13]) {
    clock.advance(days * dayMs)
    assert.equal((await send(me, 'GET', '/session')).statusCode, 200)
  }
  clock.advance(14 * dayMs)
  assert.equal((await send(me, 'GET', '/session')).statusCode, 401)
})

test('a session ends 90 days after its start, even if it is used', async () => {
  const me = await user()
  for (let day = 0; day < 90; day += 10) {
    assert.equal((await send(me, 'GET', '/session')).statusCode, 200)
    clock.advance(10 * dayMs)
  }
  assert.equal((await send(me, 'GET', '/session')).statusCode, 401)
})

test('a user lists and ends their own sessions, one or all others, and nobody else’s', async () => {
  const [me, stranger] = [await user(), await user()]
  const others: SignedIn[] = []
  for (let n = 0; n < 3; n++) others.push({ ...me, sessionToken: sessionIn(await signIn(me.email)) ?? '' })
  const statuses = () =>
    Promise.all([me, ...others].map(async (one) => (await send(one, 'GET', '/session')).statusCode))
  const { sessions } = (await send(me, 'GET', '/sessions')).json()
  assert.equal(sessions.length, 4)
  const other = sessions.find((session: { current: boolean }) => !session.current)
  assert.equal((await send(stranger, 'DELETE', `/sessions/${other.id}`)).statusCode, 404)
  assert.deepEqual(await statuses(), [200, 200, 200, 200])
  assert.equal((await send(me, 'DELETE', `/sessions/${other.id}`)).statusCode, 200)
  assert.deepEqual((await statuses()).sort(), [200, 200, 200, 401])
  assert.deepEqual((await send(me, 'DELETE', '/sessions')).json(), { success: true, ended: 2 })
  assert.deepEqual(await statuses(), [200, 401, 401, 401])
  assert.equal((await send(operatorToken, 'DELETE', '/sessions')).statusCode, 403)
})

test('signing out ends the session and clears the cookie', async () => {
  const me = await user()
  const answer = await send(me, 'POST', '/sign-out')
  assert.equal(answer.statusCode, 200)
  assert.match(String(answer.headers['set-cookie']), /^parley_session=; /)
  assert.equal((await send(me, 'GET', '/session')).statusCode, 401)
})

test('names, e-mails, passwords and tokens are not stored as plaintext', async () => {
  const { email, sessionToken } = await user({ email: 'plain-text-canary@example.com' })
  await signIn(email)
  const tables = ['users', 'sessions', 'login_attempts', 'audit_log']
  for (const table of tables) {
    const rows = await db.sql<{ row: string }[]>`select t::text as row from ${db.sql(table)} t`
    const dump = rows.map(({ row }) => row).join('\n')
    for (const secret of [
      'plain-text-canary',
      Buffer.from('plain-text-canary').toString('hex'),
      'Ana Lima',
      sessionToken,
      password,
    ]) {
      assert.ok(!dump.includes(secret), `${table} holds a secret`)
    }
  }
})

test("sessions use the wall clock, even if the simulator moves the service's clock", async () => {
  const wallClock = manualClock(clock.now())
  const moved = await startNode(w, { wallClock })
  const headers = { cookie: cookieOf((await user()).sessionToken) }
  const look = async () => (await moved.app.inject({ url: '/api/team/v1/session', headers })).statusCode
  clock.advance(400 * dayMs)
  assert.equal(await look(), 200)
  wallClock.advance(14 * dayMs)
  assert.equal(await look(), 401)
})
