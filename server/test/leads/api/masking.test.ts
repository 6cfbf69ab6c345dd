import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fillForm } from '../../support/form-world.ts'
import { leadPath, leadsPath, storedRows } from '../../support/leads/leads.ts'
import { memoryIndexWorld } from '../../support/leads/memory-index-world.ts'
import { mergeWorld } from '../../support/leads/merge-world.ts'
import { pick } from '../../support/pick.ts'
import { makeTokens } from '../../support/tokens.ts'
import { callerOf, type World, world } from '../../support/world.ts'

const all = ['leads.read', 'leads.write', 'leads.delete', 'leads.bulk'] as const
const upsertPath = `${leadsPath}/upsert`

test('a masked key sees every phone masked in every response', async () => {
  const w = await world()
  const { value: key } = await w.addKey({ scopes: [...all], phoneVisibility: 'masked' })
  const [phone, masked] = ['5581991234567', '55819*****567']
  const created = await w.call('POST', leadsPath, { key, body: { firstName: 'A', externalRef: 'r', phone } })
  const id = created.body.data.id
  const match = { by: 'externalRef', value: 'r' }
  const items = [
    { match, lead: { status: 'won' } },
    { match, lead: { email: 'bad' } },
  ]
  const answers = [
    created,
    await w.call('PATCH', leadPath(id), { key, body: { notes: 'x' } }),
    await w.call('PATCH', leadPath(id), { key, body: { notes: 'x' } }),
    await w.call('POST', upsertPath, { key, body: { match: { by: 'id', value: id }, lead: { notes: 'y' } } }),
    await w.call('POST', upsertPath, { key, query: { dryRun: 'true' }, body: { match, lead: { notes: 'n' } } }),
    await w.call('GET', leadPath(id), { key }),
    await w.call('GET', leadsPath, { key }),
    await w.call('GET', leadPath(phone), { key }),
    await w.call('POST', `${leadsPath}/bulk-upsert`, { key, body: { items } }),
  ]
  await w.call('DELETE', leadPath(id), { key })
  for (const { status, body } of [...answers, await w.call('POST', `${leadPath(id)}/restore`, { key })]) {
    assert.ok(status < 300)
    for (const lead of [body.data, body.lead, body.results?.[0].lead].flat()) {
      if (lead !== undefined) assert.equal(lead.phone, masked)
    }
    assert.ok(!JSON.stringify(body).includes(phone))
  }
  const byPhone = { items: [{ match: { by: 'phone', value: phone }, lead: {} }] }
  const { results } = (await w.call('POST', `${leadsPath}/bulk-upsert`, { key, body: byPhone })).body
  assert.equal(results[0].lead.phone, masked)
  assert.equal((await w.call('GET', leadPath(id))).body.data.phone, phone)
})

const marina = {
  firstName: 'Marina',
  lastName: '81 99123-4567',
  email: '5581991234567@mail.example',
  phone: '5581991234567',
  externalRef: 'wa-5581991234567',
  uniqueCode: '5581991234567',
  notes: 'Call 5581991234567 after six.',
  customFieldValues: {
    k_whatsapp: '+55 81 99123-4567',
    k_other: '+55 11 98888-7777',
    k_born: '1990-05-12',
    k_vip: 'yes',
  },
}

test('values that are or contain the phone of a lead are masked like the phone, also in notes', async () => {
  const w = await world()
  const { value: key } = await w.addKey({ scopes: ['leads.read'], phoneVisibility: 'masked' })
  const { id } = await w.lead(marina)
  const shown = (await w.call('GET', leadPath(id), { key })).body.data
  assert.deepEqual(
    { ...shown, customFields: undefined },
    {
      ...shown,
      phone: '55819*****567',
      firstName: 'Marina',
      // A mask for the embedded number alone would show other digits of it.
      lastName: '********567',
      email: '*************@mail.example',
      externalRef: 'wa-*************',
      uniqueCode: '55819*****567',
      notes: 'Call ************* after six.',
      customFields: undefined,
      customFieldValues: {
        k_whatsapp: '55819*****567',
        whatsapp: '55819*****567',
        k_other: '55119*****777',
        other: '55119*****777',
        k_born: '1990-05-12',
        born: '1990-05-12',
        k_vip: 'yes',
        vip: 'yes',
      },
    },
  )
  assert.ok(!JSON.stringify(shown.customFields).includes('99123'))
  const [listed] = (await w.call('GET', leadsPath, { key })).body.data
  assert.equal(listed.lastName, '********567')
  const { events } = (await w.call('GET', '/api/v1/events', { key })).body
  for (const { payload } of events) {
    assert.equal(payload.lastName, shown.lastName)
    assert.deepEqual(payload.customFieldValues, shown.customFieldValues)
    assert.ok(!JSON.stringify(payload).includes('99123'))
  }
})

const numbers = ['5511990228534', '5531988887701', '4915112345678', '551633445566']
/** Ways for numbers to get into other fields: imports, people, programs. */
const writings = [
  (number: string) => number,
  (number: string) => `+${number.slice(0, 2)} ${number.slice(2, 4)} ${number.slice(4, 8)}-${number.slice(8)}`,
  (number: string) => `wa ${number.slice(2)}`,
  (number: string) => `${number.slice(0, 6)}\u3164${number.slice(6)}`,
]
const anyNumber = fc.constantFrom(...numbers)
const anyText = fc.tuple(anyNumber, fc.constantFrom(...writings)).map(([number, write]) => write(number))
const write = fc.record(
  {
    firstName: anyText,
    lastName: anyText,
    email: fc.oneof(
      fc.constant(null),
      anyNumber.map((number) => `${number}@mail.example`),
    ),
    phone: fc.oneof(fc.constant(null), anyNumber, anyNumber),
    externalRef: anyText,
    uniqueCode: anyText,
    status: anyNumber.map((number) => `s_${number}`),
    notes: anyText.map((text) => `Called: ${text}.`),
    customFieldValues: fc.record(
      { k_note: anyText, k_5511990228534: anyText, k_size: anyNumber },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
)
const step = fc.record({
  by: fc.constantFrom('masked', 'whole', 'upsert', 'bulk', 'merge', 'undo'),
  lead: fc.constantFrom('one', 'two'),
  write,
})

test('no output for a masked reader contains seven consecutive digits of a current or former number', async () => {
  const scopes = ['leads.read', 'leads.write', 'leads.bulk', 'inbox.read', 'inbox.write'] as const
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 8 }), async (steps) => {
      const w = await mergeWorld({ firstName: 'One', phone: numbers[0] }, { firstName: 'Two', phone: numbers[1] })
      const { value: key } = await w.w.addKey({ scopes: [...scopes], phoneVisibility: 'masked' })
      const answers: object[] = []
      const ask = async (...asked: Parameters<World['call']>) => {
        const { status, body } = await w.w.call(asked[0], asked[1], { key, ...asked[2] })
        if (status < 300) answers.push(body)
        return body
      }
      let merge: string | undefined
      for (const { by, lead, write: body } of steps) {
        const { id } = w[lead]
        const item = { match: { by: 'id', value: id }, lead: body }
        if (by === 'masked') await ask('PATCH', leadPath(id), { body })
        if (by === 'whole') await w.w.call('PATCH', leadPath(id), { body })
        if (by === 'upsert') await ask('POST', upsertPath, { body: item })
        if (by === 'bulk') await ask('POST', `${leadsPath}/bulk-upsert`, { body: { items: [item] } })
        if (by === 'merge') merge = (await w.merge()).body.merge?.id ?? merge
        if (by === 'undo' && merge !== undefined) await w.undo(merge)
      }
      for (const id of [w.one.id, w.two.id]) {
        await ask('GET', leadPath(id))
        await ask('GET', `/api/v2/leads/${id}`)
      }
      await ask('GET', leadsPath)
      await ask('GET', '/api/v2/leads')
      await ask('GET', '/api/v1/events')
      const said = JSON.stringify(answers)
      for (const number of numbers) {
        for (let at = 0; at + 7 <= number.length; at++) {
          const piece = number.slice(at, at + 7)
          assert.ok(!said.includes(piece), `${piece} in ${said.slice(said.indexOf(piece) - 80).slice(0, 100)}`)
        }
      }
      for (const number of numbers) {
        const { body } = await w.w.call('GET', leadsPath, { key, query: { search: number.slice(4, 9) } })
        assert.deepEqual(body.data, [])
      }
    }),
    {
      numRuns: 6,
      examples: [
        // All custom fields are hidden, in events too.
        [[{ by: 'masked', lead: 'one', write: { customFieldValues: { k_5511990228534: '5511990228534' } } }]],
      ] as never,
    },
  )
})

test('a phone field created by a form is masked in the lead, in updates by a key and in the feed', async () => {
  const w = await world()
  const { value: key } = await w.addKey({ scopes: ['leads.read', 'leads.write'], phoneVisibility: 'masked' })
  await fillForm(w, [{ key: 'mobile', label: 'Mobile', type: 'phone' }], {
    firstName: 'Marina',
    mobile: '+55 11 98888-7777',
  })
  const [{ id }] = (await w.call('GET', leadsPath, { key })).body.data
  const { body } = await w.call('GET', leadPath(id), { key })
  assert.deepEqual(body.data.customFieldValues, { mobile: '55119*****777' })
  assert.deepEqual(body.data.customFields, [{ key: 'mobile', label: 'Mobile', type: 'phone', value: '55119*****777' }])
  await w.call('PATCH', leadPath(id), { key, body: { status: 'won' } })
  const { events } = (await w.call('GET', '/api/v1/events', { key })).body
  assert.equal(events.length, 2)
  for (const { payload } of events) assert.deepEqual(payload.customFields, body.data.customFields)
})

test('a lead from a read or an update response can be sent back and changes nothing, also by a masked reader', async () => {
  const w = await world()
  const masked = await w.addKey({ scopes: ['leads.read', 'leads.write'], phoneVisibility: 'masked' })
  const { id } = await w.lead(marina)
  for (const key of [w.key, masked.value]) {
    const before = await storedRows(w)
    const read = (await w.call('GET', leadPath(id), { key })).body.data
    const back = await w.call('PATCH', leadPath(id), { key, body: read })
    assert.equal(back.body.message, 'No changes detected', JSON.stringify(back.body))
    const again = await w.call('PATCH', leadPath(id), { key, body: back.body.data })
    assert.equal(again.body.message, 'No changes detected')
    const upserted = await w.call('POST', upsertPath, { key, body: { match: { by: 'id', value: id }, lead: read } })
    assert.equal(upserted.body.action, 'updated')
    assert.deepEqual(await storedRows(w), before)
    const changed = await w.call('PATCH', leadPath(id), {
      key,
      body: { ...read, status: `by_${key.slice(4, 8)}`.toLowerCase() },
    })
    assert.equal(changed.body.message, 'Lead updated successfully', JSON.stringify(changed.body))
  }
  const { data } = (await w.call('GET', leadPath(id))).body
  assert.deepEqual({ ...data, ...marina, customFieldValues: data.customFieldValues }, data)
  assert.partialDeepStrictEqual(data.customFieldValues, marina.customFieldValues)
})

test('the search of a masked reader ignores phones and values that contain one, in the database and in memory', async () => {
  const w = await memoryIndexWorld()
  const [node] = w.nodes
  assert.ok(node)
  const { value: key } = await w.addKey({ scopes: ['leads.read'], phoneVisibility: 'masked' })
  const { id } = await w.lead({ ...marina, uniqueCode: 'LL-204', lastName: 'Íris 91234567 Duarte' })
  const named = await w.lead({ firstName: `+${marina.phone}`, phone: marina.phone, email: 'ana@mail.example' })
  assert.equal(await node.indexes.warm(w.workspaceId), true)
  const find = async (call: World['call'], search: string, as: string) => {
    const { body } = await call('GET', leadsPath, { key: as, query: { search } })
    assert.equal(body.pagination.total, body.data.length)
    return pick(body.data, 'id')
  }
  const rows: [term: string, found: string[]][] = [
    ...['5581991234567', '99123', '123', '+55 81', '(81) 99123-4567', 'wa-55'].map((term): [string, string[]] => [
      term,
      [],
    ]),
    // A generated code never has two letters L, nor a hyphen.
    ...['marina', 'Marina Íris', 'duarte', 'l-2', 'LL'].map((term): [string, string[]] => [term, [id]]),
    ['ana@mail', [named.id]],
  ]
  const inMemory = callerOf(node.app, w.key)
  for (const call of [w.call, w.call, inMemory]) {
    for (const [term, found] of rows) {
      assert.deepEqual(await find(call, term, key), found, term)
      if (found.length === 0) assert.ok((await find(call, term, w.key)).includes(id), term)
    }
    await makeTokens(w)
  }
  assert.deepEqual(node.counts, { image: 18, database: 0 })
})
