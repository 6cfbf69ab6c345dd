import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Reply, Service } from '../support/program/service.ts'
import { type Customer, type NodesWorld, nodesWorld } from '../support/program/two-nodes.ts'

const takeoverRounds = Number(process.env.TAKEOVER_ROUNDS ?? 40)
const idempotencyKeys = Number(process.env.IDEMPOTENCY_KEYS ?? 8)
const repeats = 50

test(`two processes, ${idempotencyKeys} keys, 50 parallel requests each, one in ten altered: as many sends, one answer a key`, async (t) => {
  const world = await nodesWorld(2)
  const customers = await world.customers(idempotencyKeys)
  world.platform.arrivals.length = 0
  world.platform.hold = () => sleep(2)
  const startedAt = performance.now()
  for (let first = 0; first < customers.length; first += 4) {
    await Promise.all(customers.slice(first, first + 4).map((customer) => assertSentOnce(world, customer)))
  }
  const { arrivals } = world.platform
  t.diagnostic(`${idempotencyKeys * repeats} requests in ${Math.round(performance.now() - startedAt)} ms`)
  assert.equal(arrivals.length, idempotencyKeys)
  assert.equal(new Set(arrivals.map(({ correlator }) => correlator)).size, idempotencyKeys)
})

async function assertSentOnce(world: NodesWorld, { conversationId }: Customer): Promise<void> {
  const idempotencyKey = randomUUID()
  const words = Array.from({ length: repeats }, (_, n) => (n % 10 === 9 ? 'altered' : 'same'))
  const replies = await Promise.all(
    words.map((text, n) => world.send(world.nodes[n % 2 === 0 ? 0 : 1], conversationId, idempotencyKey, text)),
  )
  const isFirst = ({ status, headers }: Reply) => status === 202 && headers.get('idempotent-replayed') !== 'true'
  const first = replies.findIndex(isFirst)
  // Whichever words came first, all requests with them have one answer, and all others are refused.
  const expected = words.map((text) => (text === words[first] ? replies[first]?.text : 'INVALID_MESSAGE'))
  const got = replies.map(({ status, text, body }) => (status === 422 ? body.data.code : text))
  assert.deepEqual(got, expected)
  assert.equal(replies.filter(isFirst).length, 1)
}

test('no send starts once a takeover on the other process is answered, and each change is told once', async (t) => {
  const world = await nodesWorld(4)
  const customers = await world.customers(Math.ceil(takeoverRounds / 10))
  const outcomes: Record<string, number> = {}
  world.platform.hold = () => sleep(Math.random() * 10)
  let left = takeoverRounds
  const raceAll = async (queue: Customer[]) => {
    for (let customer = queue.pop(); customer !== undefined; customer = queue.pop()) {
      const rounds = Math.min(10, left)
      left -= rounds
      for (let round = 0; round < rounds; round++) await race(world, customer, round > 0, outcomes)
      // The owner of the beginning, then there and back.
      assert.equal(await countOwnerChanges(world, customer), 2 * rounds)
    }
  }
  let isRacing = true
  const pausing = pauseNowAndThen(world.nodes[0], () => isRacing)
  await Promise.all([customers, customers, customers, customers].map(raceAll)).finally(() => {
    isRacing = false
  })
  await pausing
  t.diagnostic(`${takeoverRounds} rounds: ${JSON.stringify(outcomes)}`)
  assert.equal(left, 0)
  assert.equal(await countMessages(world, 'owner_changed'), outcomes.failed ?? 0)
  assert.ok((outcomes.sent ?? 0) > 0 && (outcomes.OWNER_MISMATCH ?? 0) > 0)
})

/** Now and then the process stands still, also between being allowed to send and sending. */
async function pauseNowAndThen({ pid }: Service, isWanted: () => boolean): Promise<void> {
  while (isWanted()) {
    await sleep(Math.random() * 30)
    process.kill(pid, 'SIGSTOP')
    await sleep(Math.random() * 30)
    process.kill(pid, 'SIGCONT')
  }
}

async function race(world: NodesWorld, customer: Customer, isHandedBack: boolean, outcomes: Record<string, number>) {
  const [a, b] = world.nodes
  const { conversationId, phone } = customer
  if (isHandedBack) assert.equal((await world.act(b, conversationId, 'hand-back')).status, 200)
  const before = world.platform.arrivals.length
  const sending = [0, 1].map(async () => {
    await sleep(Math.random() * 25)
    return world.send(a, conversationId, randomUUID(), 'Hello')
  })
  // Two people press the button at once, on either process: the first answer counts.
  const delayMs = Math.random() * 90
  const taking = [a, b].map(async (node) => {
    await sleep(delayMs)
    const reply = await world.act(node, conversationId, 'take-over')
    assert.equal(reply.status, 200, reply.text)
    return performance.now()
  })
  const answeredAt = Math.min(...(await Promise.all(taking)))
  const results = (await Promise.all(sending)).map(resultOf)
  for (const result of results) outcomes[result] = (outcomes[result] ?? 0) + 1
  const arrived = world.platform.arrivals.slice(before).filter(({ to }) => to === phone)
  // None starts afterwards, and none was under way: the change of owner waits for the call, up to 3 s.
  for (const one of arrived) assert.ok(one.answeredAt < answeredAt, `${one.at} to ${one.answeredAt}, ${answeredAt}`)
  assert.equal(arrived.length, results.filter((result) => result === 'sent').length)
}

const resultOf = ({ body }: Reply): string => body.status ?? body.data.code

async function countOwnerChanges({ db, workspaceId }: NodesWorld, { conversationId }: Customer): Promise<number> {
  const [row] = await db.sql<{ count: number }[]>`
    select count(*) as count
    from events
    where workspace_id = ${workspaceId}
      and subject_id = ${conversationId}
      and name = 'inbox.conversation.owner_changed'`
  return row?.count ?? 0
}

async function countMessages({ db, workspaceId }: NodesWorld, errorCode: string): Promise<number> {
  const [row] = await db.sql<{ count: number }[]>`
    select count(*) as count
    from messages
    where workspace_id = ${workspaceId}
      and error_code = ${errorCode}`
  return row?.count ?? 0
}
