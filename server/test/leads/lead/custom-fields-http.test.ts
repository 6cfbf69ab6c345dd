import assert from 'node:assert/strict'
import { test } from 'node:test'
import { leadPath, leadsPath, stored } from '../../support/leads/leads.ts'
import { type World, world } from '../../support/world.ts'

const textField = (key: string, value: string) => ({ key, label: key, type: 'text', value })

async function detail({ call }: World, id: string) {
  const { body } = await call('GET', leadPath(id))
  return body.data
}

for (const place of ['create', 'upsert'] as const) {
  const send = (w: World, query: Record<string, string>, lead: Record<string, unknown> = {}) =>
    place === 'create'
      ? w.call('POST', leadsPath, { query, body: { firstName: 'Marina', ...lead } })
      : w.call('POST', `${leadsPath}/upsert`, {
          query,
          body: { match: { by: 'externalRef', value: 'r' }, lead: { firstName: 'Marina', ...lead } },
        })

  test(`k_* parameters of ${place} are stored under the original key and also listed without k_`, async () => {
    const w = await world()
    const { body } = await send(w, { k_city: 'São Paulo', k_utm_source: 'a&b=c' })
    const read = await detail(w, body.data.id)
    assert.deepEqual(read.customFields, [textField('k_city', 'São Paulo'), textField('k_utm_source', 'a&b=c')])
    assert.deepEqual(read.customFieldValues, {
      k_city: 'São Paulo',
      city: 'São Paulo',
      k_utm_source: 'a&b=c',
      utm_source: 'a&b=c',
    })
  })

  test(`on ${place} an alias that collides with another custom field is left out`, async () => {
    const w = await world()
    const { body } = await send(w, { k_city: 'Recife' }, { customFieldValues: { city: 'Olinda', vip: false } })
    const read = await detail(w, body.data.id)
    assert.deepEqual(read.customFieldValues, { k_city: 'Recife', city: 'Olinda', vip: false })
    assert.deepEqual(read.customFields, [
      textField('k_city', 'Recife'),
      textField('city', 'Olinda'),
      { key: 'vip', label: 'vip', type: 'boolean', value: false },
    ])
  })

  test(`on ${place} more than 10 fields, a bad key or an over-long value is a 400 and nothing is stored`, async () => {
    const w = await world()
    const before = await stored(w)
    const eleven = Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`k_f${n}`, 'x']))
    const { k_f10: _, ...ten } = eleven
    const bad: [query: Record<string, string>, values: Record<string, unknown>, path: RegExp][] = [
      [eleven, {}, /customFieldValues$/],
      [ten, { one_more: 'x' }, /customFieldValues$/],
      [{ k_City: 'x' }, {}, /^k_City$/],
      [{ 'k_a-b': 'x' }, {}, /^k_a-b$/],
      [{ k_: 'x' }, {}, /^k_$/],
      [{ k_ção: 'x' }, {}, /^k_ção$/],
      [{ [`k_${'a'.repeat(39)}`]: 'x' }, {}, /^k_a+$/],
      [{ k_city: 'x'.repeat(256) }, {}, /^k_city$/],
      [{}, { City: 'x' }, /customFieldValues\.City$/],
      [{}, { '1st': 'x' }, /customFieldValues\.1st$/],
      [{}, { _a: 'x' }, /customFieldValues\._a$/],
      [{}, { '': 'x' }, /customFieldValues\.$/],
      [{}, { ['a'.repeat(41)]: 'x' }, /customFieldValues\.a+$/],
      [{}, { city: 'x'.repeat(256) }, /customFieldValues\.city$/],
      [{}, { city: 5 }, /customFieldValues\.city$/],
      [{}, { city: ['x'] }, /customFieldValues\.city$/],
      [{}, { city: { a: 'x' } }, /customFieldValues\.city$/],
    ]
    for (const [query, customFieldValues, path] of bad) {
      const { status, body } = await send(w, query, { customFieldValues })
      assert.equal(status, 400, JSON.stringify([query, customFieldValues]))
      assert.match(body.data.issues[0].path, path)
    }
    assert.deepEqual(await stored(w), before)
    assert.ok((await send(w, ten)).status < 300)
  })

  test(`on ${place} a key of 40 characters with its k_ and a value of 255 are stored`, async () => {
    const w = await world()
    const [key, value] = [`k_${'a'.repeat(38)}`, '🙂'.repeat(255)]
    const { body } = await send(w, { [key]: value })
    assert.deepEqual((await detail(w, body.data.id)).customFields, [textField(key, value)])
  })
}

test('custom fields are in the detail only, and only when the lead has some', async () => {
  const w = await world()
  const customFieldValues = { city: 'Recife' }
  const match = { by: 'externalRef', value: 'r' }
  const created = await w.call('POST', leadsPath, { body: { firstName: 'A', externalRef: 'r', customFieldValues } })
  const updated = await w.call('PATCH', leadPath('r'), { body: { notes: 'x', customFieldValues: { vip: true } } })
  const upserted = await w.call('POST', `${leadsPath}/upsert`, { body: { match, lead: { customFieldValues } } })
  const bulk = await w.call('POST', `${leadsPath}/bulk-upsert`, { body: { items: [{ match, lead: {} }] } })
  const listed = await w.call('GET', leadsPath)
  const shown = [created, updated, upserted].flatMap(({ body }) => [body.data, body.lead])
  for (const lead of [...shown, bulk.body.results[0].lead, listed.body.data[0]]) {
    assert.ok(!('customFields' in lead) && !('customFieldValues' in lead))
  }
  assert.deepEqual((await detail(w, 'r')).customFieldValues, { city: 'Recife', vip: true })
  await w.call('PATCH', leadPath('r'), { body: { customFieldValues: { city: null, vip: null } } })
  const bare = await detail(w, 'r')
  assert.ok(!('customFields' in bare) && !('customFieldValues' in bare))
})

test('PATCH sets, changes and removes custom field values, and leaves the others', async () => {
  const w = await world()
  const { id } = await w.lead({ customFieldValues: { city: 'Recife', vip: true, size: 'M' } })
  await w.call('PATCH', leadPath(id), { body: { customFieldValues: { city: 'Natal', size: '', team: 'a' } } })
  assert.deepEqual((await detail(w, id)).customFieldValues, { city: 'Natal', vip: true, team: 'a' })
})

test('a value under an alias changes the k_ field that it stands for', async () => {
  const w = await world()
  const { body } = await w.call('POST', leadsPath, { query: { k_city: 'Recife' }, body: { firstName: 'A' } })
  await w.call('PATCH', leadPath(body.data.id), { body: { customFieldValues: { city: 'Natal' } } })
  assert.deepEqual((await detail(w, body.data.id)).customFields, [textField('k_city', 'Natal')])
})

test('a value must be of its field type: a boolean field takes no string, a text field no boolean', async () => {
  const w = await world()
  const { id } = await w.lead({ customFieldValues: { vip: true, city: 'Recife' } })
  const before = await stored(w)
  for (const [key, value] of [
    ['vip', 'yes'],
    ['city', false],
  ] as const) {
    const { status, body } = await w.call('PATCH', leadPath(id), { body: { customFieldValues: { [key]: value } } })
    assert.equal(status, 400)
    assert.equal(body.data.issues[0].path, `customFieldValues.${key}`)
  }
  assert.deepEqual(await stored(w), before)
})

test('an upsert that finds its lead adds k_* parameters to what it has', async () => {
  const w = await world()
  await w.lead({ externalRef: 'r', customFieldValues: { vip: true } })
  const body = { match: { by: 'externalRef', value: 'r' }, lead: {} }
  const query = { k_city: 'Recife' }
  assert.equal((await w.call('POST', `${leadsPath}/upsert`, { query, body })).body.action, 'updated')
  assert.deepEqual((await detail(w, 'r')).customFieldValues, { vip: true, k_city: 'Recife', city: 'Recife' })
  const before = await stored(w)
  await w.call('POST', `${leadsPath}/upsert`, { query, body })
  assert.deepEqual(await stored(w), before)
})

test('k_* parameters are refused where they are not welcome', async () => {
  const w = await world()
  const { id } = await w.lead()
  const query = { k_city: 'x' }
  const refused = [
    await w.call('GET', leadsPath, { query }),
    await w.call('GET', leadPath(id), { query }),
    await w.call('PATCH', leadPath(id), { query, body: {} }),
    await w.call('DELETE', leadPath(id), { query }),
    await w.call('POST', `${leadPath(id)}/restore`, { query }),
    await w.call('POST', `${leadsPath}/bulk-upsert`, { query, body: { items: [] } }),
  ]
  for (const { status, body } of refused) {
    assert.equal(status, 400)
    assert.deepEqual(body.data.issues, [{ path: 'k_city', message: 'is not a known field' }])
  }
  for (const parameter of ['city', 'kcity', 'K_city', 'dryRun', 'page']) {
    const { status, body } = await w.call('POST', leadsPath, { query: { [parameter]: 'x' }, body: { firstName: 'A' } })
    assert.equal(status, 400, parameter)
    assert.equal(body.data.issues[0].path, parameter)
  }
})
