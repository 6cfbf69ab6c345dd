import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Reply, Service } from '../support/program/service.ts'
import { type Customer, type NodesWorld, nodesWorld } from '../support/program/two-nodes.ts'

const takeoverRounds = Number(process.env.TAKEOVER_ROUNDS ?? 40)
const idempotencyKeys = Number(process.env.IDEMPOTENCY_KEYS ?? 8)
const repeats = 50
const killRounds = Number(process.env.KILL_ROUNDS ?? 1)
const customersEach = 12
const sendsEach = 8

test(`two processes, ${idempotencyKeys} keys, 50 parallel requests each, one in ten altered: as many sends, one answer a key`, async (t) => {
  const world = await nodesWorld(2)
  const customers = await world.customers(idempotencyKeys)
  world.platform.arrivals.length = 0
  world.platform.delayAnswer = () => sleep(2)
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

test('no send starts once a takeover on the other process is answered, and each change is published once', async (t) => {
  const world = await nodesWorld(4)
  const customers = await world.customers(Math.ceil(takeoverRounds / 10))
  const outcomes: Record<string, number> = {}
  world.platform.delayAnswer = () => sleep(Math.random() * 10)
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
  const rows = await db.sql`
    select from events
    where workspace_id = ${workspaceId}
      and subject_id = ${conversationId}
      and name = 'inbox.conversation.owner_changed'`
  return rows.length
}

async function countMessages({ db, workspaceId }: NodesWorld, errorCode: string): Promise<number> {
  const rows = await db.sql`select from messages where workspace_id = ${workspaceId} and error_code = ${errorCode}`
  return rows.length
}

test('a process killed amid sends: no key is sent twice, and the other process completes every message', async (t) => {
  const world = await nodesWorld(1)
  const tally: Record<string, number> = {}
  for (let round = 0; round < killRounds; round++) await killOnce(world, await world.addNode(), round, tally)
  t.diagnostic(JSON.stringify(tally))
})

async function killOnce(world: NodesWorld, victim: Service, round: number, tally: Record<string, number>) {
  const { platform, nodes } = world
  const customers = await world.customers(customersEach)
  platform.arrivals.length = 0
  platform.delayAnswer = () => sleep(Math.random() * 60)
  // The answer that its sender got; null when the process died before.
  const none: Reply | null = null
  const wanted = customers.flatMap((customer, c) =>
    Array.from({ length: sendsEach }, (_, n) => ({
      customer,
      key: `kill-${round}-${c}-${n}`,
      answer: none as Reply | null,
    })),
  )
  const sending = wanted.map(async (one, n) => {
    const node = isVictims(n) ? victim : nodes[0]
    await sleep(Math.random() * 500)
    // The key is the text, so that the platform's list tells what each key sent.
    one.answer = await world.send(node, one.customer.conversationId, one.key, one.key).catch(() => null)
  })
  while (platform.arrivals.length < wanted.length / 3) await sleep(5)
  victim.kill()
  await victim.exited
  await passFor(
    world,
    wanted.filter((_, n) => isVictims(n)).map(({ key }) => key),
  )
  await Promise.all(sending)

  const unanswered = wanted.filter(({ answer }) => answer === null)
  assert.ok(unanswered.length > 0)
  const sentBefore = new Set(platform.arrivals.map(({ text }) => text))
  await endTheWait(world)
  const repeats = await Promise.all(wanted.map(({ customer, key }) => repeat(world, customer, key)))
  const sentAtAll = new Set(platform.arrivals.map(({ text }) => text))
  for (const [n, { answer, key }] of wanted.entries()) {
    const again = repeats[n]
    if (again?.status === 502) await assertOverdue(world, again, sentAtAll.has(key))
    else assert.equal(again?.status, 202, `${key}: ${again?.text}`)
    if (answer !== null) assert.deepEqual([again?.status, again?.text], [answer.status, answer.text])
    const what =
      answer !== null ? 'answered' : `unanswered, ${sentBefore.has(key) ? 'sent' : 'not sent'}, ${again?.body.status}`
    tally[what] = (tally[what] ?? 0) + 1
  }
  const texts = platform.arrivals.map(({ text }) => text)
  assert.equal(new Set(texts).size, texts.length)
  assert.equal(await countUnsettled(world), 0)
}

/** On a slow machine those before it in its conversation may take longer than a send waits: then it ends without being sent. */
async function assertOverdue({ db, workspaceId }: NodesWorld, { body }: Reply, wasSent: boolean): Promise<void> {
  const [row] = await db.sql`
    select error_code
    from messages
    where workspace_id = ${workspaceId}
      and id = ${body.data.message_id}`
  assert.deepEqual([row?.error_code, wasSent], ['not_sent', false])
}

const isVictims = (n: number) => n % 3 !== 0

/** As after the time in which the dead process has not said that it is at work: others' sends need not wait for its. */
async function passFor({ db, workspaceId }: NodesWorld, keys: string[]): Promise<void> {
  await db.sql`
    update dispatches d
    set alive_until = clock_timestamp() - interval '1 second'
    from sends s
    where d.workspace_id = ${workspaceId}
      and s.workspace_id = d.workspace_id
      and s.message_id = d.message_id
      and s.idempotency_key = any (${keys}::text[])`
}

/** As after the ten minutes in which nobody told what became of the dead process's sends. */
async function endTheWait({ db, workspaceId }: NodesWorld): Promise<void> {
  await db.sql`
    update messages
    set settle_by = now() - interval '1 second'
    where workspace_id = ${workspaceId}
      and settle_by is not null`
}

/** NOT_RETRYABLE is the answer until the other process has looked for stranded sends. */
async function repeat(world: NodesWorld, { conversationId }: Customer, key: string): Promise<Reply> {
  const giveUpAt = performance.now() + 15_000
  for (;;) {
    const reply = await world.send(world.nodes[1], conversationId, key, key)
    if (reply.status !== 409 || performance.now() > giveUpAt) return reply
    assert.equal(reply.body.data.code, 'NOT_RETRYABLE')
    await sleep(200)
  }
}

async function countUnsettled({ db, workspaceId }: NodesWorld): Promise<number> {
  const rows = await db.sql`
    select id from messages where workspace_id = ${workspaceId} and status = 'pending'
    union all
    select message_id from dispatches where workspace_id = ${workspaceId}`
  return rows.length
}
