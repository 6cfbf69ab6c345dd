import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quotaUsed, stored } from '../../support/leads/leads.ts'
import { signedInMember } from '../../support/member.ts'
import { pick } from '../../support/pick.ts'
import { world } from '../../support/world.ts'

async function withMember() {
  const w = await world()
  return { w, member: await signedInMember(w) }
}

const fields = {
  firstName: 'Marina',
  lastName: 'Duarte',
  phone: '+55 81 99123-4567',
  email: 'marina@example.com',
  customFieldValues: { k_city: 'Recife' },
}

test('a member creates a lead by the rules of the leads interface, and it counts', async () => {
  const { w, member } = await withMember()
  const { status, body } = await member.call('POST', '/leads', fields)
  assert.equal(status, 201)
  const { lead } = body
  assert.deepEqual([lead.status, lead.priority, lead.source, lead.phone], ['new', 'medium', 'other', '5581991234567'])
  assert.deepEqual(lead.customFieldValues, { k_city: 'Recife', city: 'Recife' })
  assert.equal(await quotaUsed(w), 1)
  assert.deepEqual(pick(await w.events(lead.id), 'name'), ['lead.created'])
  const before = await stored(w)
  const refused = await member.call('POST', '/leads', { lastName: 'Duarte' })
  assert.equal(refused.status, 400)
  assert.equal(refused.body.data.issues[0].path, 'firstName')
  const taken = await member.call('POST', '/leads', { firstName: 'Ana', uniqueCode: lead.uniqueCode })
  assert.deepEqual([taken.status, taken.body.data], [409, { field: 'uniqueCode' }])
  assert.deepEqual(await stored(w), before)
})

test("a member's list has the filters, the search and the walk of the leads interface, with custom fields", async () => {
  const { w, member } = await withMember()
  const { lead } = (await member.call('POST', '/leads', fields)).body
  w.clock.advance(1000)
  const other = await w.lead({ firstName: 'Bruno', status: 'won' })
  assert.deepEqual((await member.call('GET', '/leads?search=duarte')).body, {
    leads: [lead],
    total: 1,
    nextCursor: null,
  })
  assert.equal((await member.call('GET', '/leads?status=won')).body.leads[0].id, other.id)
  const first = (await member.call('GET', '/leads?limit=1')).body
  assert.deepEqual([first.leads[0].id, first.total], [other.id, 2])
  const second = (await member.call('GET', `/leads?limit=1&cursor=${first.nextCursor}`)).body
  assert.deepEqual([second.leads[0].id, second.nextCursor], [lead.id, null])
  assert.equal((await member.call('GET', '/leads?limit=101')).status, 400)
  assert.equal((await member.call('GET', '/leads?cursor=x')).status, 400)
})

test("a member's change is kept under the member's name, and one that changes nothing leaves no trace", async () => {
  const { w, member } = await withMember()
  const { id } = await w.lead()
  const changed = await member.call('PATCH', `/leads/${id}`, { status: 'qualified', assignedTo: member.userId })
  assert.equal(changed.status, 200)
  assert.deepEqual([changed.body.lead.status, changed.body.lead.assignedTo], ['qualified', member.userId])
  const { history } = (await member.call('GET', `/leads/${id}/history`)).body
  assert.deepEqual(pick(history, 'from', 'to', 'actor'), [['new', 'qualified', { type: 'user', id: member.userId }]])
  const before = await stored(w)
  assert.equal((await member.call('PATCH', `/leads/${id}`, { status: 'qualified' })).status, 200)
  assert.equal((await member.call('PATCH', `/leads/${id}`, { assignedTo: w.keyId })).status, 400)
  assert.deepEqual(await stored(w), before)
})
