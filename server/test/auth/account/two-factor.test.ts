import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeAt } from '../../../src/auth/sign-in/second-factor.ts'
import { createSignInLink } from '../../../src/auth/sign-in/sign-in.ts'
import { password, publicUrl, type SignedIn, sessionIn, teamWorld } from '../../support/team-app.ts'

const { app, clock, user, send, db } = await teamWorld()

const stepMs = 30_000

const post = (path: string, payload: object) => app.inject({ method: 'POST', url: `/api/team/v1${path}`, payload })

async function challengeFor(email: string): Promise<string> {
  const answer = await post('/sign-in', { email, password })
  assert.equal(answer.json().step, 'totp')
  assert.equal(sessionIn(answer), undefined)
  return answer.json().challenge
}

/** What a code is answered with after the right password. */
const enter = async ({ email }: SignedIn, code: string) =>
  (await post('/sign-in/totp', { challenge: await challengeFor(email), code })).statusCode

/** A user whose second factor is on, and whose last code is a step old. */
async function enrolled(): Promise<{ me: SignedIn; secret: string; recoveryCodes: string[] }> {
  const me = await user()
  const { secret } = (await send(me, 'POST', '/me/totp', { password })).json()
  const confirmed = await send(me, 'POST', '/me/totp/confirm', { code: codeAt(secret, clock.now()) })
  assert.equal(confirmed.statusCode, 200)
  clock.advance(stepMs)
  const { recoveryCodes } = confirmed.json()
  return { me: { ...me, sessionToken: sessionIn(confirmed) ?? '' }, secret, recoveryCodes }
}

test('enrollment has no effect until a code confirms it', async () => {
  const me = await user()
  const { uri } = (await send(me, 'POST', '/me/totp', { password })).json()
  assert.match(uri, /^otpauth:\/\/totp\/Parley:/)
  assert.equal((await post('/sign-in', { email: me.email, password })).json().step, 'done')
  assert.equal((await send(me, 'POST', '/me/totp/confirm', { code: '000000' })).statusCode, 400)
  assert.equal((await post('/sign-in', { email: me.email, password })).json().step, 'done')
})

test('with the second factor on, a password or a link gives no session; a code then does', async () => {
  const { me, secret } = await enrolled()
  const { url } = await db.tx((tx) => createSignInLink(tx, publicUrl, me.userId, clock.now()))
  const byLink = (await post('/sign-in/link', { token: url.slice(url.lastIndexOf('/') + 1) })).json()
  assert.equal(byLink.step, 'totp')
  for (const challenge of [await challengeFor(me.email), byLink.challenge]) {
    clock.advance(stepMs)
    const answer = await post('/sign-in/totp', { challenge, code: codeAt(secret, clock.now()) })
    assert.equal(answer.statusCode, 200)
    const sessionToken = sessionIn(answer) ?? ''
    assert.equal((await send({ ...me, sessionToken }, 'GET', '/session')).json().user.twoFactor, true)
  }
})

test('a code works once, also one of the previous step, and starts one session of several concurrent attempts', async () => {
  const { me, secret } = await enrolled()
  const code = codeAt(secret, clock.now())
  const challenges = await Promise.all(Array.from({ length: 3 }, () => challengeFor(me.email)))
  const answers = await Promise.all(challenges.map((challenge) => post('/sign-in/totp', { challenge, code })))
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [200, 401, 401])
  assert.equal(await enter(me, code), 401)
  clock.advance(stepMs)
  assert.equal(await enter(me, code), 401)
  assert.equal(await enter(me, codeAt(secret, clock.now())), 200)
})

test('a code half a minute early or late is accepted, one minute is not', async () => {
  for (const [offset, status] of [
    [-1, 200],
    [1, 200],
    [-2, 401],
    [2, 401],
  ] as const) {
    const { me, secret } = await enrolled()
    clock.advance(2 * stepMs)
    const code = codeAt(secret, new Date(clock.now().getTime() + offset * stepMs))
    assert.equal(await enter(me, code), status, `${offset} steps`)
  }
})

test('a challenge lasts five minutes', async () => {
  const { me, secret } = await enrolled()
  const challenge = await challengeFor(me.email)
  clock.advance(5 * 60_000)
  assert.equal((await post('/sign-in/totp', { challenge, code: codeAt(secret, clock.now()) })).statusCode, 401)
})

test('attempts at the code are throttled', async () => {
  const { me } = await enrolled()
  const challenge = await challengeFor(me.email)
  const statuses = []
  for (let guess = 0; guess < 6; guess++) {
    statuses.push((await post('/sign-in/totp', { challenge, code: `00000${guess}` })).statusCode)
  }
  assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429])
})

test('there are ten recovery codes, and each works once, in any notation', async () => {
  const { me, recoveryCodes } = await enrolled()
  assert.equal(new Set(recoveryCodes).size, 10)
  const [code = ''] = recoveryCodes
  assert.equal(await enter(me, code.toUpperCase().replaceAll('-', ' ')), 200)
  assert.equal(await enter(me, code), 401)
})

test('enrollment requires the password as well as a session, and attempts are throttled', async () => {
  const me = await user()
  assert.equal((await send(me, 'POST', '/me/totp', {})).statusCode, 400)
  const guess = async () => (await send(me, 'POST', '/me/totp', { password: 'not the password' })).statusCode
  assert.deepEqual([await guess(), await guess(), await guess(), await guess(), await guess()], Array(5).fill(400))
  assert.equal(await guess(), 429)
  clock.advance(900_000)
  assert.equal((await send(me, 'POST', '/me/totp', { password })).statusCode, 200)
})

test('turning it on twice is refused; turning it off requires the password and a code or recovery code', async () => {
  const { me, secret } = await enrolled()
  assert.equal((await send(me, 'POST', '/me/totp', { password })).statusCode, 409)
  const off = async (proof: object) => {
    const answer = await send(me, 'DELETE', '/me/totp', proof)
    return [answer.statusCode, answer.json().data?.issues?.[0]?.path]
  }
  const code = codeAt(secret, clock.now())
  assert.equal((await off({}))[0], 400)
  assert.deepEqual(await off({ password }), [400, 'code'])
  assert.deepEqual(await off({ code }), [400, 'password'])
  assert.deepEqual(await off({ password: 'wrong', code }), [400, 'password'])
  assert.deepEqual(await off({ password, code: '000000' }), [400, 'code'])
  assert.equal((await post('/sign-in', { email: me.email, password })).json().step, 'totp')
  assert.deepEqual(await off({ password, code }), [200, undefined])
  assert.equal((await post('/sign-in', { email: me.email, password })).json().step, 'done')
  const lost = await enrolled()
  const byRecovery = { password, code: lost.recoveryCodes[3] }
  assert.equal((await send(lost.me, 'DELETE', '/me/totp', byRecovery)).statusCode, 200)
})

test('a user without a password must set one first', async () => {
  const me = await user()
  await db.tx((tx) => tx`update users set password_hash = null where id = ${me.userId}`)
  const answer = await send(me, 'POST', '/me/totp', { password })
  assert.deepEqual([answer.statusCode, answer.json().statusMessage], [409, 'You have no password yet. Set one first.'])
})

test('turning it on ends every other session', async () => {
  const me = await user()
  const elsewhere = { ...me, sessionToken: sessionIn(await post('/sign-in', { email: me.email, password })) ?? '' }
  const { secret } = (await send(me, 'POST', '/me/totp', { password })).json()
  await send(me, 'POST', '/me/totp/confirm', { code: codeAt(secret, clock.now()) })
  assert.equal((await send(elsewhere, 'GET', '/session')).statusCode, 401)
})
