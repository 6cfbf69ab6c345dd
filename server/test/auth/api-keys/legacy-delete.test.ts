import assert from 'node:assert/strict'
import { test } from 'node:test'
import { manualClock } from '../../../src/base/clock.ts'
import { testDatabase } from '../../support/database.ts'
import { bearer, guardedApp, newKey } from '../../support/guarded-app.ts'

const { db } = await testDatabase()
const lastMoment = new Date('2026-09-30T23:59:59.999Z')
const clock = manualClock(lastMoment)
const { app } = await guardedApp(db, { clock })
const names = ['x-service-deprecation-warning', 'warning', 'deprecation', 'sunset'] as const

async function remove(scopes: string[], at: Date) {
  clock.set(at)
  const { value } = await newKey(db, clock, { scopes })
  return app.inject({ url: '/delete', headers: bearer(value) })
}

test('until the end of 30 September 2026 UTC leads.write deletes, with warnings', async () => {
  const answer = await remove(['leads.write'], lastMoment)
  assert.equal(answer.statusCode, 200)
  const text = 'Scope leads.write deletes leads only until 30 September 2026. Use a key with scope leads.delete.'
  assert.equal(answer.headers['x-service-deprecation-warning'], text)
  assert.equal(answer.headers.warning, `299 - "${text}"`)
  assert.match(String(answer.headers.deprecation), /^@\d{10}$/)
  assert.equal(answer.headers.sunset, 'Thu, 01 Oct 2026 00:00:00 GMT')
})

test('from 1 October 2026 UTC leads.write does not delete', async () => {
  const answer = await remove(['leads.write', 'leads.bulk', 'leads.read'], new Date('2026-10-01T00:00:00.000Z'))
  assert.equal(answer.statusCode, 401)
  assert.deepEqual(answer.json(), { statusCode: 401, statusMessage: 'API key lacks scope leads.delete' })
  for (const name of names) assert.equal(answer.headers[name], undefined, name)
})

test('a key with leads.delete never gets warnings, before or after the date', async () => {
  for (const at of [lastMoment, new Date('2026-10-01T00:00:00.000Z')]) {
    for (const scopes of [['leads.delete'], ['leads.delete', 'leads.write']]) {
      const answer = await remove(scopes, at)
      assert.equal(answer.statusCode, 200)
      for (const name of names) assert.equal(answer.headers[name], undefined, name)
    }
  }
})

test('no other scope deletes leads', async () => {
  const answer = await remove(['leads.read', 'leads.bulk', 'inbox.write'], lastMoment)
  assert.equal(answer.statusCode, 401)
})

test('a deletion with the legacy scope that is refused for another reason has the warning too', async () => {
  clock.set(lastMoment)
  const { app: strict } = await guardedApp(db, { clock, limits: { leadsPerMinute: 1, inboxPerMinute: 0 } })
  const { value } = await newKey(db, clock, { scopes: ['leads.write'] })
  await strict.inject({ url: '/delete', headers: bearer(value) })
  const answer = await strict.inject({ url: '/delete', headers: bearer(value) })
  assert.equal(answer.statusCode, 429)
  for (const name of names) assert.ok(answer.headers[name], name)
})
