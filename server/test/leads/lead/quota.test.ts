import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readQuota } from '../../../src/leads/lead/quota.ts'
import { world } from '../../support/world.ts'

const create = (w: Awaited<ReturnType<typeof world>>) => w.call('POST', '/api/v1/leads', { body: { firstName: 'Ana' } })

function count(answers: { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

test('50 parallel creates against a quota of 20 make 20', async () => {
  const w = await world({ dailyLeadQuota: 20 })
  const answers = await Promise.all(Array.from({ length: 50 }, () => create(w)))
  assert.deepEqual(count(answers), { 201: 20, 429: 30 })
  const refused = answers.find((answer) => answer.status === 429)
  assert.deepEqual(refused?.body, { statusCode: 429, statusMessage: 'Daily lead limit reached' })
  assert.equal(refused?.headers['retry-after'], String(12 * 3600))
  assert.deepEqual(await readQuota(w.db.sql, w.workspaceId, w.clock.now()), { used: 20, limit: 20 })
})

test('a creation that fails counts nothing', async () => {
  const w = await world({ dailyLeadQuota: 2 })
  await w.lead({ externalRef: 'taken' })
  for (let n = 0; n < 5; n++) {
    const { status } = await w.call('POST', '/api/v1/leads', { body: { firstName: 'Ana', externalRef: 'taken' } })
    assert.equal(status, 409)
  }
  assert.equal((await create(w)).status, 201)
  assert.equal((await create(w)).status, 429)
})

test('single creations, upserts and batches share one quota, exact to the last lead', async () => {
  const w = await world({ dailyLeadQuota: 333 })
  const item = (ref: string) => ({ match: { by: 'externalRef', value: ref }, lead: { firstName: 'B' } })
  const work = Array.from({ length: 60 }, (_, n) => [
    create(w),
    w.call('POST', '/api/v1/leads/upsert', { body: item(`single-${n}`) }),
    ...(n % 10 === 0
      ? [
          w.call('POST', '/api/v1/leads/bulk-upsert', {
            body: { items: Array.from({ length: 50 }, (_, i) => item(`batch-${n}-${i}`)) },
          }),
        ]
      : []),
  ])
  const answers = await Promise.all(work.flat())
  const made = answers.reduce(
    (sum, { status, body }) => sum + (body.created ?? (status === 201 || body.action === 'created' ? 1 : 0)),
    0,
  )
  assert.equal(made, 333)
  const [row] = await w.db.sql`select count(*)::integer as n from leads where workspace_id = ${w.workspaceId}`
  assert.equal(row?.n, 333)
})

test('a quota that is changed in the middle of the day holds from then on', async () => {
  const w = await world({ dailyLeadQuota: 100_000 })
  for (let n = 0; n < 5; n++) assert.equal((await create(w)).status, 201)
  await w.db.sql`update workspaces set daily_lead_quota = 7 where id = ${w.workspaceId}`
  assert.deepEqual(count(await Promise.all(Array.from({ length: 10 }, () => create(w)))), { 201: 2, 429: 8 })
  await w.db.sql`update workspaces set daily_lead_quota = 0 where id = ${w.workspaceId}`
  assert.deepEqual(count(await Promise.all(Array.from({ length: 10 }, () => create(w)))), { 201: 10 })
  assert.deepEqual(await readQuota(w.db.sql, w.workspaceId, w.clock.now()), { used: 17, limit: 0 })
})

test('the quota is per UTC day', async () => {
  const w = await world({ dailyLeadQuota: 1 })
  assert.equal((await create(w)).status, 201)
  assert.equal((await create(w)).status, 429)
  w.clock.advance(12 * 3_600_000)
  assert.equal((await create(w)).status, 201)
})
