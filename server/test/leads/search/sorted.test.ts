import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listLeads } from '../../../src/leads/search/list.ts'
import { parseListRequest } from '../../../src/leads/search/list-request.ts'
import { statementsOf } from '../../support/database.ts'
import { leadPath } from '../../support/leads/leads.ts'
import { memberAt, memoryIndexWorld } from '../../support/leads/memory-index-world.ts'
import { signedInMember } from '../../support/member.ts'
import { pick } from '../../support/pick.ts'
import { type World, world } from '../../support/world.ts'

type Member = Awaited<ReturnType<typeof signedInMember>>
const path = (query: Record<string, string>) => `/leads?${new URLSearchParams(query)}`

async function names(member: Member, query: Record<string, string>): Promise<string[]> {
  const { status, body } = await member.call('GET', path({ limit: '100', ...query }))
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal(body.total, body.leads.length)
  return pick(body.leads, 'firstName')
}

/** The member at a node that decrypts leads, and at one that has their values in memory. */
async function readers(): Promise<Member[]> {
  const w = await memoryIndexWorld()
  const [node] = w.nodes
  assert.ok(node)
  const member = await people(w)
  assert.equal(await node.indexes.warm(w.workspaceId, 'values'), true)
  return [member, memberAt(node, w, member)]
}

async function people(w: World): Promise<Member> {
  const member = await signedInMember(w)
  for (const lead of [
    { firstName: 'Zoë', email: 'zoe@example.com', phone: '5511955501101', estimatedValue: 10, status: 'won' },
    { firstName: 'álvaro', estimatedValue: 9, priority: 'urgent', customFieldValues: { city: 'Natal', size: '10' } },
    { firstName: 'Alba', actualValue: 5, notes: 'Call', customFieldValues: { city: 'são Paulo', size: '9' } },
    { firstName: 'Bruno', externalRef: 'r-1', status: 'own_status', customFieldValues: { city: 'São Luís' } },
    { firstName: 'Ñandú', assignedTo: member.userId, adPlatform: 'meta', status: 'contacted' },
    { firstName: 'Nzinga', email: 'ana@example.com', customFieldValues: { since: '2026-02-01' } },
  ]) {
    await w.lead(lead)
    w.clock.advance(86_400_000)
  }
  return member
}

test('leads are sorted by any column, empty values last in both directions, with accents by language; in the database or in memory', async () => {
  const byName = ['Alba', 'álvaro', 'Bruno', 'Ñandú', 'Nzinga', 'Zoë']
  const rows: [sortBy: string, sortOrder: string, first: string[]][] = [
    ['name', 'asc', byName],
    ['name', 'desc', byName.toReversed()],
    ['estimatedValue', 'asc', ['álvaro', 'Zoë']],
    ['estimatedValue', 'desc', ['Zoë', 'álvaro']],
    ['email', 'desc', ['Zoë', 'Nzinga']],
    ['phone', 'asc', ['Zoë']],
    ['priority', 'desc', ['álvaro']],
    ['assignedTo', 'desc', ['Ñandú']],
    ['field:city', 'asc', ['álvaro', 'Bruno', 'Alba']],
    ['field:size', 'asc', ['Alba', 'álvaro']],
  ]
  for (const member of await readers()) {
    for (const [sortBy, sortOrder, first] of rows) {
      const found = await names(member, { sortBy, sortOrder })
      assert.deepEqual(found.slice(0, first.length), first, `${sortBy} ${sortOrder}`)
    }
    const spanish = await names(member, { sortBy: 'name', sortOrder: 'asc', sortLanguage: 'es' })
    assert.deepEqual(spanish.slice(3, 5), ['Nzinga', 'Ñandú'])
    const byStatus = await names(member, { sortBy: 'status', sortOrder: 'asc' })
    assert.deepEqual(byStatus.slice(3), ['Ñandú', 'Zoë', 'Bruno'], 'the steps of the workspace, then others')
  }
})

test('conditions apply to any column, with match all or any; in the database or in memory', async () => {
  // Between the days of the first and the second lead.
  const { clock } = await world()
  const dayAfter = new Date(clock.now().getTime() + 43_200_000).toISOString().replaceAll('.', '%2E')
  const [opened, inMemory] = await readers()
  assert.ok(opened && inMemory)
  const rows: [where: string, expected: string, match?: string, more?: Record<string, string>][] = [
    ['email.empty', 'Alba álvaro Bruno Ñandú'],
    ['email.notEmpty;status.is.won', 'Zoë'],
    ['name.contains.AL', 'Alba álvaro'],
    ['name.is.alvaro', 'álvaro'],
    ['name.isNot.alvaro.alba', 'Bruno Ñandú Nzinga Zoë'],
    ['phone.contains.(11) 9555', 'Zoë'],
    ['estimatedValue.between.9.10', 'álvaro Zoë'],
    ['estimatedValue.is.9', 'álvaro'],
    ['estimatedValue.isNot.9;actualValue.empty', 'Bruno Ñandú Nzinga Zoë'],
    ['actualValue.from.5', 'Alba'],
    ['actualValue.to.4', ''],
    ['notes.notEmpty', 'Alba'],
    ['assignedTo.empty', 'Alba álvaro Bruno Nzinga Zoë'],
    [`assignedTo.is.${opened.userId}`, 'Ñandú'],
    ['assignedTo.is.nobody', ''],
    ['adPlatform.isNot.meta', 'Alba álvaro Bruno Nzinga Zoë'],
    ['externalRef.notEmpty', 'Bruno'],
    ['createdAt.last.2', 'Ñandú Nzinga'],
    [`createdAt.to.${dayAfter}`, 'Zoë'],
    ['field:city.contains.sao', 'Alba Bruno'],
    ['field:city.empty', 'Ñandú Nzinga Zoë'],
    ['field:size.from.9', 'Alba álvaro'],
    ['field:size.from.9%2E5', 'álvaro'],
    ['field:since.between.2026-01-01.2026-02-28', 'Nzinga'],
    ['email.notEmpty;field:city.notEmpty', 'Alba álvaro Bruno Nzinga Zoë', 'any'],
    ['status.is.won;actualValue.notEmpty', 'Alba Zoë', 'any'],
    ['email.empty', 'Alba', 'all', { search: 'alb' }],
    ['email.empty', 'álvaro', 'all', { priority: 'urgent' }],
  ]
  for (const member of [opened, inMemory]) {
    for (const [where, expected, match = 'all', more = {}] of rows) {
      const found = await names(member, { where, match, sortBy: 'name', sortOrder: 'asc', ...more })
      assert.equal(found.join(' '), expected, where)
    }
  }
})

test('paging by cursor in any order returns each lead once during concurrent writes', async () => {
  const w = await world()
  const member = await signedInMember(w)
  for (let n = 0; n < 23; n++) {
    const status = n % 4 === 0 ? 'won' : 'new'
    const values = n % 3 === 0 ? {} : { estimatedValue: n % 5, customFieldValues: { n: String(n % 7) } }
    await w.lead({ firstName: `Name ${n % 6}`, status, ...values })
    w.clock.advance(1)
  }
  const page = async (query: Record<string, string>) => {
    const { status, body } = await member.call('GET', path(query))
    assert.equal(status, 200, JSON.stringify(body))
    return { ids: pick(body.leads, 'id') as string[], nextCursor: body.nextCursor as string | null }
  }
  for (const [n, sortBy] of ['name', 'estimatedValue', 'status', 'createdAt', 'field:n'].entries()) {
    const query = { sortBy, sortOrder: n % 2 === 0 ? 'asc' : 'desc', where: 'phone.empty' }
    const whole = (await page({ ...query, limit: '100' })).ids
    assert.equal(whole.length, 23)
    const met: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { ids, nextCursor } = await page({ ...query, limit: '8', ...(cursor && { cursor }) })
      met.push(...ids)
      cursor = nextCursor
      // Deletes the lead that the cursor names: paging continues at its position.
      if (met.length === 8) await w.call('DELETE', leadPath(met[7] ?? ''))
    }
    assert.deepEqual(met, whole, sortBy)
    await w.call('POST', `${leadPath(met[7] ?? '')}/restore`)
    assert.deepEqual((await page({ ...query, limit: '8', page: '2' })).ids, met.slice(8, 16), sortBy)
  }
})

test('a cursor of another order, or an altered one, is malformed, and no cursor contains a name', async () => {
  const w = await world()
  const member = await people(w)
  const query = { sortBy: 'name', sortOrder: 'asc', limit: '2' }
  const { body } = await member.call('GET', path(query))
  assert.doesNotMatch(Buffer.from(body.nextCursor, 'base64url').toString(), /alba|lvaro/i)
  for (const other of [
    { ...query, sortOrder: 'desc' },
    { ...query, sortBy: 'email' },
    { ...query, sortLanguage: 'es' },
    { ...query, where: 'email.empty' },
  ]) {
    const { status } = await member.call('GET', path({ ...other, cursor: body.nextCursor }))
    assert.equal(status, 400)
  }
  const byStatus = { sortBy: 'status', limit: '2' }
  const { nextCursor } = (await member.call('GET', path(byStatus))).body
  const owner = await signedInMember(w, 'owner')
  const { workspace } = (await owner.call('GET', '')).body
  const leadStatuses = workspace.leadStatuses.toReversed()
  assert.equal((await owner.call('PATCH', '', { leadStatuses })).status, 200)
  assert.equal((await member.call('GET', path({ ...byStatus, cursor: nextCursor }))).status, 400, 'stand otherwise now')
  const parts = JSON.parse(Buffer.from(body.nextCursor, 'base64url').toString()) as string[]
  parts[1] = `${parts[1]?.slice(0, -2)}AA`
  const altered = Buffer.from(JSON.stringify(parts)).toString('base64url')
  assert.equal((await member.call('GET', path({ ...query, cursor: altered }))).status, 400)
})

test('more leads than can be decrypted or sorted are rejected with a code; an order by time uses an index', async () => {
  const w = await world()
  const member = await people(w)
  const actor = { type: 'system', id: null } as const
  const user = { workspaceId: w.workspaceId, defaultCountry: null, masked: false, actor }
  const listOf = (query: object, limits = { maxSorted: 3, maxOpened: 3 }) =>
    listLeads({ ...w, limits }, user, parseListRequest(query))
  const tooLarge = { statusCode: 422, data: { code: 'LIST_TOO_LARGE' } }
  const sentFor = async (refused: object) =>
    statementsOf(async () => void (await assert.rejects(listOf(refused), tooLarge)))
  assert.ok(!(await sentFor({ sortBy: 'name' })).some(({ text }) => text.includes('l.person')), 'none is opened for it')
  assert.equal((await listOf({ sortBy: 'name', status: 'won' })).total, 1)
  await sentFor({ sortBy: 'priority' })
  assert.equal((await listOf({ sortBy: 'priority', where: 'actualValue.empty;email.notEmpty' })).total, 2)
  assert.equal((await listOf({ where: 'phone.empty' })).total, 5)
  assert.equal((await listOf({ sortBy: 'priority' }, { maxSorted: 6, maxOpened: 3 })).total, 6)
  const statements = await statementsOf(async () => {
    for (const sortBy of ['createdAt', 'updatedAt', 'priority']) await names(member, { sortBy, where: 'phone.empty' })
  })
  const bounds = statements.filter(({ text }) => /materialized/.test(text)).map(({ values }) => values)
  assert.equal(bounds.length, 1)
  assert.ok(bounds[0]?.includes('100001'), 'no more are read')
  for (const column of ['created_at', 'updated_at']) {
    assert.ok(statements.some(({ text }) => text.includes(`order by l.${column} desc, l.id desc`)))
  }
})

test('board, export and bulk changes by filter support conditions, or reject them with a code', async () => {
  const w = await world()
  const member = await people(w)
  const owner = await signedInMember(w, 'owner')
  const board = await member.call(
    'GET',
    `/leads/board?${new URLSearchParams({ where: 'email.empty;actualValue.empty' })}`,
  )
  const counts = pick(board.body.columns, 'count')
  assert.equal(
    counts.reduce((sum: number, one: number) => sum + one, 0),
    3,
  )
  const texts = await member.call('GET', `/leads/board?${new URLSearchParams({ where: 'name.contains.al' })}`)
  assert.deepEqual([texts.status, texts.body.data.code], [422, 'NOT_ON_BOARD'])
  const file = await w.app.inject({
    url: `/api/team/v1/workspaces/${w.workspaceId}/leads/export?${new URLSearchParams({ where: 'name.contains.al' })}`,
    headers: { cookie: owner.cookie },
  })
  assert.deepEqual([file.statusCode, file.headers['x-total-count']], [200, '2'])
  const bulk = await member.call('POST', '/lead-bulk-changes', {
    filter: { where: 'name.contains.al;email.notEmpty', match: 'any' },
    changes: { priority: 'low' },
  })
  assert.equal(bulk.status, 201, JSON.stringify(bulk.body))
})
