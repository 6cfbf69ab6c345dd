import assert from 'node:assert/strict'
import { test } from 'node:test'
import { adPlatforms, priorities, sources } from '../../../src/leads/lead/lead.ts'
import { addMember, leadPath, leadsPath, stored } from '../../support/leads/leads.ts'
import { world } from '../../support/world.ts'

test('firstName is the only field required on create; the rest has the defaults of the contract', async () => {
  const { call } = await world()
  const { status, body } = await call('POST', '/api/v1/leads', { body: { firstName: '  Marina ' } })
  assert.equal(status, 201)
  assert.equal(body.success, true)
  assert.equal(body.message, 'Lead created successfully')
  assert.deepEqual(body.lead, body.data)
  const { id, uniqueCode, ...rest } = body.data
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/)
  assert.match(uniqueCode, /^L[0-9A-Z]{11}$/)
  assert.deepEqual(rest, {
    externalRef: null,
    firstName: 'Marina',
    lastName: null,
    email: null,
    phone: null,
    status: 'new',
    priority: 'medium',
    source: 'other',
    adPlatform: null,
    assignedTo: null,
    estimatedValue: null,
    actualValue: null,
    notes: null,
    createdAt: '2026-03-10T12:00:00.000Z',
    updatedAt: '2026-03-10T12:00:00.000Z',
    deletedAt: null,
  })
})

test('every field that create accepts is stored and answered, also by a read', async () => {
  const w = await world()
  const assignedTo = await addMember(w)
  const fields = {
    uniqueCode: 'CODE-1',
    externalRef: 'crm/1',
    firstName: 'Zoë 🙂',
    lastName: 'D’Ávila',
    email: 'Zoe@Example.com',
    phone: '5581991234567',
    status: 'qualified',
    priority: 'urgent',
    source: 'chat_app',
    adPlatform: 'chatgpt',
    assignedTo,
    estimatedValue: 999_999_999_999.99,
    actualValue: 0.01,
    notes: 'Line one\nline two',
  }
  const lead = await w.lead(fields)
  for (const [name, value] of Object.entries(fields)) assert.equal(lead[name], value, name)
  const read = await w.call('GET', leadPath(lead.id))
  assert.deepEqual(read.body, { success: true, data: lead })
})

test('value is an alias of actualValue on create', async () => {
  const { lead } = await world()
  assert.equal((await lead({ value: 12.5 })).actualValue, 12.5)
  assert.equal((await lead({ value: 12.5, actualValue: 12.5 })).actualValue, 12.5)
})

const kept: [field: string, sent: unknown, answered: unknown][] = [
  ['firstName', ` ${'é'.repeat(255)} `, 'é'.repeat(255)],
  ['firstName', '🙂'.repeat(255), '🙂'.repeat(255)],
  ['lastName', ' x '.padEnd(257), 'x'],
  ['lastName', '', null],
  ['lastName', '   ', null],
  ['lastName', null, null],
  ['email', `${'a'.repeat(242)}@example.com`, `${'a'.repeat(242)}@example.com`],
  ['email', 'José+Tag@Exämple.com', 'José+Tag@Exämple.com'],
  ['email', '', null],
  ['phone', '+55 (81) 99123-4567', '5581991234567'],
  ['phone', '0055 81.99123.4567', '5581991234567'],
  ['phone', '12345678', '12345678'],
  ['phone', '1'.repeat(20), '1'.repeat(20)],
  ['phone', '', null],
  ['notes', '', null],
  ['notes', '🙂'.repeat(10_000), '🙂'.repeat(10_000)],
  ['externalRef', '', null],
  ['externalRef', 'r'.repeat(255), 'r'.repeat(255)],
  ['uniqueCode', 'u'.repeat(255), 'u'.repeat(255)],
  ['status', 'a'.repeat(50), 'a'.repeat(50)],
  ['status', '0_9', '0_9'],
  ['estimatedValue', 0, 0],
  ['estimatedValue', -0, 0],
  ['estimatedValue', 0.1, 0.1],
  ['estimatedValue', 1234.5, 1234.5],
  ['adPlatform', null, null],
  ['assignedTo', null, null],
  ...sources.map((source): [string, unknown, unknown] => ['source', source, source]),
  ...priorities.map((priority): [string, unknown, unknown] => ['priority', priority, priority]),
  ...adPlatforms.map((platform): [string, unknown, unknown] => ['adPlatform', platform, platform]),
]

test('each value within its limits is kept, in its stored form', async () => {
  const { lead, call } = await world()
  for (const [field, sent, answered] of kept) {
    const created = await lead({ [field]: sent })
    assert.equal(created[field], answered, field)
    const { body } = await call('GET', leadPath(created.id))
    assert.equal(body.data[field], answered, `${field} read`)
  }
})

test('each value beyond its limits is refused with 400 naming the field, and nothing is stored', async () => {
  const w = await world()
  const refused: [field: string, value: unknown][] = [
    ['firstName', ''],
    ['firstName', '  '],
    ['firstName', null],
    ['firstName', 'x'.repeat(256)],
    ['lastName', 'x'.repeat(256)],
    ['email', `${'a'.repeat(243)}@example.com`],
    ['email', 'a b@example.com'],
    ['email', 'example.com'],
    ['email', 'a@b'],
    ['email', 'a@b@example.com'],
    ['phone', '1234567'],
    ['phone', '1'.repeat(21)],
    ['phone', 'call me'],
    ['phone', `+55 11 98765-4321${' '.repeat(48)}`],
    ['phone', 5581991234567],
    ['notes', 'x'.repeat(10_001)],
    ['externalRef', 'x'.repeat(256)],
    ['uniqueCode', 'x'.repeat(256)],
    ['uniqueCode', ''],
    ['uniqueCode', null],
    ['status', ''],
    ['status', 'New'],
    ['status', 'in progress'],
    ['status', 'a'.repeat(51)],
    ['status', null],
    ['priority', 'critical'],
    ['priority', null],
    ['source', 'tv'],
    ['adPlatform', 'bing'],
    ['assignedTo', 'me'],
    ['assignedTo', 'urn:uuid:00000000-0000-7000-8000-000000000000'],
    ['assignedTo', '00000000-0000-7000-8000-000000000000'],
    ['estimatedValue', -0.01],
    ['estimatedValue', 1_000_000_000_000],
    ['estimatedValue', 0.001],
    ['estimatedValue', '5'],
    ['actualValue', 1e-7],
    ['value', 1.005],
    ['value', true],
    ['customFieldValues', []],
    ['company', 'Acme'],
  ]
  const before = await stored(w)
  for (const [field, value] of refused) {
    const { status, body } = await w.call('POST', leadsPath, { body: { firstName: 'Marina', [field]: value } })
    assert.equal(status, 400, `${field} ${value}`)
    assert.equal(body.statusMessage, 'Validation failed')
    assert.deepEqual([...new Set(body.data.issues.map((issue: { path: string }) => issue.path))], [field])
  }
  const missing = await w.call('POST', leadsPath, { body: { lastName: 'Duarte' } })
  assert.deepEqual(missing.body.data.issues, [{ path: 'firstName', message: 'is required' }])
  assert.deepEqual(await stored(w), before)
})

test('every mistake of a body is named at once', async () => {
  const { call } = await world()
  const body = { firstName: ' ', email: 'nobody', phone: 'none', value: 1.234 }
  const answer = await call('POST', leadsPath, { body })
  const paths = answer.body.data.issues.map((issue: { path: string }) => issue.path)
  assert.deepEqual(paths.sort(), ['email', 'firstName', 'phone', 'value'])
})

test('value and actualValue that contradict each other are refused', async () => {
  const { call } = await world()
  const { status, body } = await call('POST', leadsPath, { body: { firstName: 'A', value: 1, actualValue: 2 } })
  assert.equal(status, 400)
  assert.equal(body.data.issues[0].path, 'value')
})

test('assignedTo must be a member of this very workspace', async () => {
  const [w, other] = [await world(), await world()]
  const stranger = await addMember(other)
  const { status, body } = await w.call('POST', leadsPath, { body: { firstName: 'A', assignedTo: stranger } })
  assert.equal(status, 400)
  assert.deepEqual(body.data.issues, [{ path: 'assignedTo', message: 'must be a member of the workspace' }])
  const member = await addMember(w)
  assert.equal((await w.lead({ assignedTo: member.toUpperCase() })).assignedTo, member)
})

for (const field of ['externalRef', 'uniqueCode']) {
  test(`a taken ${field} is a 409 that names the field, and nothing is stored`, async () => {
    const w = await world()
    await w.lead({ [field]: 'taken' })
    const before = await stored(w)
    const { status, body } = await w.call('POST', leadsPath, { body: { firstName: 'Bia', [field]: 'taken' } })
    assert.equal(status, 409)
    assert.deepEqual(body, {
      statusCode: 409,
      statusMessage: `Lead with this ${field} already exists`,
      data: { field },
    })
    assert.deepEqual(await stored(w), before)
  })
}

test('two leads may share a phone and an e-mail', async () => {
  const { lead } = await world()
  const [a, b] = [
    await lead({ phone: '5581991234567', email: 'a@b.co' }),
    await lead({ phone: '5581991234567', email: 'a@b.co' }),
  ]
  assert.notEqual(a.id, b.id)
  assert.notEqual(a.uniqueCode, b.uniqueCode)
})

test('of parallel creates with one externalRef exactly one succeeds', async () => {
  const { call } = await world()
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => call('POST', leadsPath, { body: { firstName: 'A', externalRef: 'one' } })),
  )
  assert.deepEqual(answers.map((answer) => answer.status).sort(), [201, ...Array(19).fill(409)])
})

test('a national number is read as one of the default country', async () => {
  const { lead, call } = await world({ defaultCountry: 'BR' })
  const created = await lead({ phone: '(81) 99123-4567' })
  assert.equal(created.phone, '5581991234567')
  for (const written of ['81991234567', '081 99123-4567', '+55 81 9123-4567']) {
    assert.equal((await call('GET', leadPath(written))).body.data?.id, created.id, written)
  }
})

test('a lead that was read can be created anew: what only the service writes is ignored', async () => {
  const { lead, call } = await world()
  const first = await lead({ lastName: 'Duarte' })
  const { uniqueCode: _, ...copy } = (await call('GET', leadPath(first.id))).body.data
  const second = await lead({ ...copy, previousStatus: 'won', customFields: [{ any: 'thing' }] })
  assert.notEqual(second.id, first.id)
  assert.equal(second.lastName, 'Duarte')
  assert.equal(second.status, 'new')
})

test('create needs the scope leads.write', async () => {
  const { call } = await world({ scopes: ['leads.read', 'leads.delete', 'leads.bulk'] })
  const { status, body, headers } = await call('POST', leadsPath, { body: { firstName: 'A' } })
  assert.equal(status, 401)
  assert.deepEqual(body, { statusCode: 401, statusMessage: 'API key lacks scope leads.write' })
  assert.equal(headers['www-authenticate'], 'Bearer')
})
