import assert from 'node:assert/strict'
import { test } from 'node:test'
import { purgeDeletedLeads } from '../../../src/leads/write/restore.ts'
import { addMember, leadPath, leadsPath, storedRows } from '../../support/leads/leads.ts'
import { type World, world } from '../../support/world.ts'

const restorePath = (id: string) => `${leadPath(id)}/restore`
const dayMs = 86_400_000

const full = {
  uniqueCode: 'code-1',
  externalRef: 'ref-1',
  firstName: 'Marina',
  lastName: 'Duarte',
  email: 'marina@example.com',
  phone: '5581991234567',
  notes: 'prefers mornings',
  customFieldValues: { k_city: 'Recife' },
}

async function assertHidden({ call }: World, id: string): Promise<void> {
  for (const identifier of [id, 'code-1', 'ref-1', '5581991234567']) {
    for (const method of ['GET', 'DELETE'] as const) {
      const { status, body } = await call(method, leadPath(identifier))
      assert.equal(status, 404, `${method} ${identifier}`)
      assert.deepEqual(body, { statusCode: 404, statusMessage: 'Lead not found' })
    }
    const changed = await call('PATCH', leadPath(identifier), { body: { notes: 'x' } })
    assert.equal(changed.status, 404, `PATCH ${identifier}`)
  }
  for (const query of [{}, { search: 'marina' }, { search: '99123' }, { search: 'co' }, { status: 'new' }]) {
    const { body } = await call('GET', leadsPath, { query: query as Record<string, string> })
    assert.equal(body.pagination.total, 0)
    assert.deepEqual(body.data, [])
  }
  const matchers = { id, uniqueCode: 'code-1', externalRef: 'ref-1', phone: '5581991234567' }
  for (const [by, value] of Object.entries(matchers)) {
    const item = { match: { by, value }, lead: { notes: 'x' }, createIfMissing: false }
    const { status } = await call('POST', `${leadsPath}/upsert`, { body: item })
    assert.equal(status, 404, `upsert by ${by}`)
    const bulk = await call('POST', `${leadsPath}/bulk-upsert`, { body: { items: [item] } })
    assert.equal(bulk.body.results[0].error.statusCode, 404, `bulk by ${by}`)
  }
}

test('a deleted lead is hidden from every read, list, search, matcher and second DELETE', async () => {
  const w = await world()
  const { id } = await w.lead(full)
  const { status, body } = await w.call('DELETE', leadPath(id))
  assert.equal(status, 200)
  assert.deepEqual(body, { success: true, message: 'Lead deleted successfully' })
  const before = await storedRows(w)
  await assertHidden(w, id)
  assert.deepEqual(await storedRows(w), before)
})

test('deleting frees externalRef and uniqueCode', async () => {
  const { call, lead } = await world()
  const first = await lead(full)
  await call('DELETE', leadPath(first.id))
  const second = await lead(full)
  assert.equal((await call('GET', leadPath('ref-1'))).body.data.id, second.id)
  assert.equal((await call('GET', leadPath('code-1'))).body.data.id, second.id)
})

test('restore brings the lead back for every read, list, search and matcher', async () => {
  const { call, lead, clock } = await world()
  const created = await lead(full)
  const before = (await call('GET', leadPath(created.id))).body.data
  await call('DELETE', leadPath(created.id))
  clock.advance(1000)
  const { status, body } = await call('POST', restorePath(created.id))
  assert.equal(status, 200)
  const shown = { ...created, updatedAt: clock.now().toISOString() }
  assert.deepEqual(body, { success: true, message: 'Lead restored successfully', data: shown, lead: shown })
  for (const identifier of [created.id, 'code-1', 'ref-1', '558191234567']) {
    const read = await call('GET', leadPath(identifier))
    assert.deepEqual(read.body.data, { ...before, updatedAt: shown.updatedAt })
  }
  for (const search of ['duarte', '99123', 'ref-1', 'co']) {
    assert.equal((await call('GET', leadsPath, { query: { search } })).body.pagination.total, 1, search)
  }
})

test('restore works through the last millisecond of 30 days, and not after', async () => {
  const { call, lead, clock } = await world()
  const [inTime, late] = [(await lead()).id, (await lead()).id]
  for (const id of [inTime, late]) await call('DELETE', leadPath(id))
  clock.advance(30 * dayMs - 1)
  assert.equal((await call('POST', restorePath(inTime))).status, 200)
  clock.advance(1)
  const { status, body } = await call('POST', restorePath(late))
  assert.equal(status, 404)
  assert.deepEqual(body, { statusCode: 404, statusMessage: 'Lead not found' })
})

test('a lead that is not deleted or does not exist cannot be restored: 404', async () => {
  const { call, lead } = await world()
  const { id } = await lead({ uniqueCode: 'code' })
  for (const identifier of [id, 'code', 'nobody', '00000000-0000-7000-8000-000000000000', '..%2F']) {
    const { status, body } = await call('POST', restorePath(identifier))
    assert.equal(status, 404, identifier)
    assert.equal(body.statusMessage, 'Lead not found')
  }
  await call('DELETE', leadPath(id))
  assert.equal((await call('POST', restorePath('code'))).status, 404)
  assert.equal((await call('POST', restorePath(id))).status, 200)
  assert.equal((await call('POST', restorePath(id))).status, 404)
})

for (const field of ['externalRef', 'uniqueCode'] as const) {
  test(`restore returns 409 with the field if the ${field} was taken meanwhile`, async () => {
    const w = await world()
    const { id } = await w.lead({ [field]: 'name' })
    await w.call('DELETE', leadPath(id))
    const taker = await w.lead({ [field]: 'name' })
    const before = await storedRows(w)
    const { status, body } = await w.call('POST', restorePath(id))
    assert.equal(status, 409)
    assert.deepEqual(body, {
      statusCode: 409,
      statusMessage: `Lead with this ${field} already exists`,
      data: { field },
    })
    assert.deepEqual(await storedRows(w), before)
    await w.call('PATCH', leadPath(taker.id), { body: { [field]: 'another' } })
    assert.equal((await w.call('POST', restorePath(id))).status, 200)
  })
}

test('a restored lead may have an assignee who has left', async () => {
  const w = await world()
  const assignedTo = await addMember(w)
  const { id } = await w.lead({ assignedTo })
  await w.call('DELETE', leadPath(id))
  await w.db.sql`delete from members where workspace_id = ${w.workspaceId}`
  assert.equal((await w.call('POST', restorePath(id))).body.data.assignedTo, assignedTo)
})

test('of parallel deletes one succeeds, and of parallel restores too', async () => {
  const w = await world()
  const { id } = await w.lead()
  const tenTimes = (method: 'DELETE' | 'POST', path: string) =>
    Promise.all(Array.from({ length: 10 }, async () => (await w.call(method, path)).status))
  assert.deepEqual((await tenTimes('DELETE', leadPath(id))).sort(), [200, ...Array(9).fill(404)])
  assert.deepEqual((await tenTimes('POST', restorePath(id))).sort(), [200, ...Array(9).fill(404)])
  const names = (await w.events(id)).map((event) => event.name)
  assert.deepEqual(names, ['lead.created', 'lead.deleted', 'lead.restored'])
})

test('after 30 days the personal data is destroyed: in the row, the search tokens and the events', async () => {
  const w = await world()
  const { id } = await w.lead(full)
  await w.call('PATCH', leadPath(id), { body: { status: 'won' } })
  const kept = await w.lead({ firstName: 'Kept' })
  await w.call('DELETE', leadPath(id))
  w.clock.advance(30 * dayMs - 1)
  await purgeDeletedLeads(w.db, w.clock)
  assert.equal((await w.events(id)).length, 3)
  w.clock.advance(1)
  assert.ok((await purgeDeletedLeads(w.db, w.clock)) >= 1)
  const [row] = await w.db.sql`select * from leads where workspace_id = ${w.workspaceId} and id = ${id}`
  assert.ok(row)
  const { person, notes, custom_fields, email_index, phone_index, external_ref, unique_code } = row
  assert.equal(person.length, 0)
  assert.deepEqual([notes, custom_fields, email_index, phone_index, external_ref], Array(5).fill(null))
  assert.equal(unique_code, id)
  const tokens = await w.db.sql`select 1 from lead_search where workspace_id = ${w.workspaceId} and lead_id = ${id}`
  assert.equal(tokens.length, 0)
  assert.deepEqual(await w.events(id), [])
  assert.equal((await w.call('POST', restorePath(id))).status, 404)
  assert.equal(await purgeDeletedLeads(w.db, w.clock), 0)
  assert.equal((await w.call('GET', leadPath(kept.id))).status, 200)
  assert.equal((await w.events(kept.id)).length, 1)
})
