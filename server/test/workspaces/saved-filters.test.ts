import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditOf } from '../support/audit.ts'
import { oldRows, rotate } from '../support/key-rotation/rotate-keys.ts'
import { signedInMember, type TestMember } from '../support/member.ts'
import { pick } from '../support/pick.ts'
import { testTeamToken, world } from '../support/world.ts'

const path = '/saved-filters'
const waiting = { page: 'inbox', name: 'Waiting', query: 'view=mine&sort=waiting' }

async function team() {
  const w = await world()
  return { w, admin: await signedInMember(w, 'admin'), ana: await signedInMember(w), bea: await signedInMember(w) }
}

const names = async (member: TestMember): Promise<string[]> =>
  pick((await member.call('GET', path)).body.savedFilters, 'name')

test("a member's own filters are not visible to others", async () => {
  const { ana, bea, admin } = await team()
  const { status, body } = await ana.call('POST', path, waiting)
  assert.equal(status, 201)
  const { id, shared, page, query } = body.savedFilter
  assert.deepEqual([shared, page, query], [false, 'inbox', waiting.query])
  assert.deepEqual([await names(ana), await names(bea), await names(admin)], [['Waiting'], [], []])
  for (const other of [bea, admin]) {
    assert.equal((await other.call('PATCH', `${path}/${id}`, { name: 'x' })).status, 404)
    assert.equal((await other.call('DELETE', `${path}/${id}`)).status, 404)
  }
  await ana.call('PATCH', `${path}/${id}`, { name: ' Mine ', query: 'view=mine' })
  const [changed] = (await ana.call('GET', path)).body.savedFilters
  assert.deepEqual([changed.name, changed.query, changed.page], ['Mine', 'view=mine', 'inbox'])
  assert.equal((await ana.call('DELETE', `${path}/${id}`)).status, 200)
  assert.deepEqual(await names(ana), [])
})

test('shared filters are visible to all, changed only by admins, and logged', async () => {
  const { w, ana, bea, admin } = await team()
  assert.equal((await ana.call('POST', path, { ...waiting, shared: true })).status, 403)
  const { id } = (await admin.call('POST', path, { ...waiting, shared: true })).body.savedFilter
  await ana.call('POST', path, { page: 'leads', name: 'Ads', query: 'source=ads' })
  assert.deepEqual([await names(ana), await names(bea)], [['Ads', 'Waiting'], ['Waiting']])
  assert.equal((await ana.call('PATCH', `${path}/${id}`, { name: 'x' })).status, 403)
  assert.equal((await ana.call('DELETE', `${path}/${id}`)).status, 403)
  await admin.call('PATCH', `${path}/${id}`, { shared: false })
  assert.deepEqual([await names(bea), await names(admin)], [[], ['Waiting']])
  await admin.call('PATCH', `${path}/${id}`, { shared: true })
  await admin.call('DELETE', `${path}/${id}`)
  const log = pick(await auditOf(w, 'saved_filter.'), '0')
  const changed = 'saved_filter.changed'
  assert.deepEqual(log, ['saved_filter.created', changed, changed, 'saved_filter.deleted'])
})

test('members cannot share filters, and workspaces are separate', async () => {
  const { ana } = await team()
  const { id } = (await ana.call('POST', path, waiting)).body.savedFilter
  assert.equal((await ana.call('PATCH', `${path}/${id}`, { shared: true })).status, 403)
  const { admin } = await team()
  assert.deepEqual(await names(admin), [])
  assert.equal((await admin.call('PATCH', `${path}/${id}`, { name: 'x' })).status, 404)
})

test('a token can only create shared filters', async () => {
  const { w, ana } = await team()
  const at = `/api/team/v1/workspaces/${w.workspaceId}${path}`
  assert.equal((await w.call('POST', at, { body: waiting, key: testTeamToken })).status, 403)
  const made = await w.call('POST', at, { body: { ...waiting, shared: true }, key: testTeamToken })
  assert.equal(made.status, 201)
  assert.deepEqual(await names(ana), ['Waiting'])
})

test('a member has at most 100 filters, even with concurrent requests', async () => {
  const { w, ana } = await team()
  await ana.call('POST', path, waiting)
  await w.db.sql`
    insert into saved_filters (workspace_id, id, user_id, page, content, created_at, updated_at)
    select workspace_id, gen_random_uuid(), user_id, page, content, now(), now()
    from saved_filters, generate_series(1, 98)
    where workspace_id = ${w.workspaceId}`
  const answers = await Promise.all(['a', 'b'].map((name) => ana.call('POST', path, { ...waiting, name })))
  assert.deepEqual(answers.map((one) => one.status).sort(), [201, 409])
})

test('a shared filter counts towards the 100 shared ones', async () => {
  const { w, admin } = await team()
  const { id } = (await admin.call('POST', path, waiting)).body.savedFilter
  await w.db.sql`
    insert into saved_filters (workspace_id, id, user_id, page, content, created_at, updated_at)
    select ${w.workspaceId}, gen_random_uuid(), null, page, content, now(), now()
    from saved_filters, generate_series(1, 100)
    where workspace_id = ${w.workspaceId}
      and id = ${id}`
  assert.equal((await admin.call('PATCH', `${path}/${id}`, { shared: true })).status, 409)
  assert.equal((await admin.call('PATCH', `${path}/${id}`, { name: 'Mine' })).status, 200)
})

test('name and query are encrypted, and readable after key rotation', async () => {
  const { w, ana } = await team()
  await ana.call('POST', path, { ...waiting, name: 'Marina', query: 'search=5581991234567' })
  const [row] = await w.db.sql<{ content: Buffer }[]>`
    select content from saved_filters where workspace_id = ${w.workspaceId}`
  assert.ok(row !== undefined && !row.content.includes('Marina') && !row.content.includes('5581991234567'))
  await rotate(w, 'data')
  assert.deepEqual(await names(ana), ['Marina'])
  assert.deepEqual(await oldRows(w.db, w.workspaceId, 'data', 2), [])
})

test('a filter without page, query or name is 400', async () => {
  const { ana } = await team()
  const { name: _, ...nameless } = waiting
  for (const body of [
    { ...waiting, page: 'forms' },
    { ...waiting, query: '?a=1' },
    { ...waiting, name: ' ' },
    nameless,
  ]) {
    assert.equal((await ana.call('POST', path, body)).status, 400, JSON.stringify(body))
  }
})

test('each member sees filters in their own order, followed by new ones sorted by name', async () => {
  const { w, ana, bea, admin } = await team()
  const make = async (by: TestMember, name: string, shared: boolean) =>
    (await by.call('POST', path, { page: 'leads', name, query: '', shared })).body.savedFilter.id
  const [a, b, c] = [await make(ana, 'A', false), await make(admin, 'B', true), await make(ana, 'C', false)]
  const order = (by: TestMember, ids: string[]) => by.call('PUT', `${path}/order`, { page: 'leads', ids })
  assert.equal((await order(ana, [c, b.toUpperCase(), a])).status, 200)
  await make(admin, 'Z', true)
  await make(ana, 'D', false)
  assert.deepEqual(await names(ana), ['C', 'B', 'A', 'D', 'Z'])
  assert.deepEqual(await names(bea), ['B', 'Z'])
  await order(ana, [])
  assert.deepEqual(await names(ana), ['A', 'B', 'C', 'D', 'Z'])
  const at = `/api/team/v1/workspaces/${w.workspaceId}${path}/order`
  assert.equal((await w.call('PUT', at, { body: { page: 'leads', ids: [] }, key: testTeamToken })).status, 403)
})
