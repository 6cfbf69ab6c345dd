import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventCounts, leadPath, leadsPath, quotaUsed, storedRows } from '../../support/leads/leads.ts'
import { pick } from '../../support/pick.ts'
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

test('results are in input order, each with its index, matcher, action and lead', async () => {
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

test('no items: nothing is processed, and the request succeeds', async () => {
  const w = await world()
  const empty = { success: true, processed: 0, created: 0, updated: 0, failed: 0, results: [] }
  assert.deepEqual(await bulk(w, []), empty)
  assert.deepEqual(await bulk(w, [], {}), empty)
})

/** Items that fail for every reason, with their errors. */
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

test('a failing item fails alone, with its statusCode and statusMessage; the others succeed', async () => {
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

test('an invalid envelope returns 400 and nothing is stored', async () => {
  const w = await world()
  const item = by('externalRef', 'a', { firstName: 'A' })
  const before = await storedRows(w)
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
  assert.deepEqual(await storedRows(w), before)
})

test('within one batch leads can swap names, in any order of age, even if others use their ids as names', async () => {
  for (const field of ['externalRef', 'uniqueCode']) {
    const w = await world()
    const [a, b] = [await w.lead({ [field]: 'one' }), await w.lead({ [field]: 'two' })]
    for (const { id } of [a, b]) await w.lead({ uniqueCode: id, firstName: 'Named like an id' })
    const names = ['one', 'two']
    for (const [first, second] of [
      [a, b],
      [b, a],
    ]) {
      const { success, results } = await bulk(w, [
        by('id', first.id, { [field]: 'aside' }),
        by('id', second.id, { [field]: names[0] }),
        by('id', first.id, { [field]: names[1] }),
      ])
      assert.equal(success, true, JSON.stringify(results))
      const owners = await Promise.all(names.map((name) => w.call('GET', leadPath(name))))
      assert.deepEqual(pick(pick(pick(owners, 'body'), 'data'), 'id'), [second.id, first.id])
      assert.equal((await w.call('GET', leadPath('aside'))).status, 404)
    }
  }
})

test('20 parallel batches with overlapping matchers: no error, no duplicate, every item processed', async () => {
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
