import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addMember, eventCounts, leadPath, leadsPath, quotaUsed, stored } from '../../support/leads/leads.ts'
import { type World, world } from '../../support/world.ts'

const upsertPath = `${leadsPath}/upsert`

function upsert({ call }: World, by: string, value: string, lead: object = {}, more: object = {}) {
  return call('POST', upsertPath, { body: { match: { by, value }, lead, ...more } })
}

const matchers: [by: string, value: string][] = [
  ['uniqueCode', 'code-1'],
  ['phone', '5581991234567'],
  ['externalRef', 'ref/1'],
]

for (const [by, value] of matchers) {
  test(`nobody with this ${by}: a lead is created that has it, with the defaults of create`, async () => {
    const w = await world()
    const { status, body } = await upsert(w, by, value, { firstName: 'Marina' })
    assert.equal(status, 200)
    const { data, ...rest } = body
    assert.deepEqual(rest, { success: true, action: 'created', lead: data })
    const { firstName, status: state, priority, source } = data
    assert.equal(data[by], value)
    assert.deepEqual(
      { firstName, state, priority, source },
      { firstName: 'Marina', state: 'new', priority: 'medium', source: 'other' },
    )
    assert.deepEqual((await w.call('GET', leadPath(value))).body.data, data)
  })

  test(`a lead with this ${by}: it is updated, and only in what was sent`, async () => {
    const w = await world()
    const lead = await w.lead({ [by]: value, lastName: 'Duarte', notes: 'n' })
    w.clock.advance(1000)
    const { status, body } = await upsert(w, by, value, { lastName: 'Souza', notes: null, status: 'won' })
    assert.equal(status, 200)
    const updated = { ...lead, lastName: 'Souza', notes: null, status: 'won', updatedAt: w.clock.now().toISOString() }
    assert.deepEqual(body, { success: true, action: 'updated', data: updated, lead: updated })
  })

  test(`what lead says about ${by} goes before match.value on creation`, async () => {
    const w = await world()
    const other = { uniqueCode: 'other', phone: '5215512345678', externalRef: 'other' }[by]
    const { body } = await upsert(w, by, value, { firstName: 'A', [by]: other })
    assert.equal(body.data[by], other)
    if (by === 'uniqueCode') return
    const { body: nulled } = await upsert(w, by, `${value}0`, { firstName: 'B', [by]: null })
    assert.equal(nulled.data[by], null)
  })

  test(`nobody with this ${by} and createIfMissing false: 404, and nothing is written`, async () => {
    const w = await world()
    const before = await stored(w)
    const { status, body } = await upsert(w, by, value, { firstName: 'A' }, { createIfMissing: false })
    assert.equal(status, 404)
    assert.deepEqual(body, { statusCode: 404, statusMessage: 'Lead not found and createIfMissing is false' })
    assert.deepEqual(await stored(w), before)
  })
}

test('by id: the lead is updated; nobody with that id: one is created with an id of the service', async () => {
  const w = await world()
  const { id } = await w.lead()
  const found = await upsert(w, 'id', id.toUpperCase(), { lastName: 'L' })
  assert.equal(found.body.action, 'updated')
  assert.equal(found.body.data.id, id)
  for (const value of ['0f8fad5b-d9cb-469f-a165-70867728950e', 'no uuid']) {
    const { body } = await upsert(w, 'id', value, { firstName: 'New' })
    assert.equal(body.action, 'created')
    assert.notEqual(body.data.id, value)
    assert.notEqual(body.data.uniqueCode, value)
  }
  assert.equal((await upsert(w, 'id', 'x', { firstName: 'A' }, { createIfMissing: false })).status, 404)
})

test('a matcher looks at its own field only', async () => {
  const w = await world()
  const lead = await w.lead({ uniqueCode: 'code', externalRef: 'ref', phone: '5581991234567' })
  for (const [by, value] of [
    ['uniqueCode', 'ref'],
    ['externalRef', 'code'],
    ['externalRef', lead.id],
    ['uniqueCode', '5581991234567'],
  ] as const) {
    assert.equal((await upsert(w, by, value, {}, { createIfMissing: false })).status, 404, `${by} ${value}`)
  }
})

test('by phone, every common variant matches, and the oldest of several leads is updated', async () => {
  const w = await world()
  const oldest = await w.lead({ phone: '5581991234567' })
  w.clock.advance(1)
  await w.lead({ phone: '558191234567' })
  for (const spelling of ['+55 (81) 9123-4567', '0055 81 99123 4567', '558191234567']) {
    const { body } = await upsert(w, 'phone', spelling, { notes: spelling })
    assert.equal(body.action, 'updated')
    assert.equal(body.data.id, oldest.id)
    assert.equal(body.data.phone, '5581991234567')
  }
})

test('a phone as it was answered matches its lead, whatever the default country makes of its digits', async () => {
  const w = await world({ defaultCountry: 'BR' })
  const berlin = await w.lead({ phone: '+49 30 123456' })
  for (const value of ['4930123456', '+4930123456']) {
    const { body } = await upsert(w, 'phone', value, { notes: value })
    assert.deepEqual([body.action, body.data.id], ['updated', berlin.id])
  }
  const national = await upsert(w, 'phone', '(81) 99123-4567', { firstName: 'Recife' })
  assert.deepEqual([national.body.action, national.body.data.phone], ['created', '5581991234567'])
  const bare = await Promise.all(
    ['81991234567', '5581991234567', '8191234567'].map((value) => upsert(w, 'phone', value, { lastName: value })),
  )
  for (const { body } of bare) assert.deepEqual([body.action, body.data.id], ['updated', national.body.data.id])
})

test('match.value that is no phone is a 400 naming it', async () => {
  const w = await world()
  for (const value of ['12', 'marina', '1'.repeat(21), `+55 11 98765-4321${' '.repeat(48)}`]) {
    const { status, body } = await upsert(w, 'phone', value, { firstName: 'A' })
    assert.equal(status, 400)
    assert.equal(body.data.issues[0].path, 'match.value')
  }
})

test('an update that changes nothing writes nothing and emits nothing', async () => {
  const w = await world()
  const lead = await w.lead({ externalRef: 'r', lastName: 'L', estimatedValue: 5 })
  const before = await stored(w)
  w.clock.advance(1000)
  for (const fields of [{}, { lastName: ' L ' }, { estimatedValue: 5, externalRef: 'r' }, lead]) {
    const { body } = await upsert(w, 'externalRef', 'r', fields)
    assert.deepEqual(body, { success: true, action: 'updated', data: lead, lead })
  }
  assert.deepEqual(await stored(w), before)
})

test('creating needs a firstName, updating does not', async () => {
  const w = await world()
  const missing = await upsert(w, 'externalRef', 'r', { lastName: 'L' })
  assert.equal(missing.status, 400)
  assert.deepEqual(missing.body.data.issues, [{ path: 'lead.firstName', message: 'is required' }])
  await w.lead({ externalRef: 'r' })
  assert.equal((await upsert(w, 'externalRef', 'r', { lastName: 'L' })).status, 200)
})

test('assignedTo must be a member, on creation and on update', async () => {
  const w = await world()
  const member = await addMember(w)
  const stranger = await addMember(await world())
  for (const fields of [{ firstName: 'A' }, { lastName: 'B' }]) {
    const refused = await upsert(w, 'externalRef', 'r', { ...fields, assignedTo: stranger })
    assert.equal(refused.status, 400)
    assert.deepEqual(refused.body.data.issues, [
      { path: 'lead.assignedTo', message: 'must be a member of the workspace' },
    ])
    assert.equal((await upsert(w, 'externalRef', 'r', { ...fields, assignedTo: member })).body.data.assignedTo, member)
  }
})

for (const field of ['externalRef', 'uniqueCode']) {
  test(`a ${field} of another lead is a 409 that names it, on creation and on update`, async () => {
    const w = await world()
    await w.lead({ [field]: 'taken' })
    const { id } = await w.lead({ firstName: 'Other' })
    const before = await stored(w)
    const answers = [
      await upsert(w, 'phone', '5581991234567', { firstName: 'A', [field]: 'taken' }),
      await upsert(w, 'id', id, { [field]: 'taken' }),
    ]
    for (const { status, body } of answers) {
      assert.equal(status, 409)
      assert.deepEqual(body, {
        statusCode: 409,
        statusMessage: `Lead with this ${field} already exists`,
        data: { field },
      })
    }
    assert.deepEqual(await stored(w), before)
  })
}

test('50 parallel upserts of one phone in different spellings make one lead and 49 updates', async () => {
  const w = await world()
  const spellings = ['5581991234567', '+55 81 99123-4567', '558191234567', '+55 (81) 9123-4567', '0055 81 99123.4567']
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) => upsert(w, 'phone', spellings[n % 5] ?? '', { firstName: `Caller ${n}` })),
  )
  const actions = answers.map(({ status, body }) => `${status} ${body.action}`)
  assert.deepEqual(actions.sort(), ['200 created', ...Array(49).fill('200 updated')])
  assert.equal(new Set(answers.map(({ body }) => body.data.id)).size, 1)
  assert.equal((await w.call('GET', leadsPath)).body.pagination.total, 1)
  assert.equal(await quotaUsed(w), 1)
  assert.deepEqual(await eventCounts(w), { 'lead.created': 1, 'lead.updated': 49 })
})

test('parallel upserts and creates of one externalRef make one lead: creates end in 201 or 409, upserts in 200', async () => {
  const w = await world()
  for (const externalRef of ['a', 'b', 'c', 'd']) {
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, n) =>
        n % 2 === 0
          ? upsert(w, 'externalRef', externalRef, { firstName: `Upsert ${n}` })
          : w.call('POST', leadsPath, { body: { firstName: `Create ${n}`, externalRef } }),
      ),
    )
    const made = answers.filter(({ status, body }) => status === 201 || body.action === 'created')
    assert.equal(made.length, 1)
    for (const [n, { status }] of answers.entries())
      assert.ok(n % 2 === 0 ? status === 200 : [201, 409].includes(status), `${status}`)
  }
  assert.equal((await w.call('GET', leadsPath)).body.pagination.total, 4)
  assert.equal(await quotaUsed(w), 4)
})

test('parallel upserts by different matchers that want one name make one lead', async () => {
  const w = await world()
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      upsert(w, 'phone', `55819912345${10 + n}`, { firstName: 'A', externalRef: 'one' }),
    ),
  )
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(11).fill(409)])
})

test('dryRun answers what would happen, writes nothing, counts no quota and emits nothing', async () => {
  const w = await world({ dailyLeadQuota: 3 })
  const lead = await w.lead({ externalRef: 'r', lastName: 'L' })
  await w.lead({ externalRef: 'taken' })
  const before = await stored(w)
  const dry = (by: string, value: string, fields: object, more: object = {}) =>
    w.call('POST', upsertPath, { query: { dryRun: 'true' }, body: { match: { by, value }, lead: fields, ...more } })
  w.clock.advance(10)
  const updated = await dry('externalRef', 'r', { lastName: 'New' })
  assert.equal(updated.body.action, 'updated')
  assert.equal(updated.body.dryRun, true)
  assert.deepEqual(updated.body.data, { ...lead, lastName: 'New', updatedAt: w.clock.now().toISOString() })
  for (let n = 0; n < 3; n++) {
    const created = await dry('phone', '5581991234567', { firstName: 'A' })
    assert.equal(created.body.action, 'created')
    assert.equal(created.body.data.phone, '5581991234567')
  }
  assert.equal((await dry('phone', '5581991234567', {}, { createIfMissing: false })).status, 404)
  assert.equal((await dry('phone', '5581991234567', {})).status, 400)
  assert.equal((await dry('phone', '5581991234567', { firstName: 'A', externalRef: 'taken' })).status, 409)
  assert.deepEqual(await stored(w), before)
  await w.lead()
  assert.equal((await dry('phone', '5581991234567', { firstName: 'A' })).status, 429)
  const real = await w.call('POST', upsertPath, {
    query: { dryRun: 'false' },
    body: { match: { by: 'externalRef', value: 'r' }, lead: { lastName: 'New' } },
  })
  assert.ok(!('dryRun' in real.body))
  assert.equal((await w.call('GET', leadPath('r'))).body.data.lastName, 'New')
})

test('upsert takes the scope leads.write or leads.bulk', async () => {
  for (const scope of ['leads.write', 'leads.bulk'] as const) {
    const w = await world({ scopes: [scope] })
    assert.equal((await upsert(w, 'externalRef', 'r', { firstName: 'A' })).status, 200)
  }
  const w = await world({ scopes: ['leads.read', 'leads.delete'] })
  const { status, body } = await upsert(w, 'externalRef', 'r', { firstName: 'A' })
  assert.equal(status, 401)
  assert.equal(body.statusMessage, 'API key lacks scope leads.write or leads.bulk')
})

test('a lead that was read can be upserted back by its id, with a key that sees phones masked too', async () => {
  const w = await world()
  const { value: key } = await w.addKey({ scopes: ['leads.read', 'leads.write'], phoneVisibility: 'masked' })
  const { id } = await w.lead({ phone: '5581991234567', customFieldValues: { k_city: 'Recife' } })
  const before = await stored(w)
  for (const caller of [w.key, key]) {
    const lead = (await w.call('GET', leadPath(id), { key: caller })).body.data
    const body = { match: { by: 'id', value: id }, lead }
    const { status, body: answer } = await w.call('POST', upsertPath, { key: caller, body })
    assert.equal(status, 200, JSON.stringify(answer))
    assert.equal(answer.action, 'updated')
  }
  assert.deepEqual(await stored(w), before)
})
