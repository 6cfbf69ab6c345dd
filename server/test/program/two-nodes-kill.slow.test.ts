import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Reply, Service } from '../support/program/service.ts'
import { type Customer, type NodesWorld, nodesWorld } from '../support/program/two-nodes.ts'

const killRounds = Number(process.env.KILL_ROUNDS ?? 1)
const customersEach = 12
const sendsEach = 8

test('a process killed amid sends: no key is sent twice, and the other process ends every message', async (t) => {
  const world = await nodesWorld(1)
  const tally: Record<string, number> = {}
  for (let round = 0; round < killRounds; round++) await killOnce(world, await world.addNode(), round, tally)
  t.diagnostic(JSON.stringify(tally))
})

interface Wanted {
  customer: Customer
  key: string
  /** The answer that its sender got; null when the process died before. */
  answer: Reply | null
}

async function killOnce(world: NodesWorld, victim: Service, round: number, tally: Record<string, number>) {
  const { platform, nodes } = world
  const customers = await world.customers(customersEach)
  platform.arrivals.length = 0
  platform.hold = () => sleep(Math.random() * 60)
  const wanted: Wanted[] = customers.flatMap((customer, c) =>
    Array.from({ length: sendsEach }, (_, n) => ({ customer, key: `kill-${round}-${c}-${n}`, answer: null })),
  )
  const sending = wanted.map(async (one, n) => {
    const node = isVictims(n) ? victim : nodes[0]
    await sleep(Math.random() * 500)
    // The key is the text, so that the platform's list tells what each key sent.
    one.answer = await world.send(node, one.customer.conversationId, one.key, one.key).catch(() => null)
  })
  while (platform.arrivals.length < wanted.length / 3) await sleep(5)
  victim.kill()
  await victim.gone
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
  const [row] = await db.sql<{ count: number }[]>`
    select (
      select count(*)
      from messages
      where workspace_id = ${workspaceId}
        and status = 'pending'
    ) + (
      select count(*)
      from dispatches
      where workspace_id = ${workspaceId}
    ) as count`
  return row?.count ?? 0
}
