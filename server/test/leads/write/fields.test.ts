import assert from 'node:assert/strict'
import { test } from 'node:test'
import { adPlatforms, priorities, sources } from '../../../src/leads/lead/lead.ts'
import { addMember, leadPath, leadsPath, storedRows } from '../../support/leads/leads.ts'
import { writePaths } from '../../support/leads/write-paths.ts'
import { world } from '../../support/world.ts'

// The rules of a field are the same on every route; each row is sent on all of them.

const long = { email: `${'a'.repeat(242)}@example.com`, smiles: '🙂'.repeat(10_000) }
const kept: [sent: object, stored?: object][] = [
  [{ firstName: ` ${'é'.repeat(255)} ` }, { firstName: 'é'.repeat(255) }],
  [{ firstName: '🙂'.repeat(255) }],
  [{ lastName: ' x '.padEnd(257) }, { lastName: 'x' }],
  [{ lastName: '   ' }, { lastName: null }],
  [{ email: long.email }],
  [{ email: 'José+Tag@Exämple.com' }],
  [{ phone: '+55 (81) 99123-4567' }, { phone: '5581991234567' }],
  [{ phone: '0055 81.99123.4567' }, { phone: '5581991234567' }],
  [{ phone: '12345678' }],
  [{ phone: '1'.repeat(20) }],
  [{ notes: long.smiles }],
  [{ notes: 'Line one\nline two' }],
  [{ externalRef: 'r'.repeat(255) }],
  [{ uniqueCode: 'u'.repeat(255) }],
  [{ status: 'a'.repeat(50) }],
  [{ status: '0_9' }],
  [{ estimatedValue: 0 }],
  [{ estimatedValue: -0 }, { estimatedValue: 0 }],
  [{ estimatedValue: 0.1 }],
  [{ estimatedValue: 1234.5 }],
  [{ estimatedValue: 999_999_999_999.99, actualValue: 0.01 }],
  [{ value: 12.5 }, { actualValue: 12.5 }],
  [{ value: 12.5, actualValue: 12.5 }, { actualValue: 12.5 }],
  [{ value: null }, { actualValue: null }],
  ...sources.map((source): [object] => [{ source }]),
  ...priorities.map((priority): [object] => [{ priority }]),
  ...[...adPlatforms, null].map((adPlatform): [object] => [{ adPlatform }]),
  ...['externalRef', 'lastName', 'email', 'phone', 'notes'].map((name): [object, object] => [
    { [name]: '' },
    { [name]: null },
  ]),
  ...['externalRef', 'lastName', 'email', 'phone', 'notes', 'assignedTo', 'estimatedValue', 'actualValue'].map(
    (name): [object] => [{ [name]: null }],
  ),
  // Read-only fields are ignored, so that a lead that was read can be sent back.
  [{ id: 'x', createdAt: 1, updatedAt: null, deletedAt: true, customFields: {}, previousStatus: [] }, {}],
]

const refused: [lead: object, field: string][] = [
  ...['', '  ', null, 5, ['A'], { a: 1 }, 'x'.repeat(256)].map(of('firstName')),
  ...['x'.repeat(256), true].map(of('lastName')),
  ...[`${'a'.repeat(243)}@example.com`, 'a b@example.com', 'example.com', 'a@b', 'a@b@example.com', 0].map(of('email')),
  ...['1234567', '1'.repeat(21), 'call me', `+55 11 98765-4321${' '.repeat(48)}`, 5581991234567].map(of('phone')),
  ...['x'.repeat(10_001), []].map(of('notes')),
  ...['x'.repeat(256)].map(of('externalRef')),
  ...['x'.repeat(256), '', null].map(of('uniqueCode')),
  ...['', 'New', 'in progress', 'a'.repeat(51), null, 1].map(of('status')),
  ...['critical', null].map(of('priority')),
  ...['tv'].map(of('source')),
  ...['bing'].map(of('adPlatform')),
  ...['me', 'urn:uuid:00000000-0000-7000-8000-000000000000', '00000000-0000-0000-0000-00000000000g', 1].map(
    of('assignedTo'),
  ),
  ...[-0.01, 1_000_000_000_000, 0.001, '5'].map(of('estimatedValue')),
  ...[1e-7].map(of('actualValue')),
  ...[1.005, true].map(of('value')),
  [{ value: 1, actualValue: 2 }, 'value'],
  ...[[], 'x', null].map(of('customFieldValues')),
  ...['City', '1st', '_a', '', 'a'.repeat(41)].map((key): [object, string] => [
    { customFieldValues: { [key]: 'x' } },
    `customFieldValues.${key}`,
  ]),
  ...['x'.repeat(256), 5, ['x'], { a: 'x' }].map((a): [object, string] => [
    { customFieldValues: { a } },
    'customFieldValues.a',
  ]),
  [{ company: 'Acme' }, 'company'],
  [{ tenant_id: 'x' }, 'tenant_id'],
  [{ constructor: {} }, 'constructor'],
]

function of(field: string) {
  return (value: unknown): [object, string] => [{ [field]: value }, field]
}

for (const { name, targets: targetsOf, send } of writePaths) {
  test(`${name}: values within their limits are stored in their stored form, null clears, and nothing else changes`, async () => {
    const w = await world()
    const targets = await targetsOf(w, kept.length)
    const sent = kept.map(([lead]) => lead)
    const outcomes = await send(w, targets, sent)
    const { data } = (await w.call('GET', leadsPath, { query: { limit: '100' } })).body
    assert.equal(data.length, kept.length)
    for (const [n, { lead, error }] of outcomes.entries()) {
      assert.equal(error, undefined, JSON.stringify(sent[n]))
      const { updatedAt: _, ...base } = targets[n]?.base ?? {}
      assert.partialDeepStrictEqual(lead, { ...base, ...(kept[n]?.[1] ?? sent[n]) })
      const { previousStatus: __, value: ___, ...shown } = lead
      const listed = data.find(({ id }: { id: string }) => id === lead.id)
      assert.deepEqual(listed, shown)
    }
  })

  test(`${name}: values beyond their limits return 400 with the field, and nothing is stored`, async () => {
    const w = await world()
    const targets = await targetsOf(w, refused.length)
    const before = await storedRows(w)
    const sent = refused.map(([lead]) => lead)
    for (const [n, { status, error, issues }] of (await send(w, targets, sent)).entries()) {
      assert.deepEqual([status, issues], [400, [refused[n]?.[1]]], JSON.stringify(sent[n]))
      assert.equal(error.statusMessage, 'Validation failed')
    }
    assert.deepEqual(await storedRows(w), before)
  })

  test(`${name}: all errors of a lead are reported at once`, async () => {
    const w = await world()
    const lead = { firstName: ' ', email: 'nobody', phone: 'none', value: 1.234 }
    const [outcome] = await send(w, await targetsOf(w, 1), [lead])
    assert.deepEqual(outcome?.issues.toSorted(), ['email', 'firstName', 'phone', 'value'])
  })

  test(`${name}: assignedTo must be a member of the same workspace`, async () => {
    const [w, other] = [await world(), await world()]
    const [member, stranger] = [await addMember(w), await addMember(other)]
    const targets = await targetsOf(w, 2)
    const [known, unknown] = await send(w, targets, [{ assignedTo: member.toUpperCase() }, { assignedTo: stranger }])
    assert.deepEqual([known?.lead.assignedTo, unknown?.status, unknown?.issues], [member, 400, ['assignedTo']])
    assert.equal(unknown?.error.data.issues[0].message, 'must be a member of the workspace')
  })

  for (const field of ['externalRef', 'uniqueCode']) {
    test(`${name}: a ${field} of another lead returns 409 with the field, and nothing is stored`, async () => {
      const w = await world()
      const targets = await targetsOf(w, 1)
      await w.lead({ [field]: 'taken' })
      const before = await storedRows(w)
      const [outcome] = await send(w, targets, [{ [field]: 'taken', notes: 'new' }])
      const statusMessage = `Lead with this ${field} already exists`
      assert.deepEqual(outcome?.error, { statusCode: 409, statusMessage, data: { field } })
      assert.deepEqual(await storedRows(w), before)
    })
  }
}

for (const { name, targets: targetsOf, send } of writePaths.filter(({ isUpdate }) => isUpdate)) {
  test(`${name}: a request that changes nothing returns the lead unchanged, and writes nothing`, async () => {
    const w = await world()
    const [target] = await targetsOf(w, 1)
    const assignedTo = await addMember(w)
    const { match } = target ?? assert.fail()
    await w.call('PATCH', leadPath(match.value), { body: { assignedTo, customFieldValues: { k_city: 'Recife' } } })
    const before = await storedRows(w)
    w.clock.advance(5000)
    const read = (await w.call('GET', leadPath(match.value))).body.data
    const { customFields: _, customFieldValues: __, ...lead } = read
    const same = [
      {},
      ...Object.entries(lead).map(([field, value]) => ({ [field]: value })),
      read,
      { value: 20 },
      { firstName: ' Marina ' },
      { phone: '+55 81 99123-4567' },
      ...[{}, { nothing: null }, { city: 'Recife' }].map((customFieldValues) => ({ customFieldValues })),
    ]
    for (const outcome of await send(
      w,
      same.map(() => ({ match, base: {} })),
      same,
    )) {
      assert.partialDeepStrictEqual(outcome.lead, lead)
    }
    assert.deepEqual(await storedRows(w), before)
  })
}

test('ambiguous input is rejected as a whole by every route, and nothing is stored', async () => {
  const w = await world()
  await w.lead({ externalRef: 'r' })
  const before = await storedRows(w)
  const match = '"match":{"by":"externalRef","value":"r"}'
  const writers: [method: 'POST' | 'PATCH', path: string, wrap: (lead: string) => string, at: string][] = [
    ['POST', leadsPath, (lead) => lead, ''],
    ['PATCH', leadPath('r'), (lead) => lead, ''],
    ['POST', `${leadsPath}/upsert`, (lead) => `{${match},"lead":${lead}}`, 'lead.'],
    ['POST', `${leadsPath}/bulk-upsert`, (lead) => `{"items":[{${match},"lead":${lead}}]}`, 'items[0].lead.'],
  ]
  const texts: [lead: string, field: string][] = [
    ['{"firstName":"A","estimatedValue":1e999}', 'estimatedValue'],
    ['{"firstName":"A","actualValue":9007199254740993}', 'actualValue'],
    ['{"firstName":"A","__proto__":{"status":"won"}}', '__proto__'],
    ['{"firstName":"A\\u0000"}', 'firstName'],
    ['{"firstName":"A","notes":"\\udc00\\ud800"}', 'notes'],
    ['{"firstName":"A","customFieldValues":{"a":"1","a":"2"}}', 'customFieldValues.a'],
  ]
  for (const [method, path, wrap, at] of writers) {
    for (const [lead, field] of texts) {
      const { status, body } = await w.call(method, path, { raw: wrap(lead) })
      assert.deepEqual([status, body.data?.issues[0].path], [400, at + field], `${method} ${path} ${lead}`)
    }
    for (const raw of ['[]', 'null', '"text"', '{', "{'firstName':'A'}", '\uFEFF']) {
      assert.equal((await w.call(method, path, { raw })).status, 400, `${method} ${path} ${raw}`)
    }
    const xml = { raw: wrap('{"firstName":"A"}'), headers: { 'content-type': 'application/xml' } }
    assert.equal((await w.call(method, path, xml)).status, 415)
    const large = wrap(`{"firstName":"A","notes":"${'x'.repeat(1024 * 1024)}"}`)
    assert.equal((await w.call(method, path, { raw: large })).status, 413)
  }
  assert.deepEqual(await storedRows(w), before)
})
