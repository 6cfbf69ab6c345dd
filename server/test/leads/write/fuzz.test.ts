import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { leadPath, leadsPath, stored } from '../../support/leads/leads.ts'
import { world } from '../../support/world.ts'

const lead = {
  firstName: 'Marina',
  lastName: 'Duarte',
  email: 'marina@example.com',
  phone: '5581991234567',
  status: 'won',
  priority: 'high',
  source: 'ads',
  adPlatform: 'meta',
  assignedTo: null,
  estimatedValue: 12.5,
  actualValue: 0,
  value: 0,
  externalRef: 'r',
  uniqueCode: 'u',
  notes: 'n',
  customFieldValues: { k_city: 'Recife', vip: true },
}
const match = { by: 'externalRef', value: 'r' }
const routes = [
  { method: 'POST', path: leadsPath, body: lead },
  { method: 'PATCH', path: leadPath('r'), body: lead },
  { method: 'POST', path: `${leadsPath}/upsert`, body: { match, lead, createIfMissing: true } },
  {
    method: 'POST',
    path: `${leadsPath}/bulk-upsert`,
    body: {
      items: [
        { match, lead },
        { match: { by: 'phone', value: '558191234567' }, lead },
      ],
      options: { continueOnError: true },
    },
  },
] as const

const oddText = fc.constantFrom(
  '',
  ' ',
  '\u0000',
  '\ud800',
  '🙂',
  '\u202e',
  "'",
  '%00',
  'null',
  '-1',
  'NaN',
  '5581991234567',
  'x'.repeat(300),
  'ﷺ'.repeat(300),
  'İ'.repeat(256),
  '00000000-0000-7000-8000-000000000000',
  '٣'.repeat(10),
  '\u200d\u200d\u200d',
)
const oddValue = fc.oneof(
  { weight: 3, arbitrary: oddText },
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(null, true, false, 0, -0, -1, 1.5, 1e15, 1e16, 5e-324, 999_999_999_999.99, 2 ** 53),
  fc.double(),
  fc.jsonValue({ maxDepth: 3 }),
)
const mutation = fc.record({
  /** Which of the body's places, counted through all of them. */
  place: fc.nat(60),
  how: fc.constantFrom('set', 'set', 'set', 'remove', 'add'),
  key: fc.oneof(oddText, fc.constantFrom('id', 'createdAt', 'constructor', 'toString', 'workspaceId', 'k_x')),
  value: oddValue,
})

type Place = [holder: Record<string, unknown>, key: string]

function placesOf(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return []
  const holder = value as Record<string, unknown>
  return Object.keys(holder).flatMap((key): Place[] => [[holder, key], ...placesOf(holder[key])])
}

function mutate(body: object, mutations: (typeof mutation extends fc.Arbitrary<infer M> ? M : never)[]): unknown {
  const copy = structuredClone(body)
  for (const { place, how, key, value } of mutations) {
    const places = placesOf(copy)
    const [holder, name] = places[place % places.length] ?? [copy as Record<string, unknown>, key]
    if (how === 'remove') delete holder[name]
    else holder[how === 'set' ? name : key] = value
  }
  return copy
}

for (const { method, path, body } of routes) {
  test(`${method} ${path} answers 300 random mutations of its body without a 5xx, and stores nothing of a refused one`, async () => {
    const w = await world()
    await w.lead({ externalRef: 'r' })
    const statuses = new Map<number, number>()
    await fc.assert(
      fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 3 }), async (mutations) => {
        const before = await stored(w)
        const answer = await w.call(method, path, { body: mutate(body, mutations) })
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
        assert.ok(answer.status < 500, `${answer.status} ${JSON.stringify(mutations)}`)
        for (const result of answer.body.results ?? []) assert.ok((result.error?.statusCode ?? 200) < 500)
        if (answer.status < 400) return
        assert.equal(answer.body.statusCode, answer.status)
        assert.equal(typeof answer.body.statusMessage, 'string')
        assert.deepEqual(await stored(w), before)
      }),
      { numRuns: 300, seed: 7 },
    )
    assert.ok((statuses.get(400) ?? 0) > 20 && statuses.size > 1, JSON.stringify([...statuses]))
  })
}

test('random addresses and queries are answered without a 5xx', async () => {
  const w = await world()
  await w.lead({ externalRef: 'r' })
  const names = [
    'status',
    'priority',
    'source',
    'assignedTo',
    'createdFrom',
    'updatedTo',
    'sortBy',
    'cursor',
    'limit',
    'page',
    'search',
    'k_a',
    '',
  ]
  const text = fc.oneof(
    oddText,
    fc.string({ unit: 'binary', maxLength: 30 }),
    fc.constantFrom('1e999', '0x10', '2026-02-30', 'Infinity', '9'.repeat(400)),
  )
  const query = fc.dictionary(fc.constantFrom(...names), text, { maxKeys: 3 })
  const encode = (part: string) => encodeURIComponent(part.toWellFormed())
  await fc.assert(
    fc.asyncProperty(query, text, fc.boolean(), async (parameters, identifier, isList) => {
      const search = Object.entries(parameters).map(([name, value]) => `${encode(name)}=${encode(value)}`)
      const path = isList ? leadsPath : `${leadsPath}/${encode(identifier)}`
      const { status, body } = await w.call('GET', `${path}?${search.join('&')}`)
      assert.ok(status < 500, `${path}?${search.join('&')}`)
      if (status >= 400) assert.equal(body.statusCode, status)
    }),
    { numRuns: 400, seed: 11 },
  )
})
