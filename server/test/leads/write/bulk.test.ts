import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventCounts, leadPath, leadsPath, quotaUsed, stored } from '../../support/leads/leads.ts'
import { type World, world } from '../../support/world.ts'

const bulkPath = `${leadsPath}/bulk-upsert`

type Item = Record<string, unknown>

const by = (matcher: string, value: string, lead: object = {}, more: object = {}): Item => ({
  match: { by: matcher, value },
  lead,
  ...more,
})

async function bulk({ call }: World, items: unknown[], options?: object, query: Record<string, string> = {}) {
  const body = options === undefined ? { items } : { items, options }
  const answer = await call('POST', bulkPath, { body, query })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body
}

test('results stand in input order, each with its index, matcher, action and lead', async () => {
  const w = await world()
  const known = await w.lead({ externalRef: 'known' })
  const items = [
    by('externalRef', 'a', { firstName: 'A' }),
    by('externalRef', 'known', { lastName: 'L' }),
    by('phone', '+55 81 99123-4567', { firstName: 'C' }),
  ]
  const body = await bulk(w, items)
  const { results, ...counts } = body
  assert.deepEqual(counts, { success: true, processed: 3, created: 2, updated: 1, failed: 0 })
  assert.deepEqual(results[1], {
    index: 1,
    match: { by: 'externalRef', value: 'known' },
    success: true,
    action: 'updated',
    lead: { ...known, lastName: 'L' },
  })
  for (const [n, result] of results.entries()) {
    assert.equal(result.index, n)
    assert.deepEqual(result.match, items[n]?.match)
    assert.deepEqual((await w.call('GET', leadPath(result.lead.id))).body.data, result.lead)
  }
  assert.equal(results[2].lead.phone, '5581991234567')
})

test('no items: nothing is processed, and that is a success', async () => {
  const w = await world()
  const empty = { success: true, processed: 0, created: 0, updated: 0, failed: 0, results: [] }
  assert.deepEqual(await bulk(w, []), empty)
  assert.deepEqual(await bulk(w, [], {}), empty)
})

test('a later item sees an earlier one, by every matcher', async () => {
  const w = await world()
  const { results } = await bulk(w, [
    by('externalRef', 'r', { firstName: 'Ana', uniqueCode: 'code', phone: '5581991234567' }),
    by('uniqueCode', 'code', { lastName: 'Lima' }),
    by('phone', '558191234567', { status: 'won' }),
    by('externalRef', 'r', { externalRef: 'moved' }),
    by('externalRef', 'moved', { notes: 'found' }),
    by('externalRef', 'r', { firstName: 'Second' }),
  ])
  assert.deepEqual(
    results.map((result: { action: string }) => result.action),
    ['created', 'updated', 'updated', 'updated', 'updated', 'created'],
  )
  const { lastName, status, externalRef, notes } = results[4].lead
  assert.deepEqual(
    { lastName, status, externalRef, notes },
    { lastName: 'Lima', status: 'won', externalRef: 'moved', notes: 'found' },
  )
  assert.equal(results[0].lead.lastName, null)
  assert.equal((await w.call('GET', leadPath('code'))).body.data.notes, 'found')
  assert.equal((await w.call('GET', leadsPath)).body.pagination.total, 2)
})

/** Items that fail in every way, with what each answers. */
function mixed(): [item: unknown, status: number, message: string, path?: string][] {
  const invalid = 'Validation failed'
  return [
    [by('externalRef', 'a', { firstName: 'A' }), 200, 'created'],
    [by('externalRef', 'b', { lastName: 'no first name' }), 400, invalid, 'items[1].lead.firstName'],
    [by('externalRef', 'b', {}, { createIfMissing: false }), 404, 'Lead not found and createIfMissing is false'],
    [by('externalRef', 'b', { firstName: 'B', uniqueCode: 'taken' }), 409, 'Lead with this uniqueCode already exists'],
    [
      by('phone', '5581991234567', { firstName: 'B', externalRef: 'a' }),
      409,
      'Lead with this externalRef already exists',
    ],
    [by('externalRef', 'a', { email: 'x' }), 400, invalid, 'items[5].lead.email'],
    [by('name', 'a'), 400, invalid, 'items[6].match.by'],
    [by('phone', 'nobody'), 400, invalid, 'items[7].match.value'],
    [{ lead: {} }, 400, invalid, 'items[8].match'],
    [{ match: { by: 'externalRef', value: 'a' } }, 400, invalid, 'items[9].lead'],
    [by('externalRef', 'a', {}, { extra: 1 }), 400, invalid, 'items[10].extra'],
    [null, 400, invalid, 'items[11]'],
    ['text', 400, invalid, 'items[12]'],
    [[], 400, invalid, 'items[13]'],
    [by('externalRef', 'a', { status: 'won' }), 200, 'updated'],
  ]
}

test('an item that fails fails alone, with its statusCode and statusMessage; the others are done', async () => {
  const w = await world()
  await w.lead({ uniqueCode: 'taken' })
  const rows = mixed()
  const { results, ...counts } = await bulk(
    w,
    rows.map(([item]) => item),
  )
  assert.deepEqual(counts, { success: false, processed: 15, created: 1, updated: 1, failed: 13 })
  for (const [n, [item, status, message, path]] of rows.entries()) {
    const result = results[n]
    assert.equal(result.index, n)
    assert.deepEqual(result.match, item !== null && typeof item === 'object' && 'match' in item ? item.match : null)
    assert.equal(result.success, status === 200)
    if (status === 200) {
      assert.equal(result.action, message)
      assert.ok(!('error' in result))
    } else {
      assert.equal(result.error.statusCode, status, `item ${n}`)
      assert.equal(result.error.statusMessage, message, `item ${n}`)
      assert.equal(result.error.data?.issues?.[0].path, path)
      assert.ok(!('action' in result) && !('lead' in result))
    }
  }
  assert.deepEqual(results[3].error.data, { field: 'uniqueCode' })
  const { body } = await w.call('GET', leadPath('a'))
  assert.equal(body.data.status, 'won')
  assert.equal((await w.call('GET', leadsPath)).body.pagination.total, 2)
})

test('continueOnError false stops at the first failure: earlier items stay, it is the last result, later ones are absent', async () => {
  const w = await world()
  const items = [
    by('externalRef', 'a', { firstName: 'A' }),
    by('externalRef', 'b', { firstName: 'B' }),
    by('externalRef', 'c', {}, { createIfMissing: false }),
    by('externalRef', 'd', { firstName: 'D' }),
    by('externalRef', 'e', { email: 'bad' }),
  ]
  const { results, ...counts } = await bulk(w, items, { continueOnError: false })
  assert.deepEqual(counts, { success: false, processed: 3, created: 2, updated: 0, failed: 1 })
  assert.equal(results[2].error.statusCode, 404)
  assert.equal(results.length, 3)
  for (const [ref, status] of [
    ['a', 200],
    ['b', 200],
    ['c', 404],
    ['d', 404],
  ] as const) {
    assert.equal((await w.call('GET', leadPath(ref))).status, status)
  }
  assert.deepEqual(await eventCounts(w), { 'lead.created': 2 })
  assert.equal(await quotaUsed(w), 2)
  assert.equal((await bulk(w, items.slice(0, 2), { continueOnError: false })).success, true)
})

test('an invalid envelope is a 400 and nothing is stored', async () => {
  const w = await world()
  const item = by('externalRef', 'a', { firstName: 'A' })
  const before = await stored(w)
  const bad: [body: unknown, path: string][] = [
    [{ items: Array(101).fill(item) }, 'items'],
    [{}, 'items'],
    [{ items: null }, 'items'],
    [{ items: item }, 'items'],
    [{ items: 'x' }, 'items'],
    [{ items: [item], dryRun: true }, 'dryRun'],
    [{ items: [item], options: null }, 'options'],
    [{ items: [item], options: { continueOnError: 'false' } }, 'options.continueOnError'],
    [{ items: [item], options: { continueOnError: null } }, 'options.continueOnError'],
    [{ items: [item], options: { stop: true } }, 'options.stop'],
    [[item], ''],
    [null, ''],
  ]
  for (const [body, path] of bad) {
    const { status, body: answer } = await w.call('POST', bulkPath, { body })
    assert.equal(status, 400, JSON.stringify(body)?.slice(0, 80))
    assert.equal(answer.statusMessage, 'Validation failed')
    assert.equal(answer.data.issues[0].path, path)
  }
  assert.deepEqual(await stored(w), before)
})

test('the daily quota in the middle of a batch stops creations with 429 and lets updates pass', async () => {
  const w = await world({ dailyLeadQuota: 3 })
  await w.lead({ externalRef: 'known' })
  const names = ['a', 'b', 'c', 'known', 'a', 'd']
  const { results, created, updated, failed } = await bulk(
    w,
    names.map((name) => by('externalRef', name, { firstName: 'N', status: 'won' })),
  )
  assert.deepEqual({ created, updated, failed }, { created: 2, updated: 2, failed: 2 })
  for (const n of [2, 5]) {
    assert.deepEqual(results[n].error, { statusCode: 429, statusMessage: 'Daily lead limit reached' })
  }
  assert.equal(await quotaUsed(w), 3)
})

test('dryRun answers what would happen to every item, writes nothing, counts nothing, emits nothing', async () => {
  const w = await world({ dailyLeadQuota: 2 })
  await w.lead({ externalRef: 'known' })
  const before = await stored(w)
  const items = [
    by('externalRef', 'a', { firstName: 'A' }),
    by('externalRef', 'known', { status: 'won' }),
    by('externalRef', 'a', { lastName: 'L' }),
    by('externalRef', 'b', { firstName: 'B' }),
  ]
  const { results, ...counts } = await bulk(w, items, undefined, { dryRun: 'true' })
  assert.deepEqual(counts, { success: false, processed: 4, created: 1, updated: 2, failed: 1, dryRun: true })
  assert.equal(results[2].lead.lastName, 'L')
  assert.equal(results[3].error.statusCode, 429)
  assert.deepEqual(await stored(w), before)
  const { results: _, ...real } = await bulk(w, items)
  assert.deepEqual(real, { success: false, processed: 4, created: 1, updated: 2, failed: 1 })
})

interface Exchange {
  what: string
  a: object
  b: object
  items(a: string, b: string): Item[]
  /** Whom each name leads to afterwards. */
  owners: Record<string, 'a' | 'b' | 'a new lead' | 'nobody'>
}

const exchanges: Exchange[] = [
  ...['externalRef', 'uniqueCode'].map(
    (field): Exchange => ({
      what: `two leads exchange their ${field}`,
      a: { [field]: 'one' },
      b: { [field]: 'two' },
      items: (a, b) => [
        by('id', a, { [field]: 'aside' }),
        by('id', b, { [field]: 'one' }),
        by('id', a, { [field]: 'two' }),
      ],
      owners: { one: 'b', two: 'a', aside: 'nobody' },
    }),
  ),
  {
    what: 'a new lead takes the names that an earlier item has freed',
    a: { uniqueCode: 'one', externalRef: 'two' },
    b: {},
    items: (a) => [
      by('id', a, { uniqueCode: 'aside', externalRef: null }),
      by('externalRef', 'two', { firstName: 'New', uniqueCode: 'one' }),
    ],
    owners: { one: 'a new lead', two: 'a new lead', aside: 'a' },
  },
  {
    what: 'an old uniqueCode becomes the externalRef of its lead, and the code of another',
    a: { uniqueCode: 'one' },
    b: { uniqueCode: 'two' },
    items: (a, b) => [
      by('id', b, { notes: 'first in the batch' }),
      by('id', a, { uniqueCode: 'aside', externalRef: 'one' }),
      by('id', b, { uniqueCode: 'one' }),
    ],
    owners: { one: 'b', two: 'nobody', aside: 'a' },
  },
]

for (const { what, a, b, items, owners } of exchanges) {
  test(`within one batch ${what}, whichever is older, and though others use their ids as names`, async () => {
    for (const isTurned of [false, true]) {
      const w = await world()
      const made = new Map<string, string>()
      const pair: [name: string, fields: object][] = [
        ['a', a],
        ['b', b],
      ]
      for (const [name, fields] of isTurned ? pair.reverse() : pair) made.set(name, (await w.lead({ ...fields })).id)
      for (const id of made.values()) await w.lead({ uniqueCode: id })
      const { success, results } = await bulk(w, items(made.get('a') ?? '', made.get('b') ?? ''))
      assert.equal(success, true, JSON.stringify(results))
      for (const [name, owner] of Object.entries(owners)) {
        const { status, body } = await w.call('GET', leadPath(name))
        const found = [...made].find(([, id]) => id === body.data?.id)?.[0] ?? 'a new lead'
        assert.equal(status === 404 ? 'nobody' : found, owner, name)
        const { total } = (await w.call('GET', leadsPath, { query: { search: name } })).body.pagination
        assert.equal(total > 0, owner !== 'nobody', `search by ${name}`)
      }
    }
  })
}

test('20 parallel batches with overlapping matchers: no error, no duplicate, every item done', async () => {
  const w = await world()
  const spellings = (n: number) => [`55819912340${10 + n}`, `+55 (81) 9123-40${10 + n}`]
  const batches = Array.from({ length: 20 }, (_, batch) =>
    Array.from({ length: 24 }, (_, i) => {
      const n = (i * 7 + batch * 5) % 12
      const phone = batch % 2 === 0 ? spellings(n)[batch % 4 === 0 ? 0 : 1] : undefined
      return phone === undefined
        ? by('externalRef', `r${n}`, { firstName: `Batch ${batch}` })
        : by('phone', phone, { firstName: `Batch ${batch}` })
    }),
  )
  const answers = await Promise.all(batches.map((items) => bulk(w, items)))
  for (const answer of answers) assert.equal(answer.failed, 0, JSON.stringify(answer))
  const created = answers.reduce((sum, answer) => sum + answer.created, 0)
  assert.equal(created, 24)
  const { data, pagination } = (await w.call('GET', leadsPath, { query: { limit: '100' } })).body
  assert.equal(pagination.total, 24)
  assert.equal(
    new Set(data.map((lead: { phone: string; externalRef: string }) => lead.phone ?? lead.externalRef)).size,
    24,
  )
  assert.equal(await quotaUsed(w), 24)
})
