import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeCursor } from '../../../src/base/cursor.ts'
import { reindexIdle } from '../../../src/inbox/conversation/activity-columns.ts'
import { type AgentsWorld, agentsWorld } from '../../support/agents/agents-world.ts'
import { mcpClient, toolCaller } from '../../support/agents/mcp-client.ts'
import { waitingNode } from '../../support/agents/waiting-node.ts'
import { statementsOf } from '../../support/database.ts'
import { marina } from '../../support/inbox/inbox-world.ts'
import { signedInMember } from '../../support/member.ts'
import { clearStatistics, findBadPlans } from '../../support/query-plans.ts'
import type { Answer } from '../../support/world.ts'

// A customer who writes several short messages gets one answer to all: a conversation becomes work when its customer has
// been silent for the key's quiet time, at most 30 seconds after the first message that the agent was not shown.

const customer = (n: number) => ({ ...marina, phone: `55819913${String(n).padStart(5, '0')}`, name: `Customer ${n}` })

/** Returns an agent with the default quiet time of 4 seconds. */
const quietWorld = () => agentsWorld({ quietSeconds: null })

/** Returns pending work, or work after a cursor. */
const now = async (w: AgentsWorld, cursor?: string, more: Record<string, unknown> = {}) =>
  (await w.callTool('wait_for_work', { wait: 0, ...(cursor !== undefined && { cursor }), ...more })).body

const textsIn = ({ work }: Answer['body']): string[][] =>
  work.map(({ messages }: { messages: { customer_text?: string }[] }) =>
    messages.flatMap(({ customer_text }) => customer_text ?? []),
  )

/** Writes the texts, each this many milliseconds after the one before. */
async function writes(w: AgentsWorld, texts: readonly string[], pauseMs: number, from = marina) {
  for (const [n, text] of texts.entries()) {
    if (n > 0) w.clock.advance(pauseMs)
    await w.customerWrites(text, { customer: from })
  }
}

const three = ['Hi', 'I ordered shoes', 'Where are they?']

for (const start of ['a cursor', 'no cursor'] as const) {
  test(`with ${start}, three messages within 6 seconds become one piece of work, 4 seconds after the last`, async () => {
    const w = await quietWorld()
    const first = start === 'a cursor' ? (await now(w)).next_cursor : undefined
    await writes(w, three, 3000)
    w.clock.advance(3999)
    const early = await now(w, first)
    assert.deepEqual([textsIn(early), early.has_more], [[], false])
    w.clock.advance(1)
    const { next_cursor: cursor, ...found } = await now(w, early.next_cursor)
    assert.deepEqual(textsIn(found), [three])
    assert.deepEqual(textsIn(await now(w, cursor)), [], 'and only once')
    assert.deepEqual(textsIn(await now(w, first)), [three], 'the earlier cursor returns it as well')
    w.clock.advance(1000)
    await w.customerWrites('Hello?')
    assert.deepEqual(textsIn(await now(w, cursor)), [], 'a message after that starts the time again')
    w.clock.advance(4000)
    assert.deepEqual(textsIn(await now(w, cursor)), [[...three, 'Hello?']])
  })
}

type CallTool = (name: string, input: Record<string, unknown>) => Promise<Answer['body']>
const interfaces: [name: string, connect: (w: AgentsWorld) => Promise<CallTool>][] = [
  ['HTTP', async (w) => async (name, input) => (await w.callTool(name, input)).body],
  [
    'MCP',
    async (w) => {
      const call = toolCaller(await mcpClient(w, w.agent.value))
      return async (name, input) => (await call(name, input)).read
    },
  ],
]

for (const [name, connect] of interfaces) {
  test(`over ${name}, an agent answers three messages within 6 seconds once, to all of them`, async () => {
    const w = await quietWorld()
    const call = await connect(w)
    const heard: string[][] = []
    let cursor: string | undefined
    for (let second = 0; second < 15; second++) {
      const text = second % 3 === 0 ? three[second / 3] : undefined
      if (text !== undefined) await w.customerWrites(text)
      const found = await call('wait_for_work', { wait: 0, ...(cursor !== undefined && { cursor }) })
      cursor = found.next_cursor
      heard.push(...textsIn(found))
      for (const { conversation, messages } of found.work) {
        const seen = { conversation_id: conversation.id, after_message_id: messages.at(-1).id }
        assert.equal((await call('answer', { ...seen, text: 'They left this morning.' })).status, 'sent')
      }
      w.clock.advance(1000)
    }
    assert.deepEqual([heard, w.sent().length], [[three], 1])
    assert.deepEqual(textsIn(await now(w)), [], 'nobody is waiting')
  })
}

test('a customer who never stops is returned 30 seconds after the first message that the agent was not shown', async () => {
  const w = await quietWorld()
  let cursor = (await now(w)).next_cursor
  const shownAt: number[] = []
  const startMs = w.clock.now().getTime()
  for (let second = 0; second <= 66; second += 3) {
    await w.customerWrites(`Message at ${second}`)
    const found = await now(w, cursor)
    cursor = found.next_cursor
    if (found.work.length > 0) shownAt.push((w.clock.now().getTime() - startMs) / 1000)
    w.clock.advance(3000)
  }
  assert.deepEqual(shownAt, [30, 63])
})

test('a customer who goes on writing delays nobody else, and nothing is missed or returned twice', async () => {
  const w = await quietWorld()
  let cursor = (await now(w)).next_cursor
  const told: string[][] = []
  for (let second = 0; second < 40; second++) {
    if (second < 30 && second % 2 === 0) await w.customerWrites(`Marina ${second}`)
    if (second % 5 === 0) await w.customerWrites('Once', { customer: customer(second) })
    const found = await now(w, cursor, { limit: 1 })
    cursor = found.next_cursor
    for (const texts of textsIn(found)) told.push([String(second), texts.length === 1 ? 'one' : 'Marina'])
    w.clock.advance(1000)
  }
  // Without a cursor for each of them, the next page would start at Marina's first message.
  assert.deepEqual(
    told.filter(([, who]) => who === 'one').map(([second]) => second),
    ['4', '9', '14', '19', '24', '29', '34', '39'],
  )
  assert.deepEqual(
    told.filter(([, who]) => who === 'Marina').map(([second]) => second),
    ['30'],
  )
})

test('pages of one return each conversation that was held once, in the order of their messages', async () => {
  const w = await quietWorld()
  let found = await now(w)
  for (let n = 0; n < 4; n++) await w.customerWrites(`Number ${n}`, { customer: customer(n) })
  found = await now(w, found.next_cursor)
  assert.deepEqual(textsIn(found), [])
  await w.customerWrites('Number 4', { customer: customer(4) })
  w.clock.advance(4000)
  const told: string[][] = []
  for (let page = 0; page < 6; page++) {
    found = await now(w, found.next_cursor, { limit: 1 })
    told.push(...textsIn(found))
  }
  assert.deepEqual(told.flat(), ['Number 0', 'Number 1', 'Number 2', 'Number 3', 'Number 4'])
})

test('without a cursor, pages of one return the waiting ones and then what was held, each once', async () => {
  const w = await quietWorld()
  for (let n = 0; n < 3; n++) await w.customerWrites(`Number ${n}`, { customer: customer(n) })
  w.clock.advance(5000)
  await w.customerWrites('Again', { customer: customer(0) })
  await w.customerWrites('Number 3', { customer: customer(3) })
  const told: string[][] = []
  let found = await now(w, undefined, { limit: 1 })
  for (let page = 0; page < 6; page++) {
    told.push(...textsIn(found))
    if (page === 2) w.clock.advance(4000)
    found = await now(w, found.next_cursor, { limit: 1 })
  }
  assert.deepEqual(told, [['Number 1'], ['Number 2'], ['Number 0', 'Again'], ['Number 3']])
})

test('a takeover cancels the quiet time, and the conversation is work again when it is handed back', async () => {
  const w = await quietWorld()
  const first = (await now(w)).next_cursor
  const { id } = await w.customerWrites('Hello')
  const held = await now(w, first)
  w.clock.advance(1000)
  const member = await w.takeOver(id)
  w.clock.advance(10_000)
  const taken = await now(w, held.next_cursor)
  assert.deepEqual(textsIn(taken), [])
  await w.handBack(member, id)
  assert.deepEqual(textsIn(await now(w, taken.next_cursor)), [['Hello']])
  assert.deepEqual(textsIn(await now(w, held.next_cursor)), [['Hello']], 'a cursor from before returns it as well')
})

test("the time of our arrival counts, not the platform's", async () => {
  const w = await quietWorld()
  const first = (await now(w)).next_cursor
  for (const [n, skewMs] of [-240_000, 240_000].entries()) {
    await w.customerWrites('Hello', { customer: customer(n), at: new Date(w.clock.now().getTime() + skewMs) })
  }
  w.clock.advance(3999)
  for (const cursor of [first, undefined]) assert.deepEqual(textsIn(await now(w, cursor)), [])
  w.clock.advance(1)
  for (const cursor of [first, undefined]) assert.deepEqual(textsIn(await now(w, cursor)), [['Hello'], ['Hello']])
})

test('messages that the agent has dealt with without an answer do not shorten the next quiet time', async () => {
  const w = await quietWorld()
  const { id } = await w.customerWrites('Thanks!')
  w.clock.advance(4000)
  const shown = await now(w)
  assert.deepEqual(textsIn(shown), [['Thanks!']])
  await w.callTool('resolve', { conversation_id: id })
  w.clock.advance(3_600_000)
  await reindexIdle(w)
  await w.customerWrites('One more thing')
  w.clock.advance(3000)
  const held = await now(w, shown.next_cursor)
  assert.deepEqual(textsIn(held), [])
  w.clock.advance(1000)
  assert.deepEqual(textsIn(await now(w, held.next_cursor)), [['Thanks!', 'One more thing']])
})

test('a waiting request ends when the customer has been silent long enough', async () => {
  const w = await quietWorld()
  const node = await waitingNode(w)
  const { answer } = await node.wait()
  await writes(w, three, 1000)
  // Every message wakes the request, which finds that the customer may still be writing.
  await node.hasQueried(2)
  w.clock.advance(3000)
  await node.tick()
  w.clock.advance(1000)
  await node.tick()
  assert.deepEqual(textsIn((await answer).body), [three])
})

test('a change of the quiet time applies to requests that wait', async () => {
  const w = await quietWorld()
  const node = await waitingNode(w)
  const { answer } = await node.wait()
  await w.customerWrites('Hello')
  await node.hasQueried(2)
  const admin = await signedInMember(w, 'admin')
  await admin.call('PATCH', `/keys/${w.agent.id}`, { quietSeconds: 0 })
  assert.deepEqual(textsIn((await answer).body), [['Hello']])
})

test('a cursor of an earlier version continues where it was', async () => {
  const w = await quietWorld()
  await w.customerWrites('Hello')
  const cursor = encodeCursor(['work', w.agent.id, 0])
  assert.deepEqual(textsIn(await now(w, cursor)), [])
  w.clock.advance(4000)
  assert.deepEqual(textsIn(await now(w, cursor)), [['Hello']])
})

test('who_am_i tells the quiet time', async () => {
  const w = await quietWorld()
  assert.equal((await w.callTool('who_am_i')).body.limits.quiet_seconds, 4)
})

test('queries for held work use indexes with any statistics', async () => {
  const w = await quietWorld()
  await w.customerWrites('Hello')
  const tables = ['events', 'conversations', 'conversation_aliases', 'messages']
  await clearStatistics(w.db, tables)
  await w.sequencer.sequenceAll()
  const statements = await statementsOf(async () => {
    await now(w)
    const { next_cursor: withHeld } = await now(w, encodeCursor(['work', w.agent.id, 0]))
    await now(w, withHeld)
  })
  const ofWork = statements.filter(({ text }) => /picked as materialized/.test(text))
  assert.ok(ofWork.length >= 3)
  assert.deepEqual(await findBadPlans(w.db, ofWork, tables), [])
})
