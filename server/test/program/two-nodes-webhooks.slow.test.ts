import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { currentColumns } from '../../src/inbox/conversation/activity-columns.ts'
import type { Arrival } from '../support/inbox/send-platform.ts'
import {
  type ChatNumber,
  type Customer,
  callbackOf,
  inboundText,
  type NodesWorld,
  nodesWorld,
} from '../support/program/two-nodes.ts'

const itemCount = Number(process.env.WEBHOOK_ITEMS ?? 600)
const sendCount = Math.round(itemCount * 0.05)
const messageCount = Math.round(itemCount * 0.6)
const malformedCount = Math.round(itemCount * 0.03)
const sendsEach = 10
// More than the groups of a workspace that are under way at once in each process: the others go together.
const posters = 24
const copyShare = 3 / 7
const maxBatch = 100
const notJson = 0.03

/** What the platform tells of a send, and where the ladder then ends. */
const paths: { told: string[]; end: string }[] = [
  { told: ['sent', 'delivered', 'read'], end: 'read' },
  { told: ['sent', 'delivered'], end: 'delivered' },
  { told: ['sent', 'read'], end: 'read' },
  { told: ['delivered', 'read'], end: 'read' },
  { told: ['sent'], end: 'sent' },
  { told: ['read'], end: 'read' },
  { told: ['sent', 'failed'], end: 'failed' },
  { told: ['failed'], end: 'failed' },
  { told: [], end: 'sent' },
]

test(`two processes, about ${itemCount} webhook items out of order: statuses only climb, every message once`, async (t) => {
  const world = await nodesWorld(4)
  const customers = await world.customers(Math.ceil(sendCount / sendsEach))
  const storm = webhookStorm(world)
  const written = new Map(customers.map(({ conversationId }) => [conversationId, 1]))
  for (let n = 0; n < messageCount; n++) {
    const { conversationId, connection, phone } = anyOf(customers)
    const at = Math.floor(Date.now() / 1000) - Math.floor(Math.random() * 3600)
    storm.put(connection, [{ list: 'messages', value: inboundText(`wamid.STORM${randomUUID()}`, phone, at) }])
    written.set(conversationId, (written.get(conversationId) ?? 0) + 1)
  }
  for (let n = 0; n < malformedCount; n++) storm.put(anyOf(world.connections), [malformed(anyOf(customers))])
  const truth = tellOf(world, customers, storm)
  let sending = true
  const startedAt = performance.now()
  const sends = Promise.all(customers.map((customer) => sendSome(world, customer))).finally(() => {
    sending = false
  })
  await Promise.all([storm.blow(() => !sending), sends])
  t.diagnostic(`${JSON.stringify(storm.told)} in ${Math.round(performance.now() - startedAt)} ms`)

  assert.deepEqual(await statusesOf(world), truth)
  assert.deepEqual(await conversationsOf(world), Object.fromEntries(written))
  assert.deepEqual(await eventsOf(world), {
    'inbox.message.received': [...written.values()].reduce((sum, count) => sum + count),
    'inbox.message.sent': Object.keys(truth).length,
  })
  const [left] = await world.db.sql`
    select count(*) as count from parked_statuses where workspace_id = ${world.workspaceId}`
  assert.equal(left?.count, 0)
})

async function sendSome(world: NodesWorld, { conversationId }: Customer): Promise<void> {
  for (let n = 0; n < sendsEach; n++) {
    const { status, text } = await world.send(anyOf(world.nodes), conversationId, randomUUID(), 'Good morning')
    assert.equal(status, 202, text)
  }
}

/** Lets the platform tell of each send, of one in three before it has answered. Fills in how each must end. */
function tellOf(world: NodesWorld, customers: Customer[], storm: Storm): Record<string, string> {
  const truth: Record<string, string> = {}
  world.platform.delayAnswer = (arrival) => {
    const connection = customers.find(({ phone }) => phone === arrival.to)?.connection
    assert.ok(connection !== undefined)
    const { told, end } = anyOf(paths)
    truth[arrival.correlator.split(':')[0] ?? ''] = end
    const { promise, resolve } = Promise.withResolvers<void>()
    const items = told.map((status, n) => statusOf(arrival, status, n))
    const isEarly = items.length > 0 && Math.random() < 1 / 3
    storm.put(
      connection,
      items.map((item) => ({ ...item, stored: resolve })),
      isEarly,
    )
    return isEarly ? Promise.race([promise, sleep(10_000, undefined, { ref: false })]) : undefined
  }
  return truth
}

function statusOf({ externalId, correlator, to }: Arrival, status: string, n: number): StormItem {
  const timestamp = String(Math.floor(Date.now() / 1000) + n)
  const errors = status === 'failed' ? { errors: [{ code: 131026, title: 'Undeliverable' }] } : {}
  // Without the correlator only the id tells, and nobody knows it yet.
  const named = Math.random() < 0.5 ? { biz_opaque_callback_data: correlator } : {}
  return { list: 'statuses', value: { id: externalId, status, timestamp, recipient_id: to, ...errors, ...named } }
}

function malformed({ phone }: Customer): StormItem {
  const { id, from, ...rest } = inboundText(`wamid.BAD${randomUUID()}`, phone, 0)
  return anyOf<StormItem>([
    { list: 'messages', value: { from, ...rest } },
    { list: 'messages', value: { id, ...rest } },
    { list: 'messages', value: { id, from: { not: 'text' }, timestamp: [], type: 7 } },
    { list: 'messages', value: null },
    { list: 'messages', value: 'text' },
    { list: 'statuses', value: { id, status: 'elated', timestamp: '1' } },
    { list: 'statuses', value: { status: 'read', timestamp: {} } },
    { list: 'statuses', value: [[]] },
  ])
}

async function statusesOf({ db, workspaceId }: NodesWorld): Promise<Record<string, string>> {
  const rows = await db.sql<{ id: string; status: string }[]>`
    select id, status
    from messages
    where workspace_id = ${workspaceId}
      and direction = 'outbound'`
  return Object.fromEntries(rows.map(({ id, status }) => [id, status]))
}

/** Of each conversation how many inbound messages it has, once it is sure that it counts and shows them rightly. */
async function conversationsOf({ db, workspaceId }: NodesWorld): Promise<Record<string, number>> {
  const rows = await db.sql<
    {
      id: string
      unread_count: number
      is_waiting: boolean
      inbound: number
      ids: number
      newest: string
      is_last_late: boolean
    }[]
  >`
    select
      c.id,
      ${currentColumns.unreadCount(db.sql)} as unread_count,
      ${currentColumns.unansweredSince(db.sql)} is not null as is_waiting,
      count(*) filter (where m.direction = 'inbound') as inbound,
      count(distinct m.external_index) filter (where m.direction = 'inbound') as ids,
      (array_agg(m.direction order by m.occurred_at desc))[1] as newest,
      max(m.created_at) filter (where m.direction = 'inbound')
        > max(m.created_at) filter (where m.direction = 'outbound') - interval '1 second' as is_last_late
    from conversations c
    join messages m
      on m.workspace_id = c.workspace_id
      and m.conversation_id = c.id
    where c.workspace_id = ${workspaceId}
    group by c.workspace_id, c.id`
  for (const row of rows) {
    assert.equal(row.unread_count, row.inbound)
    assert.equal(row.ids, row.inbound)
    if (row.newest === 'inbound') assert.ok(row.is_waiting)
    // A message that comes minutes late keeps its place before the answer, and waits.
    else if (row.is_waiting) assert.ok(row.is_last_late)
  }
  return Object.fromEntries(rows.map(({ id, inbound }) => [id, inbound]))
}

async function eventsOf({ db, workspaceId }: NodesWorld): Promise<Record<string, number>> {
  const rows = await db.sql<{ name: string; count: number }[]>`
    select name, count(*) as count
    from events
    where workspace_id = ${workspaceId}
      and name in ('inbox.message.received', 'inbox.message.sent')
    group by name`
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]))
}

interface StormItem {
  list: 'messages' | 'statuses'
  value: unknown
  /** Called once a callback with it has been answered with 200. */
  stored?: () => void
}

type Storm = ReturnType<typeof webhookStorm>

/** Callbacks as a platform on a bad day posts them: out of order, in part twice, in batches of any size. */
function webhookStorm(world: NodesWorld) {
  const waiting = world.connections.map((number) => ({ number, first: [] as StormItem[], rest: [] as StormItem[] }))
  const told = { items: 0, callbacks: 0, repeated: 0 }
  const post = async (number: ChatNumber, batch: StormItem[]) => {
    const send = (body: Buffer | object) => world.callback(anyOf(world.nodes), number, body)
    if (Math.random() < notJson) assert.equal((await send(Buffer.from('{"object":'))).status, 200)
    const { messages = [], statuses = [] } = Object.groupBy(batch, ({ list }) => list)
    const values = (items: StormItem[]) => items.map(({ value }) => value)
    const body = callbackOf(number, { messages: values(messages), statuses: values(statuses) })
    for (let status = 0; status !== 200; told.callbacks++) {
      const answer = await send(body)
      status = answer.status
      if (status === 200) continue
      assert.equal(status, 503, answer.text)
      told.repeated++
    }
    told.items += batch.length
    for (const { stored } of batch) stored?.()
  }
  const poster = async (isComplete: () => boolean) => {
    for (;;) {
      const isLast = isComplete()
      const some = waiting.filter(({ first, rest }) => first.length + rest.length > 0)
      const pool = some.find(({ first }) => first.length > 0) ?? (some.length > 0 ? anyOf(some) : undefined)
      if (pool !== undefined) await post(pool.number, takeBatch(pool.first, pool.rest))
      else if (isLast) return
      else await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  return {
    /** How many items, copies included, were posted; in how many callbacks; how many of those had to be repeated. */
    told,
    /** Adds items to what is to be posted; `first` ones go with the next callback. */
    put: (number: ChatNumber, items: StormItem[], first = false) => {
      const pool = waiting.find((one) => one.number === number)
      ;(first ? pool?.first : pool?.rest)?.push(...items)
      pool?.rest.push(...items.filter(() => Math.random() < copyShare))
    },
    /** Posts in random batches to random processes until everything is sent and nothing more arrives. */
    blow: (isComplete: () => boolean) => Promise.all(Array.from({ length: posters }, () => poster(isComplete))),
  }
}

function takeBatch(first: StormItem[], rest: StormItem[]): StormItem[] {
  const batch = first.splice(0, maxBatch)
  const size = Math.max(batch.length, 1 + Math.floor(Math.random() * maxBatch))
  while (batch.length < size && rest.length > 0) {
    const some = rest.splice(Math.floor(Math.random() * rest.length), 1)
    // Anywhere among the others, so that those that go first are not first within the callback.
    batch.splice(Math.floor(Math.random() * (batch.length + 1)), 0, ...some)
  }
  return batch
}

function anyOf<T>(all: readonly T[]): T {
  return all[Math.floor(Math.random() * all.length)] ?? assert.fail('There is none')
}
