import assert from 'node:assert/strict'
import { test } from 'node:test'
import { manualClock } from '../../../src/base/clock.ts'
import { testDatabase } from '../../support/database.ts'
import { bearer, guardedApp, newKey, noon } from '../../support/guarded-app.ts'

const { db } = await testDatabase()
const clock = manualClock(noon)
const { app } = await guardedApp(db, { clock, limits: { leadsPerMinute: 3, inboxPerMinute: 0 } })

async function get(url: string, headers: Record<string, string>) {
  const answer = await app.inject({ url, headers })
  const limit = ['limit', 'remaining', 'reset', 'policy'].map((name) => answer.headers[`ratelimit-${name}`])
  return { answer, status: answer.statusCode, limit }
}

test('each response counts down, and the 429 has Retry-After', async () => {
  const { value } = await newKey(db, clock, { scopes: ['leads.read'] })
  assert.deepEqual((await get('/leads', bearer(value))).limit, ['3', '2', '61', '3;w=60'])
  clock.advance(10_000)
  assert.deepEqual((await get('/leads', bearer(value))).limit, ['3', '1', '51', '3;w=60'])
  assert.deepEqual((await get('/leads', bearer(value))).limit, ['3', '0', '51', '3;w=60'])
  const { answer, status, limit } = await get('/leads', bearer(value))
  assert.equal(status, 429)
  assert.deepEqual(limit, ['3', '0', '51', '3;w=60'])
  assert.equal(answer.headers['retry-after'], '51')
  assert.deepEqual(answer.json(), {
    statusCode: 429,
    statusMessage: 'Rate limit reached. Try again in 51 s.',
    data: { code: 'RATE_LIMITED' },
  })
  clock.advance(51_000)
  assert.equal((await get('/leads', bearer(value))).status, 200)
})

test('keys of a workspace have separate limits', async () => {
  const first = await newKey(db, clock)
  const second = await newKey(db, clock, { workspaceId: first.key.workspaceId })
  for (let request = 0; request < 4; request++) await get('/leads', bearer(first.value))
  assert.equal((await get('/leads', bearer(first.value))).status, 429)
  assert.equal((await get('/leads', bearer(second.value))).status, 200)
})

test('a 403 for the plan has the headers too, and counts', async () => {
  const { key, value } = await newKey(db, clock)
  await db.sql`update workspaces set leads_enabled = false where id = ${key.workspaceId}`
  const { status, limit } = await get('/leads', bearer(value))
  assert.equal(status, 403)
  assert.deepEqual(limit, ['3', '2', '61', '3;w=60'])
})

test('a rejected key has the headers too, and counts against no key', async () => {
  const { status, limit } = await get('/leads', {})
  assert.equal(status, 401)
  assert.deepEqual(limit, ['3', '3', '0', '3;w=60'])
})

test('a limit of 0 means no limit and no headers', async () => {
  const { value } = await newKey(db, clock)
  for (let request = 0; request < 10; request++) {
    const { status, limit } = await get('/inbox', bearer(value))
    assert.equal(status, 200)
    assert.deepEqual(limit, [undefined, undefined, undefined, undefined])
  }
})
