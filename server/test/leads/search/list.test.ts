import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeCursor, encodeCursor } from '../../../src/base/cursor.ts'
import { addMember, leadPath, leadsPath } from '../../support/leads/leads.ts'
import { type World, world } from '../../support/world.ts'

type Query = Record<string, string>

async function list({ call }: World, query: Query = {}) {
  const { status, body } = await call('GET', leadsPath, { query })
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

const idsOf = (body: { data: { id: string }[] }) => body.data.map((lead) => lead.id)
const refsOf = (body: { data: { externalRef: string }[] }) => body.data.map((lead) => lead.externalRef).join('')

test('an empty list: no leads, total 0, no cursor', async () => {
  assert.deepEqual(await list(await world()), {
    success: true,
    data: [],
    pagination: { page: 1, limit: 50, total: 0, totalPages: 0, cursor: null, nextCursor: null },
  })
})

/** Leads a, b, c, d, created one minute apart and updated in the order c, a, d, b. */
async function fourLeads() {
  const w = await world()
  const start = w.clock.now().getTime()
  const [ana, bia] = [await addMember(w), await addMember(w)]
  const rows = [
    { status: 'new', priority: 'low', source: 'website', adPlatform: 'meta', assignedTo: ana },
    { status: 'won', priority: 'high', source: 'website', adPlatform: 'chatgpt', assignedTo: bia },
    { status: 'lost', priority: 'high', source: 'chat_app', adPlatform: null, assignedTo: null },
    { status: 'new', priority: 'urgent', source: 'ads', adPlatform: 'meta', assignedTo: ana },
  ]
  for (const [n, fields] of rows.entries()) {
    await w.lead({ externalRef: 'abcd'[n], ...fields })
    w.clock.advance(60_000)
  }
  for (const ref of 'cadb') {
    await w.call('PATCH', leadPath(ref), { body: { notes: 'touched' } })
    w.clock.advance(60_000)
  }
  const minute = (n: number, ms = 0) => new Date(start + n * 60_000 + ms).toISOString()
  return { w, ana, bia, minute }
}

test('each filter narrows the list, alone and combined, in either order of createdAt or updatedAt', async () => {
  const { w, ana, bia, minute } = await fourLeads()
  const rows: [query: Query, found: string][] = [
    [{ status: 'new' }, 'da'],
    [{ status: 'new,lost' }, 'dca'],
    [{ status: 'new, won' }, 'dba'],
    [{ status: 'new,new' }, 'da'],
    [{ status: 'unheard_of' }, ''],
    [{ priority: 'high' }, 'cb'],
    [{ priority: 'medium' }, ''],
    [{ source: 'website' }, 'ba'],
    [{ source: 'chat_app' }, 'c'],
    [{ adPlatform: 'meta' }, 'da'],
    [{ adPlatform: 'chatgpt' }, 'b'],
    [{ adPlatform: 'x' }, ''],
    [{ assignedTo: ana }, 'da'],
    [{ assignedTo: bia.toUpperCase() }, 'b'],
    [{ createdFrom: minute(1) }, 'dcb'],
    [{ createdFrom: minute(1, 1) }, 'dc'],
    [{ createdTo: minute(1) }, 'ba'],
    [{ createdTo: minute(1, -1) }, 'a'],
    [{ createdFrom: minute(1), createdTo: minute(2) }, 'cb'],
    [{ createdFrom: minute(2), createdTo: minute(1) }, ''],
    [{ updatedFrom: minute(6) }, 'db'],
    [{ updatedFrom: minute(6, 1) }, 'b'],
    [{ updatedTo: minute(5) }, 'ca'],
    [{ updatedTo: minute(5, -1) }, 'c'],
    [{ updatedFrom: minute(5), updatedTo: minute(6) }, 'da'],
    [{ createdFrom: minute(1).replace('Z', '+00:00') }, 'dcb'],
    [{ createdFrom: '2020-01-01', createdTo: '2030-01-01T00:00' }, 'dcba'],
    [{ search: 'marina' }, 'dcba'],
    [{ search: 'touched' }, ''],
    [{ search: '   ' }, 'dcba'],
    [{ search: '' }, 'dcba'],
    [{ status: 'new', priority: 'urgent' }, 'd'],
    [{ status: 'new,won', source: 'website', adPlatform: 'meta', assignedTo: ana, search: 'mari' }, 'a'],
    [{ status: 'new', createdFrom: minute(1), updatedTo: minute(6) }, 'd'],
    [{ sortOrder: 'asc' }, 'abcd'],
    [{ sortBy: 'createdAt', sortOrder: 'desc' }, 'dcba'],
    [{ sortBy: 'updatedAt' }, 'bdac'],
    [{ sortBy: 'updatedAt', sortOrder: 'asc' }, 'cadb'],
    [{ sortBy: 'updatedAt', sortOrder: 'asc', search: 'marina' }, 'cadb'],
  ]
  for (const [query, found] of rows) {
    const body = await list(w, query)
    assert.equal(refsOf(body), found, JSON.stringify(query))
    assert.equal(body.pagination.total, found.length)
    assert.equal(body.pagination.totalPages, Math.ceil(found.length / 50))
  }
})

/** 23 leads, several per millisecond, updated in another order. */
async function manyLeads(w: World) {
  const numbers = Array.from({ length: 23 }, (_, n) => n)
  for (const together of [numbers.slice(0, 4), numbers.slice(4, 9), numbers.slice(9, 16), numbers.slice(16)]) {
    await Promise.all(together.map((n) => w.lead({ externalRef: `r${n}`, lastName: 'Walk' })))
    w.clock.advance(1)
  }
  const mixed = numbers.map((n) => (n * 7) % 23)
  for (const together of [mixed.slice(0, 10), mixed.slice(10, 15), mixed.slice(15)]) {
    w.clock.advance(1)
    await Promise.all(together.map((n) => w.call('PATCH', leadPath(`r${n}`), { body: { notes: 'again' } })))
  }
}

async function walk(w: World, query: Query, between = async (_page: number) => {}) {
  const seen: string[] = []
  let cursor: string | null = null
  for (let page = 1; page <= 30; page++) {
    const body = await list(w, { ...query, ...(cursor === null ? {} : { cursor }) })
    assert.equal(body.pagination.cursor, cursor)
    assert.equal(body.pagination.page, cursor === null ? 1 : null)
    assert.equal(body.pagination.totalPages === null, cursor !== null)
    seen.push(...idsOf(body))
    cursor = body.pagination.nextCursor
    if (cursor === null) return seen
    assert.match(cursor, /^[\w-]+$/)
    await between(page)
  }
  throw new Error('The walk does not end')
}

const sorts = ['createdAt', 'updatedAt'].flatMap((sortBy) =>
  ['asc', 'desc'].map((sortOrder) => ({ sortBy, sortOrder })),
)

test('paging by cursor returns each lead exactly once, in every sort, with ties at one millisecond', async () => {
  const w = await world()
  await manyLeads(w)
  for (const sort of sorts) {
    for (const extra of [{}, { search: 'walk' }, { status: 'new', createdFrom: '2026-01-01' }] as Query[]) {
      const whole = idsOf(await list(w, { ...sort, ...extra, limit: '100' }))
      assert.equal(new Set(whole).size, 23)
      assert.deepEqual(await walk(w, { ...sort, ...extra, limit: '5' }), whole, JSON.stringify({ sort, extra }))
    }
  }
})

test('paging by cursor returns each lead once while others are created and deleted', async () => {
  for (const sort of sorts) {
    const w = await world()
    await manyLeads(w)
    const before = idsOf(await list(w, { ...sort, limit: '100' }))
    const doomed = await w.lead()
    const seen = await walk(w, { ...sort, limit: '4' }, async (page) => {
      w.clock.advance(page % 2)
      await w.lead({ lastName: 'Newcomer' })
      if (page === 2) await w.call('DELETE', leadPath(doomed.id))
    })
    assert.equal(new Set(seen).size, seen.length)
    const old = new Set(before)
    assert.deepEqual(
      seen.filter((id) => old.has(id)),
      before,
    )
  }
})

test('page mode counts pages from 1 and returns nextCursor, with which paging can continue', async () => {
  const w = await world()
  await manyLeads(w)
  const whole = idsOf(await list(w, { limit: '100' }))
  for (const page of [1, 2, 3]) {
    const body = await list(w, { limit: '10', page: String(page) })
    assert.deepEqual(idsOf(body), whole.slice((page - 1) * 10, page * 10))
    const { nextCursor, ...rest } = body.pagination
    assert.deepEqual(rest, { page, limit: 10, total: 23, totalPages: 3, cursor: null })
    assert.equal(nextCursor === null, page === 3)
    if (nextCursor === null) continue
    const next = await list(w, { limit: '10', cursor: nextCursor })
    assert.deepEqual(idsOf(next), whole.slice(page * 10, page * 10 + 10))
  }
  const beyond = await list(w, { limit: '10', page: '4' })
  assert.deepEqual(beyond.data, [])
  assert.equal(beyond.pagination.total, 23)
  assert.equal(beyond.pagination.nextCursor, null)
  assert.deepEqual((await list(w, { page: '1000000', limit: '100' })).data, [])

  const cursor = (await list(w, { limit: '5' })).pagination.nextCursor
  const plain = await list(w, { limit: '5', cursor })
  assert.deepEqual(await list(w, { limit: '5', cursor, page: '4' }), plain, 'page is ignored beside a cursor')
  const { page, totalPages, total } = plain.pagination
  assert.deepEqual({ page, totalPages, total }, { page: null, totalPages: null, total: 23 })
  assert.deepEqual(idsOf(await list(w, { limit: '100', cursor })), whole.slice(5), 'a walk may change its limit')
})

test('the total is exact in every mode; pages reached by cursor repeat it for up to 60 s and then count again', async () => {
  for (const query of [{}, { search: 'walk' }] as Query[]) {
    const w = await world()
    await manyLeads(w)
    const first = await list(w, { ...query, limit: '3' })
    assert.equal(first.pagination.total, 23)
    await w.lead({ lastName: 'Walk' })
    assert.equal((await list(w, { ...query, limit: '3' })).pagination.total, 24)
    w.clock.advance(59_999)
    const second = await list(w, { ...query, limit: '3', cursor: first.pagination.nextCursor })
    assert.equal(second.pagination.total, 23)
    w.clock.advance(1)
    const third = await list(w, { ...query, limit: '3', cursor: second.pagination.nextCursor })
    assert.equal(third.pagination.total, 24)
    await w.lead({ lastName: 'Walk' })
    const fourth = await list(w, { ...query, limit: '3', cursor: third.pagination.nextCursor })
    assert.equal(fourth.pagination.total, 24)
  }
})

test('each invalid parameter returns 400 with its name', async () => {
  const w = await world()
  const rows: [name: string, value: string][] = [
    ...['0', '101', '-1', '1.5', 'ten', '', '1e999'].map((limit): [string, string] => ['limit', limit]),
    ['status', ''],
    ['status', ','],
    ['status', 'new,'],
    ['status', 'New'],
    ['status', 'a'.repeat(51)],
    ['priority', 'critical'],
    ['priority', ''],
    ['source', 'tv'],
    ['adPlatform', 'bing'],
    ['adPlatform', 'null'],
    ['assignedTo', 'me'],
    ['assignedTo', 'urn:uuid:00000000-0000-7000-8000-000000000000'],
    ['createdFrom', 'yesterday'],
    ['createdFrom', '2026-02-30'],
    ['createdTo', '2026-13-01T00:00:00Z'],
    ['updatedFrom', '2026-01-01T25:00:00Z'],
    ['updatedTo', '1767225600000'],
    ['updatedTo', ''],
    ['sortBy', 'firstName'],
    ['sortOrder', 'DESC'],
    ['page', '0'],
    ['page', '1000001'],
    ['page', 'x'],
    ['page', '1e999'],
    ['search', 'x'.repeat(256)],
    ['search', 'a\u0000b'],
    ['unknown', '1'],
    ['k_city', 'x'],
  ]
  for (const [name, value] of rows) {
    const { status, body } = await w.call('GET', leadsPath, { query: { [name]: value } })
    assert.equal(status, 400, `${name}=${value}`)
    assert.equal(body.statusMessage, 'Validation failed')
    assert.equal(body.data.issues[0].path, name)
  }
  const proto = await w.call('GET', `${leadsPath}?__proto__=x`)
  assert.deepEqual(proto.body.data.issues, [{ path: '__proto__', message: 'is not a known field' }])
  const twice = await w.call('GET', `${leadsPath}?status=new&status=won`)
  assert.equal(twice.status, 400)
  assert.equal(twice.body.data.issues[0].path, 'status')
})

test('a list shows every lead as reading it does, also right after a change of what was listed before', async () => {
  const w = await world()
  const { value: key } = await w.addKey({ phoneVisibility: 'masked' })
  const contact = { lastName: 'Böhm', email: 'a@example.com', phone: '5581991234567', notes: 'call 81991234567' }
  for (const ms of [0, 100, 20, 3]) {
    w.clock.advance(60_000 + ms)
    await w.lead({ ...contact, estimatedValue: 12.5, customFieldValues: { city: 'Olinda' } })
  }
  const { id } = await w.lead()
  const assertSame = async () => {
    for (const options of [{}, { key }]) {
      const { data } = (await w.call('GET', leadsPath, options)).body
      assert.equal(data.length, 5)
      for (const lead of data) {
        const { customFields, customFieldValues, ...shown } = (await w.call('GET', leadPath(lead.id), options)).body
          .data
        assert.deepEqual(lead, shown)
      }
    }
  }
  await assertSame()
  for (const body of [{ firstName: 'Nova', ...contact }, { notes: null, email: null }, { status: 'won' }]) {
    w.clock.advance(1000)
    const changed = await w.call('PATCH', leadPath(id), { body })
    assert.equal(changed.status, 200)
    const { previousStatus, value, ...lead } = changed.body.lead
    assert.deepEqual((await list(w)).data[0], lead)
    await assertSame()
  }
})

test('a malformed cursor, or one of another sort or filter, returns 400 Invalid cursor format', async () => {
  const w = await world()
  await manyLeads(w)
  const query: Query = { limit: '5', status: 'new', search: 'walk' }
  const cursor: string = (await list(w, query)).pagination.nextCursor
  assert.doesNotMatch(Buffer.from(cursor, 'base64url').toString(), /walk/i, 'it holds nothing of a search')
  const parts = decodeCursor(cursor)
  assert.ok(parts)
  const forged = (place: number, value: unknown) => encodeCursor(parts.map((part, n) => (n === place ? value : part)))
  const bad: [what: string, cursor: string, query?: Query][] = [
    ['empty', ''],
    ['garbage', 'garbage'],
    ['no base64url', 'a+b/c='],
    ['truncated', cursor.slice(0, -1)],
    ['extended', `${cursor}A`],
    ['very long', 'A'.repeat(1001)],
    ['an object', Buffer.from('{}').toString('base64url')],
    ['an empty list', encodeCursor([])],
    ['a longer list', encodeCursor([...parts, 1])],
    ['a time that is none', forged(3, 1e18)],
    ['an id that is none', forged(4, 'x')],
    ['a total that is none', forged(5, -1)],
    ['no time of counting', forged(6, null)],
    ['other order', cursor, { ...query, sortOrder: 'asc' }],
    ['other sort', cursor, { ...query, sortBy: 'updatedAt' }],
    ['other status', cursor, { ...query, status: 'won' }],
    ['other search', cursor, { ...query, search: 'walking' }],
    ['no filter', cursor, { limit: '5' }],
    ['one filter more', cursor, { ...query, source: 'other' }],
  ]
  for (const [what, sent, wanted = query] of bad) {
    const { status, body } = await w.call('GET', leadsPath, { query: { ...wanted, cursor: sent } })
    assert.equal(status, 400, what)
    assert.deepEqual(body, { statusCode: 400, statusMessage: 'Invalid cursor format' }, what)
  }
  assert.equal((await list(w, { ...query, cursor })).data.length, 5)
  assert.equal((await list(w, { ...query, cursor, sortBy: 'createdAt', sortOrder: 'desc' })).data.length, 5)
})
