import assert from 'node:assert/strict'
import { test } from 'node:test'
import { leadPath, leadsPath } from '../support/leads.ts'
import { world } from '../support/world.ts'

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
      await w.call('GET', leadsPath, { key, query: { search: phone } }),
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
