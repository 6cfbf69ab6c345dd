import assert from 'node:assert/strict'
import { test } from 'node:test'
import { guessesPerMinute } from '../../../src/access/rate-limit/guesses.ts'
import { leadPath, leadsPath } from '../../support/leads/leads.ts'
import { type Answer, type World, world } from '../../support/world.ts'

const phone = '5581991234567'
const upsertPath = `${leadsPath}/upsert`
const bulkPath = `${leadsPath}/bulk-upsert`
const all = ['leads.read', 'leads.write', 'leads.delete', 'leads.bulk'] as const

/** Numbers that share with the lead's phone all that its mask shows, and are not it. */
const wrong = (n: number): string => `55819${String(80_000 + n)}567`

async function maskedWorld(): Promise<World & { masked: string; id: string; other: string }> {
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

type Guess = (w: Awaited<ReturnType<typeof maskedWorld>>, n: number) => Promise<Answer>

const match = (by: string, value: string, lead: object, more: object = {}) => ({ match: { by, value }, lead, ...more })

// Each tells, by how it is answered or by what is there afterwards, that a number is not that of a lead.
const guesses: [what: string, guess: Guess][] = [
  ['reads', ({ call, masked }, n) => call('GET', leadPath(wrong(n)), { key: masked })],
  ['reads in another spelling', ({ call, masked }, n) => call('GET', leadPath(`+${wrong(n)}`), { key: masked })],
  ['changes', ({ call, masked }, n) => call('PATCH', leadPath(wrong(n)), { key: masked, body: { notes: 'x' } })],
  ['deletions', ({ call, masked }, n) => call('DELETE', leadPath(wrong(n)), { key: masked })],
  [
    'upserts that create',
    ({ call, masked }, n) =>
      call('POST', upsertPath, { key: masked, body: match('phone', wrong(n), { firstName: 'A' }) }),
  ],
  [
    'upserts that do not',
    ({ call, masked }, n) =>
      call('POST', upsertPath, { key: masked, body: match('phone', wrong(n), {}, { createIfMissing: false }) }),
  ],
  [
    'dry runs',
    ({ call, masked }, n) =>
      call('POST', upsertPath, {
        key: masked,
        query: { dryRun: 'true' },
        body: match('phone', wrong(n), { firstName: 'A' }),
      }),
  ],
  [
    'dry runs that set the phone of a lead',
    ({ call, masked, id }, n) =>
      call('POST', upsertPath, { key: masked, query: { dryRun: 'true' }, body: match('id', id, { phone: wrong(n) }) }),
  ],
  [
    'matchers by a reference that is the number',
    ({ call, masked }, n) =>
      call('POST', upsertPath, { key: masked, body: match('externalRef', wrong(n), {}, { createIfMissing: false }) }),
  ],
  [
    'reads by a reference that holds the number',
    ({ call, masked }, n) => call('GET', leadPath(`wa-${wrong(n)}`), { key: masked }),
  ],
  [
    'references that another lead would have',
    ({ call, masked, other }, n) => call('PATCH', leadPath(other), { key: masked, body: { externalRef: wrong(n) } }),
  ],
  [
    'phones of a lead of its own, which could be looked up then',
    ({ call, masked, other }, n) => call('PATCH', leadPath(other), { key: masked, body: { phone: wrong(n) } }),
  ],
  [
    'new leads with a phone, which could be looked up then',
    ({ call, masked }, n) => call('POST', leadsPath, { key: masked, body: { firstName: 'A', phone: wrong(n) } }),
  ],
]

for (const [what, guess] of guesses) {
  test(`a masked key has ${guessesPerMinute} wrong ${what} a minute; then right and wrong are refused alike`, async () => {
    const w = await maskedWorld()
    for (let n = 0; n < guessesPerMinute; n++) assert.notEqual((await guess(w, n)).status, 429, `${n}`)
    assertRefused(await guess(w, 99))
    assertRefused(await w.call('GET', leadPath(phone), { key: w.masked }))
    const right = match('id', w.id, { phone })
    assertRefused(await w.call('POST', upsertPath, { key: w.masked, query: { dryRun: 'true' }, body: right }))
    // What names no number goes on, and so do other keys.
    assert.equal((await w.call('GET', leadPath(w.id), { key: w.masked })).status, 200)
    const byId = match('id', w.id, { notes: 'x' })
    assert.equal((await w.call('POST', upsertPath, { key: w.masked, body: byId })).status, 200)
    assert.equal((await w.call('GET', leadPath(phone))).status, 200)
    w.clock.advance(61_000)
    assert.equal((await w.call('GET', leadPath(phone), { key: w.masked })).status, 200)
  })
}

test('what a masked key finds by a complete number costs it nothing, in whatever spelling', async () => {
  const w = await maskedWorld()
  const spellings = [phone, `+${phone}`, '+55 (81) 99123-4567', '558191234567']
  for (let n = 0; n < 2 * guessesPerMinute; n++) {
    const { status, body } = await w.call('GET', leadPath(spellings[n % 4] ?? ''), { key: w.masked })
    assert.equal(status, 200)
    assert.equal(body.data.phone, '55819*****567')
    const again = await w.call('POST', upsertPath, { key: w.masked, body: match('phone', phone, { notes: `${n}` }) })
    assert.equal(again.body.action, 'updated')
  }
})

test('many guesses at once learn no more than one after another', async () => {
  const w = await maskedWorld()
  const answers = await Promise.all(
    Array.from({ length: 3 * guessesPerMinute }, (_, n) => w.call('GET', leadPath(wrong(n)), { key: w.masked })),
  )
  assert.equal(answers.filter(({ status }) => status === 404).length, guessesPerMinute)
  assert.equal(answers.filter(({ status }) => status === 429).length, 2 * guessesPerMinute)
})

test('single upserts that go together have no more guesses than alone', async () => {
  const w = await maskedWorld()
  const answers = await Promise.all(
    Array.from({ length: 2 * guessesPerMinute }, (_, n) =>
      w.call('POST', upsertPath, { key: w.masked, body: match('phone', wrong(n), {}, { createIfMissing: false }) }),
    ),
  )
  assert.equal(answers.filter(({ status }) => status === 404).length, guessesPerMinute)
  assert.equal(answers.filter(({ status }) => status === 429).length, guessesPerMinute)
})

for (const dryRun of ['false', 'true']) {
  test(`a batch of a masked key stops looking numbers up when its guesses are used up, with dryRun ${dryRun}`, async () => {
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

test('a number that a masked key plants within a batch costs a guess as any other', async () => {
  const w = await maskedWorld()
  const items = Array.from({ length: 40 }, (_, n) => [
    match('id', w.other, { phone: wrong(n) }),
    match('phone', wrong(n), {}),
  ]).flat()
  const { body } = await w.call('POST', bulkPath, { key: w.masked, body: { items } })
  const found = body.results.filter((result: { success: boolean }) => result.success)
  // The last number that it may write can be looked up no more.
  assert.equal(found.length, 2 * guessesPerMinute - 1)
})

test('what a masked key writes where a number is hidden is a change, whether or not it is the same', async () => {
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

test('numbers that are no phones, and leads that are named by what is none, cost a masked key nothing', async () => {
  const w = await maskedWorld()
  for (let n = 0; n < 2 * guessesPerMinute; n++) {
    const body = match('externalRef', `order-${n}`, { firstName: 'A', customFieldValues: { k_order: '20260310' } })
    const answers = [
      await w.call('GET', leadPath(`order-x${n}`), { key: w.masked }),
      await w.call('POST', upsertPath, { key: w.masked, body }),
      await w.call('POST', leadsPath, { key: w.masked, body: { firstName: 'B', externalRef: `1000${n}` } }),
    ]
    assert.deepEqual(
      answers.map(({ status }) => status),
      [404, 200, 201],
    )
  }
})

test('nobody counts the guesses of a key that sees phones in full', async () => {
  const w = await maskedWorld()
  for (let n = 0; n < 2 * guessesPerMinute; n++) assert.equal((await w.call('GET', leadPath(wrong(n)))).status, 404)
})
