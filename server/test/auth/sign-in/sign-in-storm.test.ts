import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rememberedForMs } from '../../../src/auth/sign-in/login-throttle.ts'
import { deleteExpiredSignIns } from '../../../src/auth/sign-in/sessions.ts'
import { createSignInLink } from '../../../src/auth/sign-in/sign-in.ts'
import { operatorToken, password, publicUrl, type SignedIn, teamWorld } from '../../support/team-app.ts'

const { app, clock, user, send, db } = await teamWorld()

interface From {
  address: string
  device?: string
}

async function signIn(email: string, guess: string, { address, device }: From) {
  const headers: Record<string, string> = device === undefined ? {} : { cookie: `parley_device=${device}` }
  const payload = { email, password: guess }
  const url = '/api/team/v1/sign-in'
  const answer = await app.inject({ method: 'POST', url, payload, headers, remoteAddress: address })
  const left = answer.cookies.find(({ name }) => name === 'parley_device')?.value
  return { status: answer.statusCode, device: left, wait: Number(answer.headers['retry-after']) }
}

let strangers = 0
const strangerAddress = () => {
  const n = ++strangers
  return n % 2 === 0 ? `198.18.${(n >> 8) % 256}.${n % 256}` : `2001:db8:${n.toString(16)}::1`
}

/** More than strangers have free. */
const usedUp = 32

/** Guesses from ever new addresses, and answers how many were checked rather than refused. */
async function storm(email: string, guesses: number): Promise<number> {
  const answers = await Promise.all(
    Array.from({ length: guesses }, (_, n) => signIn(email, `wrong ${n}`, { address: strangerAddress() })),
  )
  return answers.filter(({ status }) => status === 401).length
}

const home = '203.0.113.77'

test('attempts from many addresses do not lock out a known browser or network', async () => {
  const { email } = await user()
  const { device } = await signIn(email, password, { address: home })
  assert.ok(device)
  await storm(email, usedUp)
  for (let round = 0; round < 3; round++) {
    assert.equal((await signIn(email, password, { address: strangerAddress(), device })).status, 200)
    assert.equal((await signIn(email, password, { address: home })).status, 200)
    await storm(email, 2)
  }
})

test('the browser and network of a sign-in by link are remembered too', async () => {
  const { email, userId } = await user()
  const { url } = await db.tx((tx) => createSignInLink(tx, publicUrl, userId, clock.now()))
  const payload = { token: url.split('/').at(-1) }
  await app.inject({ method: 'POST', url: '/api/team/v1/sign-in/link', payload, remoteAddress: home })
  await storm(email, usedUp)
  assert.equal((await signIn(email, password, { address: home })).status, 200)
})

test('attempts at an account from unknown networks are limited over all addresses', async () => {
  const { email } = await user()
  let [firstHour, later] = [0, 0]
  // Each from a new address, and as soon as the door is open again.
  for (let second = 0; second < 2 * 3600; ) {
    const { status, wait } = await signIn(email, 'wrong', { address: strangerAddress() })
    if (status === 401) second < 3600 ? firstHour++ : later++
    const passed = status === 401 ? 1 : wait
    second += passed
    clock.advance(passed * 1000)
  }
  assert.ok(firstHour >= 30)
  assert.ok(firstHour <= 50, `${firstHour} in the first hour`)
  assert.ok(later <= 12, `${later} in the hour that follows`)
})

test('a known network and a known browser have five free attempts, then four an hour', async () => {
  for (const isDevice of [true, false]) {
    const { email } = await user()
    const { device } = await signIn(email, password, { address: home })
    const from = () => (isDevice && device !== undefined ? { address: strangerAddress(), device } : { address: home })
    const statuses = []
    for (let guess = 0; guess < 6; guess++) statuses.push((await signIn(email, 'wrong', from())).status)
    assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429])
    for (let guess = 0; guess < 12; guess++) {
      await signIn(email, 'wrong', from())
      clock.advance(900_000)
    }
    assert.equal((await signIn(email, 'wrong', from())).status, 401)
    assert.equal((await signIn(email, 'wrong', from())).wait, 900)
  }
})

test('a device token of another browser, or an invented one, has no effect', async () => {
  const [owner, other] = [await user(), await user()]
  const { device } = await signIn(other.email, password, { address: strangerAddress() })
  await storm(owner.email, usedUp)
  for (const made of [device, 'A'.repeat(43), 'x', '']) {
    assert.equal((await signIn(owner.email, password, { address: strangerAddress(), device: made ?? '' })).status, 429)
  }
})

test('known browsers and networks are forgotten after 90 days, a new password or the end of all sessions', async () => {
  const forgetful = {
    '90 days': async () => {
      clock.advance(rememberedForMs + 1000)
      await db.tx((tx) => deleteExpiredSignIns(tx, clock.now(), 14 * 24 * 3_600_000))
    },
    'a new password': async (me: SignedIn) => {
      const change = { password: 'four other words together', currentPassword: password }
      assert.equal((await send(me, 'PATCH', '/me', change)).statusCode, 200)
    },
    'all sessions': async (me: SignedIn) => {
      const answer = await send(operatorToken, 'POST', '/sessions/end-all', { email: me.email })
      assert.equal(answer.statusCode, 200)
    },
  }
  for (const [what, forget] of Object.entries(forgetful)) {
    const me = await user()
    const { device } = await signIn(me.email, password, { address: home })
    await forget(me)
    await storm(me.email, usedUp)
    assert.equal((await signIn(me.email, password, { address: home, device: device ?? '' })).status, 429, what)
  }
})

test('failed sign-ins are in the audit log: one entry an hour per account, and one for all unknown accounts', async () => {
  const audit = async () => (await send(operatorToken, 'GET', '/audit?limit=100')).json().entries
  const { email, userId } = await user()
  clock.advance(3_600_000)
  for (let guess = 0; guess < 8; guess++) await signIn(email, 'wrong', { address: strangerAddress() })
  await Promise.all(
    Array.from({ length: 12 }, (_, n) => signIn(`canary-${n}@example.com`, 'wrong', { address: strangerAddress() })),
  )
  const failed = (await audit()).filter(({ action }: { action: string }) => action === 'sign-in.failed').slice(0, 2)
  const shown = failed.map(({ target, count, actor }: Record<string, unknown>) => ({ target, count, actor }))
  const actor = { type: 'system', id: null }
  assert.deepEqual(
    shown.sort((a: { count: number }, b: { count: number }) => a.count - b.count),
    [
      { target: `user:${userId}`, count: 8, actor },
      { target: null, count: 12, actor },
    ],
  )
  assert.ok(!JSON.stringify(await audit()).includes('canary'))
  clock.advance(3_600_001)
  await signIn(email, 'wrong', { address: strangerAddress() })
  const [newest] = await audit()
  assert.deepEqual([newest.target, newest.count], [`user:${userId}`, 1])
})

test('wrong codes are in the audit log too', async () => {
  const me = await user()
  await db.tx(async (tx) => {
    await tx`update users set totp_confirmed_at = ${clock.now()} where id = ${me.userId}`
  })
  const payload = { email: me.email, password }
  const { challenge } = (await app.inject({ method: 'POST', url: '/api/team/v1/sign-in', payload })).json()
  const wrong = { challenge, code: '000000' }
  for (let guess = 0; guess < 3; guess++) {
    await app.inject({ method: 'POST', url: '/api/team/v1/sign-in/totp', payload: wrong })
  }
  const [newest] = (await send(operatorToken, 'GET', '/audit?limit=1')).json().entries
  assert.deepEqual([newest.action, newest.target, newest.count], ['second-factor.failed', `user:${me.userId}`, 3])
})
