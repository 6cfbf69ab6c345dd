import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addMember, leadPath, stored } from '../../support/leads/leads.ts'
import { world } from '../../support/world.ts'

test('only the fields that are sent change; updatedAt moves and createdAt stays', async () => {
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

const everything = {
  externalRef: 'ref',
  lastName: 'Duarte',
  email: 'm@example.com',
  phone: '5581991234567',
  adPlatform: 'meta',
  estimatedValue: 10,
  actualValue: 20,
  notes: 'note',
}

for (const field of Object.keys(everything)) {
  test(`${field} is cleared by null`, async () => {
    const { lead, call } = await world()
    const { id } = await lead(everything)
    const { body } = await call('PATCH', leadPath(id), { body: { [field]: null } })
    assert.equal(body.message, 'Lead updated successfully')
    assert.equal(body.data[field], null)
    const read = (await call('GET', leadPath(id))).body.data
    for (const [name, value] of Object.entries(everything)) assert.equal(read[name], name === field ? null : value)
  })
}

for (const field of ['externalRef', 'lastName', 'email', 'phone', 'notes']) {
  test(`${field} is cleared by an empty string`, async () => {
    const { lead, call } = await world()
    const { id } = await lead(everything)
    assert.equal((await call('PATCH', leadPath(id), { body: { [field]: '' } })).body.data[field], null)
  })
}

test('assignedTo is set to a member, cleared by null, and refused for a stranger', async () => {
  const w = await world()
  const member = await addMember(w)
  const stranger = await addMember(await world())
  const { id } = await w.lead()
  assert.equal((await w.call('PATCH', leadPath(id), { body: { assignedTo: member } })).body.data.assignedTo, member)
  const refused = await w.call('PATCH', leadPath(id), { body: { assignedTo: stranger } })
  assert.equal(refused.status, 400)
  assert.equal(refused.body.data.issues[0].path, 'assignedTo')
  assert.equal((await w.call('PATCH', leadPath(id), { body: { assignedTo: null } })).body.data.assignedTo, null)
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

test('value is an alias of actualValue and is answered beside it', async () => {
  const { lead, call } = await world()
  const { id } = await lead()
  const set = (await call('PATCH', leadPath(id), { body: { value: 99.9 } })).body
  assert.equal(set.data.actualValue, 99.9)
  assert.equal(set.data.value, 99.9)
  const cleared = (await call('PATCH', leadPath(id), { body: { value: null } })).body
  assert.equal(cleared.data.actualValue, null)
  assert.equal(cleared.data.value, null)
})

test('the answer says what the status was before this update', async () => {
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

const same = {
  uniqueCode: 'code',
  externalRef: 'ref',
  firstName: 'Marina',
  lastName: 'Duarte',
  email: 'm@example.com',
  phone: '5581991234567',
  status: 'won',
  priority: 'high',
  source: 'ads',
  adPlatform: 'x',
  estimatedValue: 10.5,
  actualValue: 20,
  notes: 'note',
}

test('a payload that changes nothing: No changes detected, the current lead in data and lead, nothing written', async () => {
  const w = await world()
  const assignedTo = await addMember(w)
  const lead = await w.lead({ ...same, assignedTo })
  const before = await stored(w)
  w.clock.advance(5000)
  const { previousStatus, value, ...plain } = { ...lead, previousStatus: 'won', value: 20 }
  const bodies = [
    {},
    ...Object.entries(same).map(([field, sent]) => ({ [field]: sent })),
    same,
    { assignedTo },
    { value: 20 },
    { firstName: ' Marina ' },
    { phone: '+55 81 99123-4567' },
    { customFieldValues: {} },
    { customFieldValues: { nothing: null } },
    plain,
    { id: 'x', createdAt: 1, updatedAt: null, deletedAt: true, customFields: {}, previousStatus: [] },
  ]
  for (const body of bodies) {
    const answer = await w.call('PATCH', leadPath(lead.id), { body })
    const shown = { ...plain, previousStatus, value }
    assert.deepEqual(answer.body, { success: true, message: 'No changes detected', data: shown, lead: shown })
  }
  assert.deepEqual(await stored(w), before)
})

test('an absent field that is cleared is no change', async () => {
  const { lead, call } = await world()
  const { id } = await lead()
  for (const field of Object.keys(everything)) {
    const { body } = await call('PATCH', leadPath(id), { body: { [field]: null } })
    assert.equal(body.message, 'No changes detected', field)
  }
})

test('a lead that was read or answered by an update can be sent back, with a key that sees phones masked too', async () => {
  const w = await world()
  const masked = (await w.addKey({ scopes: ['leads.read', 'leads.write'], phoneVisibility: 'masked' })).value
  const { id } = await w.lead({ ...same, customFieldValues: { k_city: 'Recife', vip: true } })
  for (const key of [w.key, masked]) {
    const read = (await w.call('GET', leadPath(id), { key })).body.data
    const back = await w.call('PATCH', leadPath(id), { body: read, key })
    assert.equal(back.body.message, 'No changes detected')
    const again = await w.call('PATCH', leadPath(id), { body: back.body.data, key })
    assert.equal(again.body.message, 'No changes detected')
    const changed = await w.call('PATCH', leadPath(id), { body: { ...read, notes: `by ${key}` }, key })
    assert.equal(changed.body.message, 'Lead updated successfully')
  }
  const detail = (await w.call('GET', leadPath(id))).body.data
  assert.equal(detail.phone, '5581991234567')
  assert.deepEqual(detail.customFieldValues, { k_city: 'Recife', city: 'Recife', vip: true })
})

test('a mask that is not of this very phone is refused', async () => {
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

for (const field of ['externalRef', 'uniqueCode']) {
  test(`a ${field} that another lead has is a 409 that names it, and nothing changes`, async () => {
    const w = await world()
    await w.lead({ [field]: 'taken' })
    const { id } = await w.lead({ [field]: 'own' })
    const before = await stored(w)
    const { status, body } = await w.call('PATCH', leadPath(id), { body: { notes: 'x', [field]: 'taken' } })
    assert.equal(status, 409)
    assert.deepEqual(body, {
      statusCode: 409,
      statusMessage: `Lead with this ${field} already exists`,
      data: { field },
    })
    assert.deepEqual(await stored(w), before)
    assert.equal((await w.call('PATCH', leadPath(id), { body: { [field]: 'free' } })).status, 200)
    assert.equal((await w.call('GET', leadPath('own'))).status, 404)
    assert.equal((await w.call('GET', leadPath('free'))).body.data.id, id)
  })
}

test('the new phone is found in its variants and the old one no more', async () => {
  const { lead, call } = await world()
  const { id } = await lead({ phone: '5581991234567' })
  await call('PATCH', leadPath('5581991234567'), { body: { phone: '+52 1 55 1234 5678' } })
  assert.equal((await call('GET', leadPath('525512345678'))).body.data.id, id)
  assert.equal((await call('GET', leadPath('5581991234567'))).status, 404)
})

test('a body with one bad field changes nothing', async () => {
  const w = await world()
  const { id } = await w.lead()
  const before = await stored(w)
  for (const bad of [
    { email: 'x' },
    { status: 'A' },
    { phone: '1' },
    { extra: 1 },
    { firstName: '' },
    { firstName: null },
  ]) {
    const { status, body } = await w.call('PATCH', leadPath(id), { body: { notes: 'new', ...bad } })
    assert.equal(status, 400)
    assert.equal(body.data.issues[0].path, Object.keys(bad)[0])
  }
  assert.deepEqual(await stored(w), before)
})

test('parallel updates of different fields all stay', async () => {
  const { lead, call } = await world()
  const { id } = await lead()
  const fields = { lastName: 'L', email: 'a@b.co', phone: '5581991234567', notes: 'n', priority: 'low', source: 'ads' }
  const changes = Object.entries({ ...fields, externalRef: 'r', estimatedValue: 1, actualValue: 2, status: 'won' })
  await Promise.all(changes.map(([field, value]) => call('PATCH', leadPath(id), { body: { [field]: value } })))
  const { data } = (await call('GET', leadPath(id))).body
  for (const [field, value] of changes) assert.equal(data[field], value, field)
})

test('update needs the scope leads.write, also to say that there is no such lead', async () => {
  const { call } = await world({ scopes: ['leads.read', 'leads.delete', 'leads.bulk'] })
  const { status, body } = await call('PATCH', leadPath('x'), { body: {} })
  assert.equal(status, 401)
  assert.equal(body.statusMessage, 'API key lacks scope leads.write')
})

test('nobody to update: 404 Lead not found', async () => {
  const { call } = await world()
  const { status, body } = await call('PATCH', leadPath('nobody'), { body: { notes: 'x' } })
  assert.equal(status, 404)
  assert.deepEqual(body, { statusCode: 404, statusMessage: 'Lead not found' })
})
