import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addAgent,
  customerMessage,
  type InboxWorld,
  inboxPath,
  inboxWorld,
  marina,
} from '../../support/inbox/inbox-world.ts'

const path = `${inboxPath}/conversations`
const phoneOf = (n: number): string => `55819912345${String(n).padStart(2, '0')}`

async function write(w: InboxWorld, n: number, connectionId = w.connectionId): Promise<void> {
  await w.deliverOn(connectionId, customerMessage({ at: w.clock.now(), customer: { ...marina, phone: phoneOf(n) } }))
}

async function many(count: number): Promise<InboxWorld> {
  const w = await inboxWorld()
  for (let n = 0; n < count; n++) {
    await write(w, n)
    // Pairs share a time, so that only the id orders them.
    if (n % 2 === 1) w.clock.advance(1000)
  }
  return w
}

test('conversations are listed by updated_at, newest first, and paging returns each once', async () => {
  const w = await many(7)
  const all = (await w.call('GET', path)).body
  assert.equal(all.cursor, null)
  const order = all.conversations.map((one: { updated_at: string; id: string }) => `${one.updated_at} ${one.id}`)
  assert.deepEqual(order, [...order].sort().reverse())
  const walked: unknown[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await w.call('GET', path, { query: { limit: '2', ...(cursor === undefined ? {} : { cursor }) } })
    walked.push(...page.body.conversations)
    assert.ok(page.body.conversations.length <= 2)
    if (page.body.cursor === null) break
    cursor = page.body.cursor
  }
  assert.deepEqual(walked, all.conversations)
})

test('a page has 30 conversations by default', async () => {
  const w = await many(31)
  const { body } = await w.call('GET', path)
  assert.equal(body.conversations.length, 30)
  assert.equal(typeof body.cursor, 'string')
})

test('every filter narrows the list', async () => {
  const w = await inboxWorld()
  const agent = await addAgent(w)
  const other = await w.addConnection()
  await write(w, 1)
  await write(w, 2, other)
  await w.patch(
    (await w.conversations({ phone: phoneOf(2) }))[0].id,
    { owner: 'human', status: 'pending' },
    agent.value,
  )
  const after = w.clock.now().toISOString()
  w.clock.advance(1)
  await write(w, 3)
  const found = async (query: Record<string, string>) =>
    (await w.conversations(query)).map((one) => Number(one.contact.phone.slice(-2))).sort()
  assert.deepEqual(await found({ connection_id: other }), [2])
  assert.deepEqual(await found({ connection_id: 'none' }), [])
  assert.deepEqual(await found({ owner: 'human' }), [2])
  assert.deepEqual(await found({ owner: 'agent' }), [1, 3])
  assert.deepEqual(await found({ owner: `agent:${agent.id}` }), [1, 3])
  assert.deepEqual(await found({ owner: `agent:${w.workspaceId}` }), [])
  assert.deepEqual(await found({ status: 'pending' }), [2])
  assert.deepEqual(await found({ updated_after: after }), [3])
  assert.deepEqual(await found({ phone: phoneOf(1) }), [1])
  assert.deepEqual(await found({ phone: '5511900000000' }), [])
  assert.deepEqual(await found({ owner: 'agent', updated_after: after, connection_id: w.connectionId }), [3])
})

test('phone finds exactly that number, not its variants or parts', async () => {
  const w = await inboxWorld()
  await write(w, 1)
  for (const phone of ['558199123451', phoneOf(1).slice(0, 12), `${phoneOf(1)}0`]) {
    assert.deepEqual(await w.conversations({ phone }), [])
  }
})

const refused: Record<string, string>[] = [
  { phone: '123' },
  { phone: '+5581991234567' },
  { phone: '5'.repeat(21) },
  { owner: 'robot' },
  { owner: 'agent:x' },
  { status: 'done' },
  { updated_after: 'yesterday' },
  { limit: '0' },
  { limit: '101' },
  { limit: 'x' },
  { cursor: 'x' },
  { colour: 'red' },
]

test('an invalid query is 400 INVALID_QUERY', async () => {
  const w = await inboxWorld()
  for (const query of refused) {
    const { status, body } = await w.call('GET', path, { query })
    assert.deepEqual([status, body.data.code], [400, 'INVALID_QUERY'], JSON.stringify(query))
  }
})

test('a cursor is valid only with its own filters', async () => {
  const w = await many(3)
  const { cursor } = (await w.call('GET', path, { query: { limit: '1' } })).body
  const answer = await w.call('GET', path, { query: { limit: '1', cursor, status: 'open' } })
  assert.deepEqual([answer.status, answer.body.data.code], [400, 'INVALID_QUERY'])
})

test('a key sees only the conversations of its connections, on every route', async () => {
  const w = await inboxWorld()
  const other = await w.addConnection()
  await write(w, 1)
  await write(w, 2, other)
  const { value: key } = await addAgent(w, { connectionIds: [other] })
  const [hidden] = await w.conversations({ connection_id: w.connectionId })
  const list = (await w.call('GET', path, { key })).body.conversations
  assert.deepEqual(
    list.map((one: { connection_id: string }) => one.connection_id),
    [other],
  )
  assert.deepEqual(
    (await w.call('GET', path, { key, query: { connection_id: w.connectionId } })).body.conversations,
    [],
  )
  const place = `${path}/${hidden.id}`
  for (const answer of [
    await w.call('GET', place, { key }),
    await w.call('GET', `${place}/messages`, { key }),
    await w.call('POST', `${place}/read`, { key }),
    await w.call('PATCH', place, { key, body: { status: 'closed' } }),
  ]) {
    assert.deepEqual([answer.status, answer.body.data], [404, { code: 'NOT_FOUND' }])
  }
})

const routes: ['GET' | 'POST' | 'PATCH', string, string][] = [
  ['GET', path, 'inbox.read'],
  ['GET', `${path}/x`, 'inbox.read'],
  ['GET', `${path}/x/messages`, 'inbox.read'],
  ['GET', `${inboxPath}/templates`, 'inbox.read'],
  ['POST', `${path}/x/read`, 'inbox.write'],
  ['PATCH', `${path}/x`, 'inbox.write'],
  ['POST', `${inboxPath}/echoes`, 'inbox.write'],
]

for (const [method, route, scope] of routes) {
  test(`${method} ${route} needs ${scope}: 401 comes before everything else, then 403, 503, 404, 400`, async () => {
    const w = await inboxWorld()
    const { value: lacking } = await w.addKey({ scopes: [scope === 'inbox.read' ? 'inbox.write' : 'inbox.read'] })
    const { value: key } = await w.addKey({ scopes: [scope as 'inbox.read'] })
    const bad = method === 'GET' ? { query: { limit: 'x' } } : { raw: '{' }
    const refusal = await w.call(method, route, { ...bad, key: lacking })
    assert.deepEqual([refusal.status, refusal.body.statusMessage], [401, `API key lacks scope ${scope}`])
    const set = async (column: string, value: boolean) => {
      await w.db.sql`update workspaces set ${w.db.sql.set({ [column]: value })} where id = ${w.workspaceId}`
      w.clock.advance(60_000)
    }
    await set('inbox_enabled', false)
    await set('inbox_available', false)
    const plan = await w.call(method, route, { ...bad, key })
    assert.deepEqual([plan.status, plan.body.data], [403, undefined])
    await set('inbox_enabled', true)
    const closed = await w.call(method, route, { ...bad, key })
    assert.deepEqual([closed.status, closed.body.data.code], [503, 'CHAT_INBOX_UNAVAILABLE'])
    await set('inbox_available', true)
    const last = await w.call(method, route, { ...bad, key })
    const isOfOne = route.includes('/x')
    assert.deepEqual([last.status, last.body.data.code.startsWith('INVALID')], [isOfOne ? 404 : 400, !isOfOne])
  })
}
