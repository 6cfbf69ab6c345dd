import assert from 'node:assert/strict'
import { test } from 'node:test'
import { leadPath, leadsPath, storedRows } from '../../support/leads/leads.ts'
import { writePaths } from '../../support/leads/write-paths.ts'
import { type World, world } from '../../support/world.ts'

const textField = (key: string, value: string) => ({ key, label: key, type: 'text', value })

async function detail({ call }: World, id: string) {
  const { body } = await call('GET', leadPath(id))
  return body.data
}

/** Routes that accept `k_*` parameters. */
const withParameters = writePaths.filter(({ name }) => name === 'create' || name.startsWith('an upsert'))

for (const { name, targets: targetsOf, send } of withParameters) {
  test(`${name}: stores k_* parameters under the original key and lists them without k_, unless another field has that name`, async () => {
    const w = await world()
    const query = { k_city: 'São Paulo', k_utm_source: 'a&b=c' }
    const targets = await targetsOf(w, 2)
    const [plain] = await send(w, targets, [{}], query)
    const read = await detail(w, plain?.lead.id)
    assert.deepEqual(read.customFields, [textField('k_city', 'São Paulo'), textField('k_utm_source', 'a&b=c')])
    const aliases = { k_city: 'São Paulo', city: 'São Paulo', k_utm_source: 'a&b=c', utm_source: 'a&b=c' }
    assert.deepEqual(read.customFieldValues, aliases)
    const values = { city: 'Olinda', vip: false }
    const [mixed] = await send(w, targets.slice(1), [{ customFieldValues: values }], { k_city: 'Recife' })
    const collided = await detail(w, mixed?.lead.id)
    assert.deepEqual(collided.customFieldValues, { k_city: 'Recife', ...values })
    const vip = { key: 'vip', label: 'vip', type: 'boolean', value: false }
    assert.deepEqual(collided.customFields, [textField('k_city', 'Recife'), textField('city', 'Olinda'), vip])
  })

  test(`${name}: more than 10 fields, a bad key or an over-long value in k_* parameters returns 400 and stores nothing`, async () => {
    const w = await world()
    const targets = await targetsOf(w, 1)
    const before = await storedRows(w)
    const eleven = Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`k_f${n}`, 'x']))
    const { k_f10: _, ...ten } = eleven
    const longest = `k_${'a'.repeat(38)}`
    const rows: [query: Record<string, string>, values: object, path: string][] = [
      [eleven, {}, 'customFieldValues'],
      [ten, { one_more: 'x' }, 'customFieldValues'],
      ...['k_City', 'k_a-b', 'k_', 'k_ção', `${longest}a`].map((key): [Record<string, string>, object, string] => [
        { [key]: 'x' },
        {},
        key,
      ]),
      [{ k_city: 'x'.repeat(256) }, {}, 'k_city'],
    ]
    for (const [query, customFieldValues, path] of rows) {
      const [outcome] = await send(w, targets, [{ customFieldValues }], query)
      assert.deepEqual([outcome?.status, outcome?.issues], [400, [path]], JSON.stringify([query, customFieldValues]))
    }
    assert.deepEqual(await storedRows(w), before)
    const [fits] = await send(w, targets, [{}], { ...ten, k_f9: '', [longest]: '🙂'.repeat(255) })
    assert.equal((await detail(w, fits?.lead.id)).customFields.at(-1).value, '🙂'.repeat(255))
  })
}

test('custom fields are only in the detail response, and only if the lead has any', async () => {
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

for (const { name, targets: targetsOf, send } of writePaths.filter(({ isUpdate }) => isUpdate)) {
  test(`${name}: sets, changes and removes values by key or alias, keeps others, and checks the type of each field`, async () => {
    const w = await world()
    const targets = await targetsOf(w, 1)
    const { id } = targets[0]?.base ?? assert.fail()
    const first = { k_city: 'Recife', vip: true, size: 'M', old: 'x' }
    await send(w, targets, [{ customFieldValues: first }])
    await send(w, targets, [{ customFieldValues: { city: 'Natal', size: '', old: null, team: 'a' } }])
    const values = { k_city: 'Natal', city: 'Natal', vip: true, team: 'a' }
    assert.deepEqual((await detail(w, id)).customFieldValues, values)
    const before = await storedRows(w)
    for (const [key, value] of Object.entries({ vip: 'yes', city: false })) {
      const [outcome] = await send(w, targets, [{ customFieldValues: { [key]: value } }])
      assert.deepEqual([outcome?.status, outcome?.issues], [400, [`customFieldValues.${key}`]])
    }
    assert.deepEqual(await storedRows(w), before)
  })
}

test('k_* parameters are rejected where they are not supported', async () => {
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
