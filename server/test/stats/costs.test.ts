import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../src/base/id.ts'
import type { Pricing } from '../../src/channels/channel-event.ts'
import { type InboxWorld, inboxWorld, marina } from '../support/inbox/inbox-world.ts'
import { signedInMember, type TestMember } from '../support/member.ts'

const regular: Pricing = { type: 'regular', category: 'utility', isBillable: true, freeUntil: null }
const csv = 'currency,market,category,price,valid_from\nUSD,Brazil,utility,0.0068,2026-01-01\n'

async function costWorld() {
  const w = await inboxWorld()
  return { w, admin: await signedInMember(w, 'admin') }
}

/** Sends a message and has it delivered for a price. */
async function sendPriced(
  w: InboxWorld,
  pricing: Pricing,
  externalId = `wamid.${newId(w.clock.now())}`,
): Promise<string> {
  w.clock.advance(1000)
  const { id } = await w.customerWrites('Hi')
  const correlator = `${await w.pendingSend(id)}:1`
  await w.deliver(w.status(externalId, 'delivered', { correlator, customer: marina, pricing }))
  return id
}

async function costs(admin: TestMember, query = '') {
  const { status, body } = await admin.call('GET', `/costs${query}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

test('costs are counted without a rate card, and have amounts after its import', async () => {
  const { w, admin } = await costWorld()
  const id = await sendPriced(w, regular)
  await sendPriced(w, { ...regular, type: 'free_entry_point' })
  const before = await costs(admin)
  assert.deepEqual(
    [before.currency, before.total],
    [null, { messages: 2, charged: 1, free: 1, unknown: 0, unpriced: 1, amount: null }],
  )
  const { status, body } = await admin.call('POST', '/rate-cards', { csv })
  assert.deepEqual([status, body.rateCards.length, body.rateCards[0].rates], [201, 1, 1])
  const after = await costs(admin, '?by=conversation')
  assert.deepEqual([after.currency, after.total.amount, after.total.unpriced], ['USD', '0.0068', 0])
  assert.deepEqual(
    after.groups.map(({ key, amount }: { key: string; amount: string }) => [key, amount]),
    [[id, '0.0068']],
  )
  const groups = async (by: string) => (await costs(admin, `?by=${by}`)).groups.map(({ key }: { key: string }) => key)
  assert.deepEqual(await groups('day'), ['2026-03-10'])
  assert.deepEqual(await groups('sender'), [`agent:${w.keyId}`])
  assert.deepEqual(await groups('connection'), [w.connectionId])
  assert.deepEqual(await groups('country'), ['BR'])
  assert.deepEqual(await groups('template'), [null])
})

test('the export has one row per sum, with exact amounts', async () => {
  const { w, admin } = await costWorld()
  await sendPriced(w, regular)
  await admin.call('POST', '/rate-cards', { csv })
  const reply = await w.app.inject({
    method: 'GET',
    url: `/api/team/v1/workspaces/${w.workspaceId}/costs/export`,
    headers: admin.headers,
  })
  const [header, row] = reply.body.replace('\uFEFF', '').split('\r\n')
  assert.equal(
    header,
    '"day","connection","sender","template","category","type","country","messages","charged","free","unknown","unpriced","amount","currency"',
  )
  assert.equal(
    row,
    `"2026-03-10","${w.connectionId}","agent:${w.keyId}","","utility","regular","BR","1","1","0","0","0","0.0068","USD"`,
  )
})

test('rate cards are listed, replaced and deleted; billing settings decide about the currency', async () => {
  const { w, admin } = await costWorld()
  await sendPriced(w, regular)
  await admin.call('POST', '/rate-cards', { csv })
  await admin.call('POST', '/rate-cards', { csv: csv.replace('0.0068', '0.0070') })
  await admin.call('POST', '/rate-cards', { csv: csv.replace('USD', 'BRL').replace('0.0068', '0.04') })
  const { body } = await admin.call('GET', '/rate-cards')
  assert.deepEqual(body.settings, { currency: null, timeZone: 'UTC', freeServiceMessages: 1000 })
  assert.deepEqual(
    body.rateCards.map(({ currency }: { currency: string }) => currency),
    ['BRL', 'USD'],
  )
  assert.equal((await costs(admin)).currency, null)
  const changed = await admin.call('PATCH', '/billing-settings', { currency: 'BRL', timeZone: 'America/Sao_Paulo' })
  assert.deepEqual(changed.body.settings, { currency: 'BRL', timeZone: 'America/Sao_Paulo', freeServiceMessages: 1000 })
  assert.deepEqual([(await costs(admin)).currency, (await costs(admin)).total.amount], ['BRL', '0.04'])
  assert.equal((await admin.call('DELETE', `/rate-cards/${body.rateCards[0].id}`)).status, 200)
  assert.equal((await admin.call('DELETE', `/rate-cards/${body.rateCards[0].id}`)).status, 404)
  assert.equal((await costs(admin)).total.amount, null)
  await admin.call('PATCH', '/billing-settings', { currency: null })
  assert.equal((await costs(admin)).total.amount, '0.007')
})

test('a connection may be billed in another currency; each currency has its own sums', async () => {
  const { w, admin } = await costWorld()
  await sendPriced(w, regular)
  await admin.call('POST', '/rate-cards', { csv })
  await admin.call('POST', '/rate-cards', { csv: csv.replace('USD', 'BRL').replace('0.0068', '0.04') })
  await admin.call('PATCH', '/billing-settings', { currency: 'USD' })
  const path = `/billing-settings/connections/${w.connectionId}`
  const setCurrency = async (currency: unknown) => (await admin.call('PUT', path, { currency })).status
  assert.equal(await setCurrency('BRL'), 200)
  const base = await costs(admin)
  assert.deepEqual([base.currency, base.currencies, base.total.messages], ['USD', ['USD', 'BRL'], 0])
  const reais = await costs(admin, '?currency=BRL')
  assert.deepEqual([reais.currency, reais.total.messages, reais.total.amount], ['BRL', 1, '0.04'])
  assert.deepEqual((await admin.call('GET', '/rate-cards')).body.connections, [
    { connectionId: w.connectionId, currency: 'BRL' },
  ])
  assert.deepEqual([await setCurrency(null), (await costs(admin)).total.messages], [200, 1])
  assert.equal(await setCurrency('dollar'), 400)
  const nowhere = `/billing-settings/connections/${newId(w.clock.now())}`
  assert.equal((await admin.call('PUT', nowhere, { currency: 'BRL' })).status, 404)
})

test("the platform's own files are imported: prices of a day, and tiers that belong to them", async () => {
  const { admin } = await costWorld()
  const prices =
    'Cost per message,,,,,,\nMarket,Currency,Marketing,Utility,Authentication,Service\nBrazil,USD,0.06,0.0068,0.0068,0.0068\n'
  const group = 'From,To,Rate type,Rate,vs. List rate'
  const tiers = `Tiers,,Utility,,,,\n,Currency,${group}\nBrazil,USD,0,"250,000",List rate,0.0068,0%\n,USD,"250,001",--,Tier rate,0.0065,-5%\n`
  const send = async (body: object) => {
    const { status, body: answer } = await admin.call('POST', '/rate-cards', body)
    return status === 201 ? answer.rateCards.map(({ rates }: { rates: number }) => rates) : status
  }
  const validFrom = '2026-10-01'
  assert.equal(await send({ csv: prices }), 400, 'the file does not say from which day it is valid')
  assert.equal(await send({ csv: tiers, validFrom }), 422, 'there is no card to which they belong')
  assert.deepEqual(await send({ csv: prices, validFrom }), [4])
  assert.deepEqual(await send({ csv: tiers, validFrom }), [5])
  assert.deepEqual(await send({ csv: tiers, validFrom }), [5], 'a repeat changes nothing')
  assert.deepEqual(await send({ csv: prices, validFrom }), [4])
})

const refusals: [
  what: string,
  method: 'GET' | 'POST' | 'PATCH',
  path: string,
  body: object | undefined,
  message: RegExp,
][] = [
  [
    'a file with a faulty row',
    'POST',
    '/rate-cards',
    { csv: csv.replace('0.0068', 'cheap') },
    /price must be a number/,
  ],
  ['a time zone that is none', 'PATCH', '/billing-settings', { timeZone: 'Mars/Olympus' }, /timeZone|IANA/],
  ['a currency that is none', 'PATCH', '/billing-settings', { currency: 'dollar' }, /currency/],
  [
    'a period that ends before it begins',
    'GET',
    '/costs?from=2026-03-02&to=2026-03-01',
    undefined,
    /must not be after/,
  ],
  ['a day that is none', 'GET', '/costs?from=2026-02-30', undefined, /must be a day/],
  ['a period that is too long', 'GET', '/costs?from=2025-01-01&to=2026-03-01', undefined, /at most 366 days/],
]
for (const [what, method, path, body, message] of refusals) {
  test(`400 names the field: ${what}`, async () => {
    const { admin } = await costWorld()
    const answer = await admin.call(method, path, body)
    assert.equal(answer.status, 400)
    assert.match(JSON.stringify(answer.body), message)
  })
}

test('members see no costs, and another workspace sees none of these', async () => {
  const { w, admin } = await costWorld()
  await sendPriced(w, regular)
  const member = await signedInMember(w)
  for (const path of ['/costs', '/costs/export', '/rate-cards'])
    assert.equal((await member.call('GET', path)).status, 403)
  const { admin: stranger } = await costWorld()
  assert.equal((await costs(stranger)).total.messages, 0)
  assert.equal((await costs(admin)).total.messages, 1)
})
