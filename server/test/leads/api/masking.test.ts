import assert from 'node:assert/strict'
import { test } from 'node:test'
import { leadPath, leadsPath } from '../../support/leads/leads.ts'
import { imageWorld } from '../../support/leads/memory-index-world.ts'
import { makeTokens } from '../../support/tokens.ts'
import { callerOf, testTeamToken, type World, world } from '../../support/world.ts'

const phones: [phone: string, masked: string][] = [
  ['5581991234567', '55819*****567'],
  ['12345678', '*****678'],
  ['123456789', '12345*789'],
  ['1'.repeat(20), `11111${'*'.repeat(12)}111`],
]

test('a masked key sees every phone masked, in every answer, and never in full', async () => {
  const w = await world()
  const scopes = ['leads.read', 'leads.write', 'leads.delete', 'leads.bulk'] as const
  const { value: key } = await w.addKey({ scopes: [...scopes], phoneVisibility: 'masked' })
  for (const [phone, masked] of phones) {
    const match = { by: 'phone', value: phone }
    const created = await w.call('POST', leadsPath, { key, body: { firstName: 'A', phone } })
    const id = created.body.data.id
    const answers = [
      created,
      await w.call('PATCH', leadPath(id), { key, body: { notes: 'x' } }),
      await w.call('PATCH', leadPath(id), { key, body: { notes: 'x' } }),
      await w.call('POST', `${leadsPath}/upsert`, {
        key,
        body: { match: { by: 'id', value: id }, lead: { notes: 'y' } },
      }),
      await w.call('GET', leadPath(id), { key }),
      await w.call('GET', leadsPath, { key }),
      await w.call('GET', leadPath(phone), { key }),
    ]
    const bulk = await w.call('POST', `${leadsPath}/bulk-upsert`, { key, body: { items: [{ match, lead: {} }] } })
    await w.call('DELETE', leadPath(id), { key })
    const restored = await w.call('POST', `${leadPath(id)}/restore`, { key })
    for (const { status, body } of [...answers, restored]) {
      assert.ok(status < 300)
      assert.equal([body.data].flat()[0].phone, masked)
      if (body.lead) assert.equal(body.lead.phone, masked)
      assert.ok(!JSON.stringify(body).includes(phone))
    }
    assert.equal(bulk.body.results[0].lead.phone, masked)
    assert.equal((await w.call('GET', leadPath(id))).body.data.phone, phone)
    await w.call('DELETE', leadPath(id))
  }
})

test('no answer to a masked key shows the phone of a lead that it did not name by phone', async () => {
  const w = await world()
  const { value: key } = await w.addKey({ scopes: ['leads.read', 'leads.bulk'], phoneVisibility: 'masked' })
  await w.lead({ externalRef: 'r', phone: '5581991234567' })
  const match = { by: 'externalRef', value: 'r' }
  const bulk = {
    items: [
      { match, lead: { status: 'won' } },
      { match, lead: { email: 'bad' } },
    ],
  }
  const answers = [
    await w.call('POST', `${leadsPath}/bulk-upsert`, { key, body: bulk }),
    await w.call('POST', `${leadsPath}/upsert`, { key, body: { match, lead: { status: 'new' } } }),
    await w.call('POST', `${leadsPath}/upsert`, {
      key,
      query: { dryRun: 'true' },
      body: { match, lead: { notes: 'n' } },
    }),
    await w.call('GET', leadsPath, { key }),
  ]
  for (const { status, body } of answers) {
    assert.equal(status, 200)
    assert.ok(!JSON.stringify(body).includes('5581991234567'))
    assert.ok(JSON.stringify(body).includes('55819*****567'))
  }
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

test('what is or holds the number of a lead is masked as the phone is, wherever it stands; notes stay', async () => {
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
      // Another part of the same number would be shown, if this were masked like a phone of its own.
      lastName: '********567',
      email: '*************@mail.example',
      externalRef: 'wa-*************',
      uniqueCode: '55819*****567',
      notes: marina.notes,
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
    assert.ok(!JSON.stringify({ ...payload, notes: null }).includes('99123'))
  }
})

test('a field that a form made for phones is masked in the lead, in what a key changes and in the feed', async () => {
  const w = await world()
  const { value: key } = await w.addKey({ scopes: ['leads.read', 'leads.write'], phoneVisibility: 'masked' })
  await fillForm(w, { firstName: 'Marina', mobile: '+55 11 98888-7777' })
  const [{ id }] = (await w.call('GET', leadsPath, { key })).body.data
  const { body } = await w.call('GET', leadPath(id), { key })
  assert.deepEqual(body.data.customFieldValues, { mobile: '55119*****777' })
  assert.deepEqual(body.data.customFields, [{ key: 'mobile', label: 'Mobile', type: 'phone', value: '55119*****777' }])
  await w.call('PATCH', leadPath(id), { key, body: { status: 'won' } })
  const { events } = (await w.call('GET', '/api/v1/events', { key })).body
  assert.equal(events.length, 2)
  for (const { payload } of events) assert.deepEqual(payload.customFields, body.data.customFields)
})

async function fillForm(w: World, body: Record<string, string>): Promise<void> {
  const slug = `form-${w.workspaceId}`
  const fields = [
    { key: 'firstName', label: 'Name', type: 'text', required: true },
    { key: 'mobile', label: 'Mobile', type: 'phone', required: false },
  ]
  const made = await w.call('POST', `/api/team/v1/workspaces/${w.workspaceId}/forms`, {
    key: testTeamToken,
    body: { name: 'Contact', title: 'Contact', slug, fields },
  })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const sent = await w.call('POST', `/f/${slug}`, { body })
  assert.ok(sent.status < 300, JSON.stringify(sent.body))
}

test('a lead that was made of a nameless chat customer shows a masked reader no more than the mask', async () => {
  const w = await world()
  const { value: key } = await w.addKey({ scopes: ['leads.read'], phoneVisibility: 'masked' })
  await w.lead({ firstName: '+5581991234567', phone: '5581991234567' })
  const [lead] = (await w.call('GET', leadsPath, { key })).body.data
  assert.equal(lead.firstName, '55819*****567')
})

test('a masked reader can send back what it read, and changes nothing by it', async () => {
  const w = await world()
  const { value: key } = await w.addKey({ scopes: ['leads.read', 'leads.write'], phoneVisibility: 'masked' })
  const { id } = await w.lead(marina)
  const read = (await w.call('GET', leadPath(id), { key })).body.data
  const back = await w.call('PATCH', leadPath(id), { key, body: read })
  assert.equal(back.body.message, 'No changes detected', JSON.stringify(back.body))
  const changed = await w.call('PATCH', leadPath(id), { key, body: { ...read, status: 'won' } })
  assert.equal(changed.body.message, 'Lead updated successfully')
  const { status, updatedAt, customFields, ...stored } = (await w.call('GET', leadPath(id))).body.data
  assert.equal(status, 'won')
  assert.deepEqual({ ...stored, ...marina, customFieldValues: stored.customFieldValues }, stored)
  assert.equal(stored.customFieldValues.k_whatsapp, marina.customFieldValues.k_whatsapp)
})

for (const withImage of [false, true]) {
  test(`the search of a masked reader looks at no phone and at nothing that holds one${withImage ? ', also from memory' : ''}`, async () => {
    const w = await imageWorld(withImage ? 1 : 0)
    const { value: key } = await w.addKey({ scopes: ['leads.read'], phoneVisibility: 'masked' })
    const { id } = await w.lead({ ...marina, uniqueCode: 'Lx-204', lastName: 'Íris 91234567 Duarte' })
    const named = await w.lead({
      firstName: '+5581991234567',
      phone: '5581991234567',
      email: 'ana@mail.example',
      uniqueCode: 'Z',
    })
    for (const { images } of w.nodes) assert.equal(await images.warm(w.workspaceId), true)
    const app = withImage ? w.nodes[0]?.app : w.app
    assert.ok(app)
    const call = callerOf(app, w.key)
    const find = async (search: string, as: string) => {
      const { body } = await call('GET', leadsPath, { key: as, query: { search } })
      assert.equal(body.pagination.total, body.data.length)
      return body.data.map((lead: { id: string }) => lead.id)
    }
    for (let round = 0; round < 2; round++) {
      for (const term of [...partsOf('5581991234567'), '+55 81', '(81) 99123-4567', '99123-4567', 'wa-55']) {
        assert.deepEqual(await find(term, key), [], term)
        assert.ok((await find(term, w.key)).includes(id), term)
      }
      for (const term of ['marina', 'Marina Íris', 'duarte', 'x-2', 'LX'])
        assert.deepEqual(await find(term, key), [id], term)
      assert.deepEqual(await find('ana@mail', key), [named.id])
      await makeTokens(w)
    }
    if (withImage) assert.ok((w.nodes[0]?.counts.image ?? 0) > 100)
  })
}

/** Every part of three characters or more. */
const partsOf = (text: string): string[] =>
  [...text].flatMap((_, from) =>
    [...text].flatMap((_, length) =>
      length >= 3 && from + length <= text.length ? [text.slice(from, from + length)] : [],
    ),
  )
