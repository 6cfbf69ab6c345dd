import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lookupsPerMinute } from '../../../src/auth/rate-limit/lookup-limit.ts'
import { leadPath, leadsPath } from '../../support/leads/leads.ts'
import { pick } from '../../support/pick.ts'
import { type Answer, type World, world } from '../../support/world.ts'

const phone = '5581991234567'
const upsertPath = `${leadsPath}/upsert`
const bulkPath = `${leadsPath}/bulk-upsert`
const all = ['leads.read', 'leads.write', 'leads.delete', 'leads.bulk'] as const

/** Numbers with the same mask as the lead's phone. */
const wrong = (n: number): string => `55819${String(80_000 + n)}567`

type Masked = World & { masked: string; id: string; other: string }

async function maskedWorld(): Promise<Masked> {
  const w = await world()
  const { value: masked } = await w.addKey({ scopes: [...all], phoneVisibility: 'masked' })
  const { id } = await w.lead({
    phone,
    firstName: `+${phone}`,
    externalRef: phone,
    customFieldValues: { k_tel: phone },
  })
  const { id: other } = await w.lead({ firstName: 'Other' })
  return { ...w, masked, id, other }
}

function assertRefused({ status, body, headers }: Answer, what?: unknown): void {
  assert.equal(status, 429, JSON.stringify([what, body]))
  assert.deepEqual(body.data, { code: 'RATE_LIMITED' })
  assert.ok(Number(headers['retry-after']) > 0)
  assert.ok(!JSON.stringify(body).includes('99123'))
}

type Guess = (w: Masked, n: number) => Promise<Answer>

const match = (by: string, value: string, lead: object, more: object = {}) => ({ match: { by, value }, lead, ...more })

const upsert = ({ call, masked: key }: Masked, body: object, dryRun = 'false') =>
  call('POST', upsertPath, { key, query: { dryRun }, body })
const never = { createIfMissing: false }

// Each request reveals, by its response or its effect, that a number is not that of a lead.
const guesses: [what: string, guess: Guess][] = [
  ['a read', ({ call, masked }, n) => call('GET', leadPath(wrong(n)), { key: masked })],
  ['a read in another spelling', ({ call, masked }, n) => call('GET', leadPath(`+${wrong(n)}`), { key: masked })],
  ['a change', ({ call, masked }, n) => call('PATCH', leadPath(wrong(n)), { key: masked, body: { notes: 'x' } })],
  ['a deletion', ({ call, masked }, n) => call('DELETE', leadPath(wrong(n)), { key: masked })],
  ['an upsert that creates', (w, n) => upsert(w, match('phone', wrong(n), { firstName: 'A' }))],
  ['an upsert that does not', (w, n) => upsert(w, match('phone', wrong(n), {}, never))],
  ['a dry run', (w, n) => upsert(w, match('phone', wrong(n), { firstName: 'A' }), 'true')],
  ['a dry run that sets the phone of a lead', (w, n) => upsert(w, match('id', w.id, { phone: wrong(n) }), 'true')],
  ['a matcher by a reference that is the number', (w, n) => upsert(w, match('externalRef', wrong(n), {}, never))],
  [
    'a read by a reference that holds the number',
    ({ call, masked }, n) => call('GET', leadPath(`wa-${wrong(n)}`), { key: masked }),
  ],
  [
    'a reference that another lead would have',
    ({ call, masked, other }, n) => call('PATCH', leadPath(other), { key: masked, body: { externalRef: wrong(n) } }),
  ],
  [
    'the phone of a lead of its own, which could be looked up then',
    ({ call, masked, other }, n) => call('PATCH', leadPath(other), { key: masked, body: { phone: wrong(n) } }),
  ],
  [
    'a new lead with a phone, which could be looked up then',
    ({ call, masked }, n) => call('POST', leadsPath, { key: masked, body: { firstName: 'A', phone: wrong(n) } }),
  ],
]

/** Sends wrong guesses concurrently. */
const guessAtOnce = (w: Masked, count: number) =>
  Promise.all(Array.from({ length: count }, (_, n) => w.call('GET', leadPath(wrong(n)), { key: w.masked })))

const countOf = (answers: readonly Answer[], wanted: number) => answers.filter(({ status }) => status === wanted).length

for (const [what, guess] of guesses) {
  test(`a masked key has ${lookupsPerMinute} lookups a minute and loses one by ${what}; then right and wrong numbers are rejected alike`, async () => {
    const w = await maskedWorld()
    assert.equal(countOf(await guessAtOnce(w, lookupsPerMinute - 1), 404), lookupsPerMinute - 1)
    assert.notEqual((await guess(w, 98)).status, 429)
    assertRefused(await guess(w, 99))
    assertRefused(await w.call('GET', leadPath(phone), { key: w.masked }))
    const right = match('id', w.id, { phone })
    assertRefused(await w.call('POST', upsertPath, { key: w.masked, query: { dryRun: 'true' }, body: right }))
    // Requests without a number, and other keys, are not limited.
    assert.equal((await w.call('GET', leadPath(w.id), { key: w.masked })).status, 200)
    const byId = match('id', w.id, { notes: 'x' })
    assert.equal((await w.call('POST', upsertPath, { key: w.masked, body: byId })).status, 200)
    assert.equal((await w.call('GET', leadPath(phone))).status, 200)
    w.clock.advance(61_000)
    assert.equal((await w.call('GET', leadPath(phone), { key: w.masked })).status, 200)
  })
}

test('lookups of a masked key by an existing complete number do not count, in any spelling', async () => {
  const w = await maskedWorld()
  const spellings = [phone, `+${phone}`, '+55 (81) 99123-4567', '558191234567']
  const answers = await Promise.all(
    Array.from({ length: 2 * lookupsPerMinute }, (_, n) =>
      n % 4 === 3
        ? w.call('POST', upsertPath, { key: w.masked, body: match('phone', phone, { notes: `${n}` }) })
        : w.call('GET', leadPath(spellings[n % 4] ?? ''), { key: w.masked }),
    ),
  )
  for (const { status, body } of answers) assert.deepEqual([status, body.data.phone], [200, '55819*****567'])
})

test('many concurrent lookups, or upserts in one batch, reveal no more than sequential ones', async () => {
  const w = await maskedWorld()
  const reads = await guessAtOnce(w, 3 * lookupsPerMinute)
  assert.deepEqual([countOf(reads, 404), countOf(reads, 429)], [lookupsPerMinute, 2 * lookupsPerMinute])
  w.clock.advance(61_000)
  const upserts = await Promise.all(
    Array.from({ length: 2 * lookupsPerMinute }, (_, n) =>
      w.call('POST', upsertPath, { key: w.masked, body: match('phone', wrong(n), {}, { createIfMissing: false }) }),
    ),
  )
  assert.deepEqual([countOf(upserts, 404), countOf(upserts, 429)], [lookupsPerMinute, lookupsPerMinute])
})

for (const dryRun of ['false', 'true']) {
  test(`a batch of a masked key stops looking up numbers when its limit is used up, with dryRun ${dryRun}`, async () => {
    const w = await maskedWorld()
    const items = [
      ...Array.from({ length: 40 }, (_, n) => match('phone', wrong(n), {}, { createIfMissing: false })),
      match('phone', phone, { notes: 'found' }),
      match('id', w.id, { phone }),
      match('id', w.id, { notes: 'by its id' }),
    ]
    const { status, body } = await w.call('POST', bulkPath, { key: w.masked, query: { dryRun }, body: { items } })
    assert.equal(status, 200)
    const codes = body.results.map((result: { error?: { statusCode: number } }) => result.error?.statusCode ?? 200)
    assert.deepEqual(codes, [...Array(30).fill(404), ...Array(12).fill(429), 200])
    assert.deepEqual(body.results[40].error.data, { code: 'RATE_LIMITED' })
  })
}

test('a number that a masked key sets within a batch counts against the limit', async () => {
  const w = await maskedWorld()
  const items = Array.from({ length: 40 }, (_, n) => [
    match('id', w.other, { phone: wrong(n) }),
    match('phone', wrong(n), {}),
  ]).flat()
  const { body } = await w.call('POST', bulkPath, { key: w.masked, body: { items } })
  const found = body.results.filter((result: { success: boolean }) => result.success)
  // The last number that may be written can no longer be looked up.
  assert.equal(found.length, 2 * lookupsPerMinute - 1)
})

test('overwriting a hidden value by a masked key is a change, even if the value is the same', async () => {
  const w = await maskedWorld()
  const before = (await w.call('GET', leadPath(w.id))).body.data
  const tries: object[][] = [
    [{ firstName: `+${phone}` }, { firstName: `+${wrong(1)}` }],
    [{ externalRef: phone }, { externalRef: wrong(1) }],
    [{ customFieldValues: { tel: phone } }, { customFieldValues: { tel: wrong(1) } }],
    [{ customFieldValues: { k_tel: phone } }, { customFieldValues: { k_tel: wrong(1) } }],
  ]
  for (const lead of tries.flat()) {
    w.clock.advance(1)
    const body = match('id', w.id, lead)
    const answer = await w.call('POST', upsertPath, { key: w.masked, query: { dryRun: 'true' }, body })
    assert.equal(answer.body.data.updatedAt, w.clock.now().toISOString(), JSON.stringify(lead))
  }
  const { body } = await w.call('PATCH', leadPath(w.id), { key: w.masked, body: { firstName: `+${phone}` } })
  assert.equal(body.message, 'Lead updated successfully')
  assert.equal((await w.events(w.id)).length, 2)
  const after = (await w.call('GET', leadPath(w.id))).body.data
  assert.deepEqual({ ...after, updatedAt: before.updatedAt }, before)
})

test('text that is no phone, leads named by such text, and keys with full phone visibility are not limited', async () => {
  const w = await maskedWorld()
  const answers = await Promise.all(
    Array.from({ length: lookupsPerMinute + 1 }, (_, n) => {
      const body = match('externalRef', `order-${n}`, { firstName: 'A', customFieldValues: { k_order: '20260310' } })
      return Promise.all([
        w.call('GET', leadPath(`order-x${n}`), { key: w.masked }),
        w.call('POST', upsertPath, { key: w.masked, body }),
        w.call('POST', leadsPath, { key: w.masked, body: { firstName: 'B', externalRef: `1000${n}` } }),
        w.call('GET', leadPath(wrong(n))),
      ])
    }),
  )
  for (const row of answers) {
    assert.deepEqual(pick(row, 'status'), [404, 200, 201, 404])
  }
})
