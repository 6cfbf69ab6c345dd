import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Scope } from '../../src/auth/api-keys/caller.ts'
import { createMemoryLimiter } from '../../src/auth/rate-limit/limiter.ts'
import { newId } from '../../src/base/id.ts'
import { writeFeedCursor } from '../../src/events/read-page.ts'
import { areaOf } from '../../src/events/record.ts'
import { eventNames, streamedNames } from '../../src/webhooks/event-catalog.ts'
import { eventsPath, feedWorld, type Json, namesIn, startNode } from '../support/events/feed-world.ts'

const leadNames = streamedNames.filter((name) => areaOf(name) === 'leads')
const inboxNames = streamedNames.filter((name) => areaOf(name) === 'inbox')

test('a caller reads its own writes in order, page by page, each event once', async () => {
  const w = await feedWorld()
  const { id } = await w.lead({ firstName: 'Ana', phone: '5581991234567' })
  await w.call('PATCH', `/api/v1/leads/${id}`, { body: { status: 'qualified' } })
  await w.call('DELETE', `/api/v1/leads/${id}`)
  const first = await w.page({ limit: '2' })
  assert.deepEqual(namesIn(first), ['lead.created', 'lead.updated'])
  assert.equal(first.has_more, true)
  assert.equal(first.events[0].payload.phone, '5581991234567')
  assert.equal(first.events[1].payload.previousStatus, 'new')
  const second = await w.page({ limit: '2', after: first.next_cursor })
  assert.deepEqual(namesIn(second), ['lead.deleted'])
  assert.equal(second.has_more, false)
  const third = await w.page({ after: second.next_cursor })
  assert.deepEqual(third, { events: [], next_cursor: second.next_cursor, has_more: false })
  const again = await w.page()
  assert.deepEqual(again.events, [...first.events, ...second.events])
})

test('an event that cannot be decrypted is logged and skipped, and later events are returned', async () => {
  const w = await feedWorld()
  const { id } = await w.lead()
  await w.call('PATCH', `/api/v1/leads/${id}`, { body: { status: 'qualified' } })
  assert.deepEqual(namesIn(await w.page()), ['lead.created', 'lead.updated'])
  await w.db.sql`
    update events
    set payload = set_byte(payload, 40, get_byte(payload, 40) # 1)
    where workspace_id = ${w.workspaceId}
      and name = 'lead.created'`
  const page = await w.page()
  assert.deepEqual(namesIn(page), ['lead.updated'])
  assert.deepEqual((await w.page({ after: page.next_cursor })).events, [])
  assert.ok(w.logLines.some((line) => line.includes('failed to decrypt an event') && line.includes('eventId')))
})

test('`latest` returns only new events', async () => {
  const w = await feedWorld()
  await w.record(['lead.created'])
  const start = await w.page({ after: 'latest' })
  assert.deepEqual(start.events, [])
  await w.record(['lead.updated'])
  assert.deepEqual(namesIn(await w.page({ after: start.next_cursor })), ['lead.updated'])
})

const faces: { scopes: Scope[]; plan: { leads: boolean; inbox: boolean }; sees: readonly string[] | number }[] = [
  { scopes: ['leads.read', 'inbox.read'], plan: { leads: true, inbox: true }, sees: streamedNames },
  { scopes: ['leads.read', 'inbox.read'], plan: { leads: false, inbox: true }, sees: inboxNames },
  { scopes: ['leads.read', 'inbox.read'], plan: { leads: true, inbox: false }, sees: leadNames },
  { scopes: ['leads.read', 'inbox.read'], plan: { leads: false, inbox: false }, sees: 403 },
  { scopes: ['leads.read'], plan: { leads: true, inbox: true }, sees: leadNames },
  { scopes: ['leads.read'], plan: { leads: false, inbox: true }, sees: 403 },
  { scopes: ['inbox.read'], plan: { leads: true, inbox: true }, sees: inboxNames },
  { scopes: ['inbox.read'], plan: { leads: true, inbox: false }, sees: 403 },
  { scopes: ['leads.write', 'inbox.write'], plan: { leads: true, inbox: true }, sees: 401 },
]

test('a key sees events of areas that its scopes and the plan include', async () => {
  for (const { scopes, plan, sees } of faces) {
    const w = await feedWorld()
    await w.db.sql`
      update workspaces
      set leads_enabled = ${plan.leads},
        inbox_enabled = ${plan.inbox}
      where id = ${w.workspaceId}`
    const { value } = await w.addKey({ scopes })
    await w.record(eventNames)
    const { status, body } = await w.call('GET', eventsPath, { key: value })
    const what = JSON.stringify({ scopes, plan })
    if (typeof sees === 'number') assert.equal(status, sees, what)
    else assert.deepEqual(namesIn(body), sees, what)
  }
})

test('a key with a connection list sees events of those connections, and all lead events', async () => {
  const w = await feedWorld()
  const [mine, other] = ['01985e2a-7c3e-7f10-9a64-3f6a2b1c0d01', '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d02']
  await w.record(['inbox.message.received'], { connectionId: other })
  await w.record(['inbox.message.sent'], { connectionId: mine })
  await w.record(['lead.created'])
  const { value } = await w.addKey({ scopes: ['leads.read', 'inbox.read'], connectionIds: [mine] })
  assert.deepEqual(namesIn(await w.page({}, value)), ['inbox.message.sent', 'lead.created'])
})

test('the cursor advances past events that the reader cannot see', async () => {
  const w = await feedWorld()
  await w.record(inboxNames)
  const unseen = await w.page({ events: 'lead.*' })
  assert.deepEqual(unseen.events, [])
  assert.deepEqual((await w.page({ after: unseen.next_cursor })).events, [], 'a cursor belongs to no filter')
})

test('`events` accepts names and groups, which leave out events that must be named', async () => {
  const w = await feedWorld()
  await w.record(eventNames)
  for (const [wanted, names] of [
    ['lead.created', ['lead.created']],
    ['lead.*, inbox.message.sent', [...leadNames, 'inbox.message.sent']],
    ['inbox.*,lead.*', streamedNames],
    ['inbox.*, lead.merged', [...inboxNames, 'lead.merged']],
    [eventNames.join(), eventNames],
  ] as const) {
    assert.deepEqual(namesIn(await w.page({ events: wanted })), names, wanted)
  }
})

test('invalid parameters get 400 with their names', async () => {
  const w = await feedWorld()
  const other = await feedWorld()
  const { next_cursor: foreign } = await other.page()
  for (const [query, path] of [
    [{ after: 'garbage' }, 'after'],
    [{ after: '' }, 'after'],
    [{ after: foreign }, 'after'],
    [{ limit: '0' }, 'limit'],
    [{ limit: '101' }, 'limit'],
    [{ wait: '31' }, 'wait'],
    [{ wait: 'x' }, 'wait'],
    [{ events: 'lead.sold' }, 'events'],
    [{ events: '' }, 'events'],
    [{ before: 'x' }, 'before'],
  ] as const) {
    const { status, body } = await w.call('GET', eventsPath, { query })
    assert.equal(status, 400, JSON.stringify(query))
    assert.equal(body.data.issues[0].path, path)
  }
})

test('a cursor beyond the feed of a restored backup gets 410 with a hint', async () => {
  const w = await feedWorld()
  await w.record(['lead.created'])
  const { status, body } = await w.call('GET', eventsPath, { query: { after: writeFeedCursor(w.workspaceId, 7) } })
  assert.equal(status, 410)
  assert.equal(body.data.code, 'CURSOR_EXPIRED')
  assert.match(body.statusMessage, /latest/)
})

test('the feed has a rate limit of its own', async () => {
  const w = await feedWorld()
  const limits = { ...w.config.limits, inboxPerMinute: 1 }
  const node = await startNode(w, { config: { ...w.config, limits }, limiter: createMemoryLimiter(w.clock) })
  const get = async (path: string) => {
    const reply = await node.app.inject({ url: path, headers: { authorization: `Bearer ${w.key}` } })
    return [reply.statusCode, reply.headers['ratelimit-remaining'], (reply.json() as Json).data?.code]
  }
  assert.deepEqual(await get('/api/v1/inbox/conversations'), [200, '0', undefined])
  assert.deepEqual(await get(eventsPath), [200, '0', undefined])
  assert.deepEqual(await get(eventsPath), [429, '0', 'RATE_LIMITED'])
})

test('recorded payloads are returned byte for byte', async () => {
  const w = await feedWorld()
  const text = '“quotes”, "quotes", \\ back, \n line, \u2028, 🙂, </script>, {"events":[]}'
  await w.record(['inbox.message.sent'], { more: { message: sentMessage(text) } })
  const [{ payload }] = (await w.page()).events
  assert.equal(payload.message.text, text)
})

const sentMessage = (text: string) => ({
  id: newId(new Date('2026-03-10T12:00:00.000Z')),
  kind: 'text',
  text,
  status: 'sent',
  occurred_at: '2026-03-10T12:00:00.000Z',
})
