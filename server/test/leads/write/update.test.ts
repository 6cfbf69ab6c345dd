import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addMember, leadPath } from '../../support/leads/leads.ts'
import { fullLead } from '../../support/leads/write-paths.ts'
import { world } from '../../support/world.ts'

test('only the fields that are sent change; updatedAt changes and createdAt stays', async () => {
  const { lead, call, clock } = await world()
  const before = await lead({ lastName: 'Duarte', phone: '5581991234567', notes: 'n' })
  clock.advance(1500)
  const { status, body } = await call('PATCH', leadPath(before.id), { body: { lastName: 'Souza' } })
  assert.equal(status, 200)
  const updatedAt = clock.now().toISOString()
  const lead2 = { ...before, lastName: 'Souza', updatedAt, previousStatus: 'new', value: null }
  assert.deepEqual(body, { success: true, message: 'Lead updated successfully', data: lead2, lead: lead2 })
  const { previousStatus: _, value: __, ...plain } = lead2
  assert.deepEqual((await call('GET', leadPath(before.id))).body.data, plain)
})

test('a lead keeps an assignee who has left the workspace when other fields change', async () => {
  const w = await world()
  const assignedTo = await addMember(w)
  const { id } = await w.lead({ assignedTo })
  await w.db.sql`delete from members where workspace_id = ${w.workspaceId} and user_id = ${assignedTo}`
  const { status, body } = await w.call('PATCH', leadPath(id), { body: { notes: 'x', assignedTo } })
  assert.equal(status, 200)
  assert.equal(body.data.assignedTo, assignedTo)
})

test('a payload that changes nothing: No changes detected, with the current lead in data and lead', async () => {
  const { lead, call, clock } = await world()
  const before = await lead(fullLead)
  clock.advance(5000)
  const shown = { ...before, previousStatus: 'won', value: 20 }
  for (const body of [{}, fullLead, shown]) {
    const answer = await call('PATCH', leadPath(before.id), { body })
    assert.deepEqual(answer.body, { success: true, message: 'No changes detected', data: shown, lead: shown })
  }
  const { id } = await lead()
  for (const field of ['externalRef', 'lastName', 'email', 'phone', 'adPlatform', 'estimatedValue', 'value', 'notes']) {
    const { body } = await call('PATCH', leadPath(id), { body: { [field]: null } })
    assert.equal(body.message, 'No changes detected', `${field} was empty already`)
  }
})

test('value is returned next to actualValue as its alias', async () => {
  const { lead, call } = await world()
  const { id } = await lead()
  for (const value of [99.9, null]) {
    const { data } = (await call('PATCH', leadPath(id), { body: { value } })).body
    assert.deepEqual([data.actualValue, data.value], [value, value])
  }
})

test('the response has the status before this update', async () => {
  const { lead, call } = await world()
  const { id } = await lead()
  const statuses = ['qualified', 'new', 'any_token_9', 'won']
  let before = 'new'
  for (const status of statuses) {
    const { body } = await call('PATCH', leadPath(id), { body: { status } })
    assert.equal(body.data.previousStatus, before)
    assert.equal(body.data.status, status)
    before = status
  }
  assert.equal((await call('PATCH', leadPath(id), { body: { notes: 'x' } })).body.data.previousStatus, 'won')
})

test('a mask of another phone is rejected', async () => {
  const w = await world()
  const { value: key } = await w.addKey({ scopes: ['leads.write'], phoneVisibility: 'masked' })
  const { id } = await w.lead({ phone: '5581991234567' })
  for (const phone of ['55819*****568', '55819****567', '*************']) {
    const { status, body } = await w.call('PATCH', leadPath(id), { body: { phone }, key })
    assert.equal(status, 400, phone)
    assert.equal(body.data.issues[0].path, 'phone')
  }
  const full = await w.call('PATCH', leadPath(id), { body: { phone: '55819*****567' } })
  assert.equal(full.status, 400)
  assert.equal(full.body.data.issues.length, 1)
})

test('parallel updates of different fields are all kept', async () => {
  const { lead, call } = await world()
  const { id } = await lead()
  const fields = { lastName: 'L', email: 'a@b.co', phone: '5581991234567', notes: 'n', priority: 'low', source: 'ads' }
  const changes = Object.entries({ ...fields, externalRef: 'r', estimatedValue: 1, actualValue: 2, status: 'won' })
  await Promise.all(changes.map(([field, value]) => call('PATCH', leadPath(id), { body: { [field]: value } })))
  const { data } = (await call('GET', leadPath(id))).body
  for (const [field, value] of changes) assert.equal(data[field], value, field)
})
