import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../../src/base/id.ts'
import { runBulkChanges } from '../../../src/leads/bulk/run-bulk-change.ts'
import { deleteExpiredFormerValues, deleteOldBulkChanges } from '../../../src/leads/retention.ts'
import { auditOf } from '../../support/audit.ts'
import { leadPath, makeLeads } from '../../support/leads/leads.ts'
import { signedInMember } from '../../support/member.ts'
import { pick } from '../../support/pick.ts'
import { world } from '../../support/world.ts'

const path = '/lead-bulk-changes'
const hourMs = 3_600_000

async function bulkWorld() {
  const w = await world()
  const member = await signedInMember(w)
  const begin = async (body: object) => {
    const answer = await member.call('POST', path, body)
    assert.equal(answer.status, 201, JSON.stringify(answer.body))
    return answer.body.bulkChange
  }
  const undo = async (id: string) => {
    const answer = await member.call('POST', `${path}/${id}/undo`)
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    return answer.body.bulkChange
  }
  const read = async (id: string) => (await member.call('GET', `/leads/${id}`)).body.lead
  const audit = () => auditOf(w, 'lead')
  const work = () => runBulkChanges(w, new AbortController().signal)
  return { w, member, begin, undo, read, audit, work }
}

test('a bulk change sets a field on all leads, returns counts, and is in the audit log with its number of leads', async () => {
  const { w, member, begin, read, audit } = await bulkWorld()
  const [first, second] = [await w.lead({ status: 'won' }), await w.lead({ status: 'qualified' })]
  const missing = newId(w.clock.now())
  const changes = { status: 'qualified', priority: 'high' }
  const change = await begin({ ids: [first.id, second.id.toUpperCase(), second.id, missing], changes })
  assert.deepEqual([change.state, change.total, change.changed, change.unchanged, change.failed], ['done', 3, 2, 0, 1])
  assert.deepEqual(change.startedBy, { type: 'user', id: member.userId })
  assert.equal((await read(first.id)).status, 'qualified')
  const [, told] = await w.events(first.id)
  assert.deepEqual([told?.name, told?.payload.previousStatus], ['lead.updated', 'won'])
  assert.deepEqual(await audit(), [['leads.bulk_changed', `bulk_change:${change.id} status,priority leads:2`]])
  const { bulkChanges } = (await member.call('GET', path)).body
  assert.deepEqual(bulkChanges, [change])
})

test('undo restores former values except those changed since, and counts the leads it kept', async () => {
  const { w, member, begin, undo, read, audit } = await bulkWorld()
  const other = await signedInMember(w)
  const leads = [
    await w.lead({ status: 'won' }),
    await w.lead({ status: 'new' }),
    await w.lead({ status: 'contacted' }),
  ]
  const [first, second, third] = leads.map(({ id }) => id)
  const change = await begin({ ids: leads.map(({ id }) => id), changes: { status: 'lost', assignedTo: member.userId } })
  w.clock.advance(1000)
  await w.call('PATCH', leadPath(first ?? ''), { body: { notes: 'Called again' } })
  await w.call('PATCH', leadPath(second ?? ''), { body: { status: 'qualified' } })
  await w.call('DELETE', leadPath(third ?? ''))
  w.clock.advance(1000)
  const answer = await other.call('POST', `${path}/${change.id}/undo`)
  const undone = answer.body.bulkChange
  assert.deepEqual([undone.state, undone.undone, undone.kept, undone.undoUntil], ['undone', 1, 2, null])
  const { status, assignedTo, notes } = await read(first ?? '')
  assert.deepEqual([status, assignedTo, notes], ['won', null, 'Called again'])
  const left = await read(second ?? '')
  assert.deepEqual(
    [left.status, left.assignedTo],
    ['qualified', null],
    'what is as it was set goes back, the rest stays',
  )
  const { history } = (await member.call('GET', `/leads/${first}/history`)).body
  assert.deepEqual(history.at(-1).actor, { type: 'user', id: other.userId })
  assert.deepEqual((await audit()).slice(1), [
    ['leads.undo_started', `bulk_change:${change.id}`],
    ['leads.undo_done', `bulk_change:${change.id} leads:1 left:2`],
  ])
  assert.equal((await other.call('POST', `${path}/${change.id}/undo`)).status, 409)
  await assert.rejects(undo(change.id))
})

test('undo of a bulk deletion restores the leads, except those already restored or whose name is taken', async () => {
  const { w, begin, undo, member } = await bulkWorld()
  const leads = [await w.lead(), await w.lead({ externalRef: 'crm-1' }), await w.lead()]
  const ids = leads.map(({ id }) => id)
  const change = await begin({ ids, delete: true })
  assert.deepEqual([change.kind, change.state, change.changed], ['delete', 'done', 3])
  assert.equal((await member.call('GET', '/leads')).body.total, 0)
  await w.lead({ externalRef: 'crm-1' })
  await w.call('POST', `/api/v1/leads/${ids[0]}/restore`)
  w.clock.advance(1000)
  await w.call('DELETE', leadPath(ids[0] ?? ''))
  const undone = await undo(change.id)
  assert.deepEqual([undone.undone, undone.kept], [1, 2])
  assert.deepEqual(pick((await member.call('GET', '/leads')).body.leads, 'id').includes(ids[2]), true)
})

test('large bulk changes run in the background, in batches, on any node', async () => {
  const { w, member, begin, undo, work } = await bulkWorld()
  const ids = await makeLeads(w, Array(1100).fill({}))
  const change = await begin({ ids, changes: { priority: 'urgent' } })
  assert.deepEqual([change.state, change.total, change.changed], ['running', 1100, 0])
  const urgent = async () => (await member.call('GET', '/leads?priority=urgent&limit=1')).body.total
  const stop = new AbortController()
  stop.abort()
  assert.equal(await runBulkChanges(w, stop.signal), 0)
  const dying = new AbortController()
  const dies = runBulkChanges(w, dying.signal)
  dying.abort()
  await dies
  const halfway = (await member.call('GET', `${path}/${change.id}`)).body.bulkChange
  assert.deepEqual([halfway.state, halfway.changed, await urgent()], ['running', 500, 500])
  const lease = new Date(w.clock.now().getTime() + 10_000)
  await w.db.sql`update lead_bulk_changes set due_at = ${lease} where id = ${change.id}`
  assert.equal(await work(), 0, 'until the lease of one that has died has ended, nobody else takes it')
  w.clock.advance(10_001)
  const stopping = new AbortController()
  const stops = runBulkChanges(w, stopping.signal)
  stopping.abort()
  await stops
  assert.equal(await work(), 1, 'one that stops gives it back')
  const done = (await member.call('GET', `${path}/${change.id}`)).body.bulkChange
  assert.deepEqual([done.state, done.changed, await urgent()], ['done', 1100, 1100])
  assert.equal((await undo(change.id)).state, 'undoing')
  await work()
  const undone = (await member.call('GET', `${path}/${change.id}`)).body.bulkChange
  assert.deepEqual([undone.state, undone.undone, undone.kept, await urgent()], ['undone', 1100, 0, 0])
})

test('all leads that match a filter are recorded before any is changed, and leads created later are not included', async () => {
  const { w, member, begin, undo, work } = await bulkWorld()
  const ids = await makeLeads(w, Array(700).fill({}))
  await w.lead({ status: 'won', lastName: 'Aside' })
  const asked = await begin({ filter: { status: 'new' }, changes: { status: 'contacted' } })
  assert.deepEqual([asked.state, asked.total], ['collecting', 0])
  w.clock.advance(1000)
  const late = await w.lead()
  const dying = new AbortController()
  const dies = runBulkChanges(w, dying.signal)
  dying.abort()
  await dies
  const halfway = (await member.call('GET', `${path}/${asked.id}`)).body.bulkChange
  assert.deepEqual([halfway.state, halfway.total, halfway.changed], ['collecting', 500, 0])
  await work()
  const done = (await member.call('GET', `${path}/${asked.id}`)).body.bulkChange
  assert.deepEqual([done.state, done.total, done.changed, done.failed], ['done', 700, 700, 0])
  const count = async (query: string) => (await member.call('GET', `/leads?${query}&limit=1`)).body.total
  assert.deepEqual([await count('status=contacted'), await count('status=new')], [700, 1])
  assert.equal((await member.call('GET', `/leads/${late.id}`)).body.lead.status, 'new')
  await undo(asked.id)
  await work()
  assert.equal(await count('status=new'), 701)

  const found = await begin({ filter: { search: 'aside' }, delete: true })
  const [row] = await w.db.sql<{ filter: Buffer }[]>`select filter from lead_bulk_changes where id = ${found.id}`
  assert.equal(row?.filter.includes('aside'), false, 'the search text is encrypted')
  await work()
  assert.deepEqual([await count('status=won'), await count('status=new')], [0, 701])
  for (const body of [
    { delete: true },
    { ids: [ids[0]], filter: {}, delete: true },
    { filter: { page: 1 }, delete: true },
    { filter: { status: 'NEW' }, delete: true },
  ]) {
    assert.equal((await member.call('POST', path, body)).status, 400, JSON.stringify(body))
  }
})

test('a cancelled bulk change stops, and its changes can be undone', async () => {
  const { w, member, begin, undo, work } = await bulkWorld()
  const ids = await makeLeads(w, Array(600).fill({}))
  const change = await begin({ ids, changes: { source: 'ads' } })
  const { body } = await member.call('POST', `${path}/${change.id}/cancel`)
  assert.deepEqual([body.bulkChange.state, body.bulkChange.changed], ['cancelled', 0])
  assert.equal(await work(), 0)
  assert.equal((await member.call('POST', `${path}/${change.id}/cancel`)).status, 409)
  await undo(change.id)
  await work()
  assert.equal((await member.call('GET', `${path}/${change.id}`)).body.bulkChange.state, 'undone')
})

test('a workspace has at most five running bulk changes, each of at most 10,000 leads', async () => {
  const { w, member, begin } = await bulkWorld()
  const ids = Array.from({ length: 501 }, () => newId(w.clock.now()))
  const wish = { ids, changes: { status: 'won' } }
  for (let n = 0; n < 5; n++) await begin(wish)
  const sixth = await member.call('POST', path, wish)
  assert.equal(sixth.status, 409)
  assert.match(sixth.body.statusMessage, /5 bulk changes are already running/)
  const tooMany = { ...wish, ids: Array.from({ length: 10_001 }, () => newId(w.clock.now())) }
  assert.equal((await member.call('POST', path, tooMany)).status, 400)
})

test('a bulk change can be undone for 24 hours', async () => {
  const { w, begin } = await bulkWorld()
  const { id } = await w.lead()
  const change = await begin({ ids: [id], changes: { status: 'won' } })
  assert.equal(change.undoUntil, new Date(w.clock.now().getTime() + 24 * hourMs).toISOString())
  w.clock.advance(24 * hourMs)
  const again = await signedInMember(w)
  const answer = await again.call('POST', `${path}/${change.id}/undo`)
  assert.deepEqual(
    [answer.status, (await again.call('GET', `${path}/${change.id}`)).body.bulkChange.undoUntil],
    [409, null],
  )
})

test('invalid requests are rejected, and undo does not restore an assignee who left', async () => {
  const { w, member, begin, undo, read } = await bulkWorld()
  const { id } = await w.lead()
  for (const body of [
    { ids: [id] },
    { ids: [id], changes: {} },
    { ids: [id], changes: { status: 'won' }, delete: true },
    { ids: [id], changes: { notes: 'x' } },
    { ids: [], delete: true },
    { ids: [id], changes: { assignedTo: newId(w.clock.now()) } },
  ]) {
    assert.equal((await member.call('POST', path, body)).status, 400, JSON.stringify(body))
  }
  const leaving = await signedInMember(w)
  await begin({ ids: [id], changes: { assignedTo: leaving.userId } })
  const taken = await begin({ ids: [id], changes: { assignedTo: null } })
  await w.db.sql`delete from members where workspace_id = ${w.workspaceId} and user_id = ${leaving.userId}`
  const undone = await undo(taken.id)
  assert.deepEqual([undone.undone, undone.kept, (await read(id)).assignedTo], [0, 1, null])
})

test('former values are encrypted, and deleted a day later', async () => {
  const { w, begin } = await bulkWorld()
  const { id } = await w.lead({ status: 'qualified' })
  await begin({ ids: [id], changes: { status: 'won' } })
  const [item] = await w.db.sql<{ before: Buffer }[]>`
    select before from lead_bulk_items where workspace_id = ${w.workspaceId}`
  assert.equal(item?.before.includes('qualified'), false)
  const count = async (table: string) => {
    const [row] = await w.db.sql<{ count: number }[]>`
      select count(*)::integer as count from ${w.db.sql(table)} where workspace_id = ${w.workspaceId}`
    return row?.count
  }
  const { clock, db } = w
  await deleteExpiredFormerValues(db, clock)
  assert.equal(await count('lead_bulk_items'), 1)
  clock.advance(24 * hourMs)
  await deleteExpiredFormerValues(db, clock)
  assert.deepEqual([await count('lead_bulk_items'), await count('lead_bulk_changes')], [0, 1])
  clock.advance(90 * 24 * hourMs)
  await deleteOldBulkChanges(db, clock.now())
  assert.equal(await count('lead_bulk_changes'), 0)
})
