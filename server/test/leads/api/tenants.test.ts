import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventCounts, leadPath, leadsPath, storedRows } from '../../support/leads/leads.ts'
import { world } from '../../support/world.ts'

const fields = {
  uniqueCode: 'code',
  externalRef: 'ref',
  phone: '5581991234567',
  email: 'm@example.com',
  lastName: 'Duarte',
}

async function twoWorkspaces() {
  const [ours, theirs] = [await world(), await world()]
  const lead = await theirs.lead(fields)
  const identifiers = [lead.id, 'code', 'ref', '5581991234567', '558191234567']
  return { ours, theirs, lead, identifiers }
}

test('lists, filters and searches do not include leads of another workspace', async () => {
  const { ours } = await twoWorkspaces()
  const queries = [
    {},
    { status: 'new' },
    { search: 'duarte' },
    { search: '99123' },
    { search: 'co' },
    { sortBy: 'updatedAt' },
  ]
  for (const query of queries as Record<string, string>[]) {
    const { data, pagination } = (await ours.call('GET', leadsPath, { query })).body
    assert.deepEqual([data, pagination.total], [[], 0])
  }
})

test('upsert and bulk upsert never match a lead of another workspace; they create one instead', async () => {
  const { ours, theirs, lead } = await twoWorkspaces()
  const before = await storedRows(theirs)
  const matchers = { id: lead.id, uniqueCode: 'code', externalRef: 'ref', phone: '558191234567' }
  for (const [by, value] of Object.entries(matchers)) {
    const item = { match: { by, value }, lead: { firstName: 'Ours' } }
    const strict = { ...item, createIfMissing: false }
    assert.equal((await ours.call('POST', `${leadsPath}/upsert`, { body: strict })).status, 404)
    const bulk = await ours.call('POST', `${leadsPath}/bulk-upsert`, { body: { items: [strict, item] } })
    assert.equal(bulk.body.results[0].error.statusCode, 404)
    assert.equal(bulk.body.results[1].action, 'created')
    assert.notEqual(bulk.body.results[1].lead.id, lead.id)
  }
  assert.deepEqual(await storedRows(theirs), before)
  assert.deepEqual(await eventCounts(theirs), { 'lead.created': 1 })
})

test('names are unique within a workspace only', async () => {
  const { ours, theirs } = await twoWorkspaces()
  const own = await ours.lead(fields)
  assert.equal((await ours.call('GET', leadPath('ref'))).body.data.id, own.id)
  assert.notEqual((await theirs.call('GET', leadPath('ref'))).body.data.id, own.id)
})
