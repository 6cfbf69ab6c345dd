import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readQuota } from '../../../src/leads/lead/quota.ts'
import { leadPath, leadsPath, quotaUsed } from '../../support/leads/leads.ts'
import { type Answer, type World, world } from '../../support/world.ts'

const create = (w: World, fields: object = {}) => w.call('POST', leadsPath, { body: { firstName: 'Ana', ...fields } })

const upsert = (w: World, value: string, fields: object = { firstName: 'Ana' }) =>
  w.call('POST', `${leadsPath}/upsert`, { body: { match: { by: 'externalRef', value }, lead: fields } })

const bulk = (w: World, values: string[]) =>
  w.call('POST', `${leadsPath}/bulk-upsert`, {
    body: { items: values.map((value) => ({ match: { by: 'externalRef', value }, lead: { firstName: 'Ana' } })) },
  })

const statuses = (answers: Answer[]) => answers.map((answer) => answer.status).sort()

async function leadCount(w: World): Promise<number> {
  return (await w.call('GET', leadsPath)).body.pagination.total
}

test('a used-up quota returns 429 with its message and Retry-After until midnight UTC, on create and upsert-create', async () => {
  const w = await world({ dailyLeadQuota: 1 })
  w.clock.set(new Date('2026-03-11T22:58:30.500Z'))
  const { id } = (await upsert(w, 'known')).body.data
  for (const { status, body, headers } of [await create(w), await upsert(w, 'unknown')]) {
    assert.equal(status, 429)
    assert.deepEqual(body, { statusCode: 429, statusMessage: 'Daily lead limit reached' })
    assert.equal(headers['retry-after'], '3690')
  }
  assert.equal((await upsert(w, 'known', { notes: 'updates are free' })).status, 200)
  assert.equal((await w.call('PATCH', leadPath(id), { body: { status: 'won' } })).status, 200)
  w.clock.set(new Date('2026-03-11T23:59:59.999Z'))
  const last = await create(w)
  assert.equal(last.status, 429)
  assert.equal(last.headers['retry-after'], '1')
  w.clock.advance(1)
  assert.equal((await create(w)).status, 201)
  assert.equal((await create(w)).status, 429)
})

test('a deleted lead still counts, and restoring it does not count again', async () => {
  const w = await world({ dailyLeadQuota: 2 })
  const { id } = (await create(w)).body.data
  await w.call('DELETE', leadPath(id))
  assert.equal((await create(w)).status, 201)
  assert.equal((await create(w)).status, 429)
  assert.equal((await w.call('POST', `${leadPath(id)}/restore`)).status, 200)
  assert.equal(await quotaUsed(w), 2)
})

test('a quota changed during the day applies at once; 0 means unlimited', async () => {
  const w = await world({ dailyLeadQuota: 100_000 })
  const creates = async (count: number) => statuses(await Promise.all(Array.from({ length: count }, () => create(w))))
  const change = (quota: number) =>
    w.db.sql`update workspaces set daily_lead_quota = ${quota} where id = ${w.workspaceId}`
  assert.deepEqual(await creates(5), Array(5).fill(201))
  await change(7)
  assert.deepEqual(await creates(10), [201, 201, ...Array(8).fill(429)])
  await change(0)
  assert.deepEqual(await creates(10), Array(10).fill(201))
  assert.deepEqual(await readQuota(w.db.sql, w.workspaceId, w.clock.now()), { used: 17, limit: 0 })
})

test('parallel creates, upserts and batches use exactly the quota', async () => {
  const w = await world({ dailyLeadQuota: 50 })
  const answers = await Promise.all(
    Array.from({ length: 36 }, (_, n) => {
      if (n % 3 === 0) return create(w)
      if (n % 3 === 1) return upsert(w, `single ${n}`)
      return bulk(
        w,
        Array.from({ length: 10 }, (_, i) => `batch ${n} ${i}`),
      )
    }),
  )
  let made = 0
  for (const { status, body } of answers) {
    assert.ok([200, 201, 429].includes(status), String(status))
    if (status === 201 || body.action === 'created') made++
    if (body.results === undefined) continue
    made += body.created
    const errors = body.results.filter((result: { success: boolean }) => !result.success)
    for (const { error } of errors)
      assert.deepEqual(error, { statusCode: 429, statusMessage: 'Daily lead limit reached' })
  }
  assert.equal(made, 50)
  assert.equal(await leadCount(w), 50)
  assert.equal(await quotaUsed(w), 50)
})

test('the quota is shared by all keys of a workspace, and separate per workspace', async () => {
  const [w, other] = [await world({ dailyLeadQuota: 1 }), await world({ dailyLeadQuota: 1 })]
  const { value: key } = await w.addKey({ scopes: ['leads.write'] })
  assert.equal((await create(w)).status, 201)
  assert.equal((await w.call('POST', leadsPath, { key, body: { firstName: 'A' } })).status, 429)
  assert.equal((await create(other)).status, 201)
})
