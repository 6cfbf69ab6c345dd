import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeCursor } from '../../src/base/cursor.ts'
import { countAll, createReportCounter } from '../../src/reports/count-changes.ts'
import { eraseFacts } from '../../src/reports/erase.ts'
import { countedRows, reportWorld } from './report-world.ts'

test('days and values that do not exist are refused, not an error of the service', async () => {
  const w = await reportWorld()
  await w.count()
  for (const day of ['2026-99-99', '0000-00-00', '2026-02-31', '2026-02-01T00:00:00Z']) {
    const cursor = encodeCursor([day, w.workspaceId])
    assert.equal((await w.admin.call('GET', `/reports/counted?number=leads&cursor=${cursor}`)).status, 400, day)
    assert.equal((await w.admin.call('GET', `/reports?from=${day}&to=${day}`)).status, 400, day)
  }
  for (const query of ['days=abc', 'dimension=source&value=%00', 'dimension=person&value=x', 'days=1&days=2']) {
    assert.equal((await w.admin.call('GET', `/reports?${query}`)).status, 400, query)
  }
  for (const day of ['1970-01-01', '9999-12-31']) {
    assert.equal((await w.admin.call('GET', `/reports?from=${day}&to=${day}`)).status, 200, day)
  }
})

test('what is counted while a customer is erased is not stored', async () => {
  const w = await reportWorld()
  const { id, phone } = await w.newCustomer()
  await w.count()
  const before = await countedRows(w)
  await w.writesAgain(phone)
  await w.sequencer.sequenceAll()
  const keyring = await w.keyStore.keyring(w.workspaceId)
  const customer = {
    ...{ phones: [], emails: [], knownEmails: [], userIds: [], mergedIds: [] },
    ...{ leadIds: [], conversationIds: [id] },
  }
  const scope = { workspaceId: w.workspaceId, keyring, customer, createdBefore: w.clock.now(), now: w.clock.now() }
  let isErased = false
  // Runs while the counter has read the records and not yet stored anything.
  const findLeads: typeof w.deps.findLeads = async (workspaceId, phones) => {
    const found = await w.deps.findLeads(workspaceId, phones)
    if (isErased || !phones.includes(phone)) return found
    isErased = true
    await w.db.tx((tx) => eraseFacts(tx, scope))
    return found
  }
  await countAll({ ...w.deps, findLeads }, w.workspaceId)
  assert.ok(isErased)
  const after = await countedRows(w)
  assert.ok(!JSON.stringify(after).includes(id))
  assert.deepEqual(after.sums, before.sums)
})

test('a workspace that counts everything again keeps no other waiting', async () => {
  const w = await reportWorld()
  const [first, second] = [w, await reportWorld()].sort((a, b) => (a.workspaceId < b.workspaceId ? -1 : 1))
  if (first === undefined || second === undefined) throw new Error('Two worlds were expected')
  for (const one of [first, second]) {
    await one.newCustomer()
    await one.count()
  }
  await second.newCustomer()
  await second.sequencer.sequenceAll()
  // Each run has time for one step.
  const counter = createReportCounter(second.deps, 0)
  for (let run = 0; run < 30; run++) {
    assert.equal((await first.admin.call('POST', '/reports/rebuild', {})).status, 200)
    await counter.work()
  }
  assert.equal((await second.report()).counts.new.now, 2)
})
