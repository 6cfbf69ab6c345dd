import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventCounts, leadPath, leadsPath, quotaUsed, storedRows } from '../../support/leads/leads.ts'
import { bareLead } from '../../support/leads/write-paths.ts'
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
  test(`no lead with this ${by}: creates a lead that has it, with the defaults of create, unless lead sets another value`, async () => {
    const w = await world()
    const { status, body } = await upsert(w, by, value, { firstName: 'Marina' })
    assert.equal(status, 200)
    const { data, ...rest } = body
    assert.deepEqual(rest, { success: true, action: 'created', lead: data })
    assert.partialDeepStrictEqual(data, { ...bareLead, [by]: value })
    assert.deepEqual((await w.call('GET', leadPath(value))).body.data, data)
    const other = by === 'phone' ? '5215512345678' : 'other'
    for (const own of by === 'uniqueCode' ? [other] : [other, null]) {
      const said = await upsert(w, by, `${value}0`, { firstName: 'A', [by]: own })
      assert.deepEqual([said.body.action, said.body.data[by]], ['created', own])
    }
  })

  test(`a lead with this ${by}: updates it, and only the fields that were sent`, async () => {
    const w = await world()
    const lead = await w.lead({ [by]: value, lastName: 'Duarte', notes: 'n' })
    w.clock.advance(1000)
    const { status, body } = await upsert(w, by, value, { lastName: 'Souza', notes: null, status: 'won' })
    assert.equal(status, 200)
    const updated = { ...lead, lastName: 'Souza', notes: null, status: 'won', updatedAt: w.clock.now().toISOString() }
    assert.deepEqual(body, { success: true, action: 'updated', data: updated, lead: updated })
  })
}

test('a matcher uses its own field only, a phone every common variant and the oldest lead; 404 if nothing may be created', async () => {
  const w = await world()
  const { id } = await w.lead({ uniqueCode: 'code', externalRef: 'ref', phone: '5581991234567' })
  w.clock.advance(1)
  await w.lead({ phone: '558191234567' })
  const rows: [by: string, value: string, isFound: boolean][] = [
    ['id', id.toUpperCase(), true],
    ['uniqueCode', 'code', true],
    ['externalRef', 'ref', true],
    ['phone', '+55 (81) 9123-4567', true],
    ['phone', '0055 81 99123 4567', true],
    ['phone', '558191234567', true],
    ['id', '0f8fad5b-d9cb-469f-a165-70867728950e', false],
    ['id', 'code', false],
    ['uniqueCode', 'ref', false],
    ['uniqueCode', '5581991234567', false],
    ['externalRef', 'code', false],
    ['externalRef', id, false],
    ['phone', '5581991234568', false],
  ]
  const before = await storedRows(w)
  const items = rows.map(([by, value]) => ({ match: { by, value }, lead: {}, createIfMissing: false }))
  const { results } = (await w.call('POST', `${leadsPath}/bulk-upsert`, { body: { items } })).body
  const error = { statusCode: 404, statusMessage: 'Lead not found and createIfMissing is false' }
  for (const [n, [by, value, isFound]] of rows.entries()) {
    const { status, body } = await upsert(w, by, value, {}, { createIfMissing: false })
    assert.deepEqual([status, body.data?.id], isFound ? [200, id] : [404, undefined], `${by} ${value}`)
    assert.deepEqual([results[n].lead?.id, results[n].error], isFound ? [id, undefined] : [undefined, error])
    if (!isFound) assert.deepEqual(body, error)
  }
  assert.deepEqual(await storedRows(w), before)
})

test('no lead with this id: creates a lead with an id of the service', async () => {
  const w = await world()
  for (const value of ['0f8fad5b-d9cb-469f-a165-70867728950e', 'no uuid']) {
    const { body } = await upsert(w, 'id', value, { firstName: 'New' })
    assert.equal(body.action, 'created')
    assert.ok(![body.data.id, body.data.uniqueCode].includes(value))
  }
})

test('a phone from a response matches its lead, whatever the default country makes of its digits', async () => {
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

test('an invalid envelope or matcher returns 400 with the reason, and nothing is stored', async () => {
  const w = await world()
  await w.lead({ externalRef: 'r' })
  const before = await storedRows(w)
  const match = { by: 'externalRef', value: 'r' }
  const lead = { firstName: 'A' }
  const noPhones = ['12', 'marina', '1'.repeat(21), `+55 11 98765-4321${' '.repeat(48)}`]
  const rows: [body: object, path: string][] = [
    [{ lead }, 'match'],
    [{ match }, 'lead'],
    [{ match: null, lead }, 'match'],
    [{ match: [], lead }, 'match'],
    [{ match: { value: 'r' }, lead }, 'match.by'],
    [{ match: { by: 'externalRef' }, lead }, 'match.value'],
    [{ match: { by: 'email', value: 'a@b.co' }, lead }, 'match.by'],
    ...[5, '', null, 'x'.repeat(256)].map((value): [object, string] => [
      { match: { ...match, value }, lead },
      'match.value',
    ]),
    ...noPhones.map((value): [object, string] => [{ match: { by: 'phone', value }, lead }, 'match.value']),
    [{ match: { ...match, and: 1 }, lead }, 'match.and'],
    [{ match, lead: null }, 'lead'],
    [{ match, lead: [] }, 'lead'],
    [{ match, lead, createIfMissing: 'false' }, 'createIfMissing'],
    [{ match, lead, createIfMissing: null }, 'createIfMissing'],
    [{ match, lead, dryRun: true }, 'dryRun'],
  ]
  for (const [body, path] of rows) {
    const answer = await w.call('POST', upsertPath, { body })
    assert.deepEqual([answer.status, answer.body.data.issues[0].path], [400, path], JSON.stringify(body))
  }
  const item = { match, lead: { notes: 'x' } }
  for (const [name, value] of Object.entries({ dryRun: 'yes', dryrun: 'true', limit: '5' })) {
    for (const [path, body] of [
      ['upsert', item],
      ['bulk-upsert', { items: [item] }],
    ] as const) {
      const answer = await w.call('POST', `${leadsPath}/${path}`, { body, query: { [name]: value } })
      assert.deepEqual([answer.status, answer.body.data.issues[0].path], [400, name], `${path} ${name}=${value}`)
    }
  }
  assert.deepEqual(await storedRows(w), before)
})

test('50 parallel upserts of one phone in different spellings create one lead and update it 49 times', async () => {
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

test('parallel upserts and creates of one externalRef create one lead: creates return 201 or 409, upserts 200', async () => {
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

test('parallel upserts by different matchers that set the same name create one lead', async () => {
  const w = await world()
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      upsert(w, 'phone', `55819912345${10 + n}`, { firstName: 'A', externalRef: 'one' }),
    ),
  )
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(11).fill(409)])
})

test('dryRun returns what would happen, writes nothing, uses no quota and emits nothing', async () => {
  const w = await world({ dailyLeadQuota: 3 })
  const lead = await w.lead({ externalRef: 'r', lastName: 'L' })
  await w.lead({ externalRef: 'taken' })
  const before = await storedRows(w)
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
  assert.deepEqual(await storedRows(w), before)
  await w.lead()
  assert.equal((await dry('phone', '5581991234567', { firstName: 'A' })).status, 429)
  const real = await w.call('POST', upsertPath, {
    query: { dryRun: 'false' },
    body: { match: { by: 'externalRef', value: 'r' }, lead: { lastName: 'New' } },
  })
  assert.ok(!('dryRun' in real.body))
  assert.equal((await w.call('GET', leadPath('r'))).body.data.lastName, 'New')
})
