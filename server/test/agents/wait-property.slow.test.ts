import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { type AgentsWorld, agentsWorld } from '../support/agents/agents-world.ts'
import { type WaitingNode, waitingNode } from '../support/agents/waiting-node.ts'
import type { Json } from '../support/events/feed-world.ts'
import { addAgent, customerMessage, marina } from '../support/inbox/inbox-world.ts'
import { signedInMember, type TestMember } from '../support/member.ts'

const rounds = Number(process.env.WAIT_ROUNDS ?? 4)
const [customers, writers, acts] = [6, 3, 25]

const customer = (n: number) => ({ ...marina, phone: `5581991230${String(n).padStart(3, '0')}`, name: `Customer ${n}` })

interface Agent {
  id: string
  value: string
}

/** What an agent was shown of a conversation, in order. */
interface Told {
  id: string
  numbers: number[]
  ownerSince: string
}

/** Follows the cursors while others write, then to the end. */
async function follow(
  ask: (input: { cursor?: string; wait: number }) => Promise<{ status: number; body: Json }>,
  isOver: () => boolean,
) {
  const told: Told[] = []
  for (let cursor: string | undefined; ; ) {
    const wasOver = isOver()
    const { status, body } = await ask({ wait: wasOver ? 0 : 1, ...(cursor !== undefined && { cursor }) })
    // A node without a free connection fails in time; the cursor stays valid.
    if (status === 503) continue
    assert.equal(status, 200, JSON.stringify(body))
    for (const { conversation, messages } of body.work) {
      const texts = messages
        .map(({ customer_text }: Json) => customer_text)
        .filter((text: unknown) => text !== undefined)
      told.push({ id: conversation.id, numbers: texts.map(Number), ownerSince: conversation.owner_since })
    }
    cursor = body.next_cursor
    if (wasOver && body.work.length === 0 && !body.has_more) return told
  }
}

/** One random action on a conversation. */
async function act(w: AgentsWorld, node: WaitingNode, member: TestMember, agents: Agent[], written: { count: number }) {
  w.clock.advance(randomInt(1, 50))
  const kind = randomInt(10)
  if (kind < 6) {
    const text = String(++written.count)
    await w.deliver(customerMessage({ at: w.clock.now(), customer: customer(randomInt(customers)), text }))
    return
  }
  const all = await w.conversations()
  const { id } = all[randomInt(all.length)]
  const agent = agents[randomInt(agents.length)]
  assert.ok(agent !== undefined)
  const place = `/inbox/conversations/${id}`
  if (kind === 6) await member.call('POST', `${place}/take-over`)
  else if (kind === 7) await w.callTool('answer', { conversation_id: id, text: `Answer ${written.count}` }, agent.value)
  else {
    const path = `${node.url}/api/team/v1/workspaces/${w.workspaceId}${place}/hand-back`
    await fetch(path, {
      method: 'POST',
      headers: { ...member.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ keyId: agent.id }),
    })
  }
}

/** Gives owner changes distinct times, because the test distinguishes them by time. */
function tickOnEachRead(clock: AgentsWorld['clock']): void {
  const now = clock.now
  clock.now = () => {
    clock.advance(1)
    return now()
  }
}

test('with random writes on two nodes, an agent gets all of its work exactly once', async () => {
  for (let round = 0; round < rounds; round++) {
    // Within a round, the clock advances by two to three seconds: some conversations are due early, and some only at its end.
    const quietSeconds = round % 2
    const w = await agentsWorld({ quietSeconds })
    tickOnEachRead(w.clock)
    const node = await waitingNode(w)
    const member = await signedInMember(w)
    const other = await addAgent(w, { answersNewConversations: false, quietSeconds })
    const agents = [w.agent, other]
    const written = { count: 0 }
    // One of each, so that every action has a target.
    for (let n = 0; n < customers; n++) {
      w.clock.advance(5)
      await w.deliver(customerMessage({ at: w.clock.now(), customer: customer(n), text: String(++written.count) }))
    }
    let isOver = false
    const limit = randomInt(1, 4)
    const [chains] = await Promise.all([
      Promise.all([
        follow(
          (input) => w.callTool('wait_for_work', { limit, ...input }),
          () => isOver,
        ),
        follow(
          (input) => node.sendWait({ key: other.value, ...input }),
          () => isOver,
        ),
      ]),
      Promise.all(
        Array.from({ length: writers }, async () => {
          for (let n = 0; n < acts; n++) await act(w, node, member, agents, written)
        }),
      ).finally(() => {
        w.clock.advance(30_000)
        isOver = true
      }),
    ])
    const all = await w.conversations()
    for (const [n, told] of chains.entries()) {
      const owner = `agent:${agents[n]?.id}`
      for (const { id } of all.filter((one) => one.owner === owner)) {
        const texts = (await w.messages(id))
          .filter(({ direction }) => direction === 'inbound')
          .map(({ text }) => Number(text))
        const last = told.findLast((one) => one.id === id)
        assert.equal(
          Math.max(...(last?.numbers ?? [])),
          Math.max(...texts),
          `agent ${n} knows the newest message of what is its own`,
        )
      }
      const seen = new Set<string>()
      for (const { id, numbers, ownerSince } of told) {
        const what = `${id} ${numbers} ${ownerSince}`
        assert.ok(!seen.has(what), `agent ${n} is not told twice of the same: ${what}`)
        seen.add(what)
      }
    }
  }
})
