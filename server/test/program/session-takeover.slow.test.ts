import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Db } from '../../src/base/db.ts'
import { type SimulatorWorld, simulatorWorld } from '../support/channels/simulator.ts'
import { testDatabase } from '../support/database.ts'
import { atEnd } from '../support/file-lifecycle.ts'
import { ask, operatorToken, type Service, startService } from '../support/program/service.ts'
import { nodeSettings } from '../support/program/two-nodes.ts'
import { until } from '../support/until.ts'

/** In turns the holder is killed, and stalled until another holds the session. */
const rounds = Number(process.env.TAKEOVER_KILLS ?? 2)
const masterKey = randomBytes(32).toString('base64')
const takeoverMs = 30_000

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape; a test fails where one is wrong
type Loose = any

test(`the session manager is killed or stalled ${rounds} times: another leases the session within 30 s, without loss or duplicates`, async (t) => {
  const database = await testDatabase()
  const { db } = database
  const network = await simulatorWorld()
  const start = () => startNode({ ...nodeSettings(database), PARLEY_MASTER_KEY: masterKey })
  let holder = await start()
  const shop = await connect(holder, network)
  await db.sql`
    update connections
    set acknowledged_at = now(), acknowledged_by = ${randomUUID()}
    where id = ${shop.connectionId}`
  const people = await Promise.all(Array.from({ length: 4 }, () => network.person()))
  const written: string[] = []
  const write = async (text: string) => {
    for (const { id, phone } of people) {
      await network.writes(id, `${text} ${phone}`)
      written.push(`${text} ${phone}`)
    }
  }
  const fenceOf = async () => {
    const [row] = await db.sql<{ fence: number; state: string; since: Date }[]>`
      select fence, state, state_changed_at as since from channel_sessions where connection_id = ${shop.connectionId}`
    assert.ok(row)
    return row
  }
  await write('before')
  await until(async () => (await list(shop, holder)).length === people.length, 'a conversation with each')
  const conversations: string[] = (await list(shop, holder)).map(({ id }) => id)
  const sent: { text: string; status: number; isSent: boolean; isSafe: boolean }[] = []
  const sendToAll = async (node: Service, text: string, isSafe: boolean) => {
    const send = async (id: string, n: number) => {
      sent.push({ text: `${text} ${n}`, ...(await post(node, shop, id, `${text} ${n}`)), isSafe })
    }
    await Promise.all(conversations.map(send))
  }

  for (let round = 1; round <= rounds; round++) {
    const signal = round % 2 === 1 ? 'SIGKILL' : 'SIGSTOP'
    const next = await start()
    const { fence, since } = await fenceOf()
    const sending = [sendToAll(next, `${round} around`, false), sendToAll(holder, `${round} by the holder`, false)]
    await write(`${round} around`)
    holder.kill(signal)
    const endedAt = performance.now()
    if (signal === 'SIGKILL') {
      await holder.exited
      await countAsDead(db, `${round} by the holder`)
    }
    await write(`${round} while nobody holds it`)
    await until(async () => {
      const now = await fenceOf()
      // The process that claims it finds it open; its own socket opens it again.
      return now.fence > fence && now.state === 'open' && now.since > since
    }, `the takeover in round ${round}`)
    const ms = performance.now() - endedAt
    t.diagnostic(`taken over ${Math.round(ms)} ms after a ${signal}`)
    assert.ok(ms < takeoverMs, `${ms} ms`)
    const held = await fenceOf()
    // Who was stalled wakes up, and must not meddle.
    if (signal === 'SIGSTOP') holder.kill('SIGCONT')
    await write(`${round} after`)
    await Promise.all(sending)
    // Callers have an answer, or their process is dead.
    await countAsDead(db, `${round} `)
    await sendToAll(next, `${round} after`, true)
    if (signal === 'SIGSTOP') await sendToAll(holder, `${round} by the one that was stalled`, true)
    assert.deepEqual(await fenceOf(), { ...held, state: 'open' })
    holder.kill()
    await holder.exited
    holder = next
  }

  await network.simulator.settled()
  const truth = (await Promise.all(people.map(({ id }) => network.chat(id)))).flat()
  const arrived = truth.filter(({ from }: Loose) => from === 'business')
  assert.ok(arrived.every(({ arrivals }: Loose) => arrivals === 1))
  const texts: string[] = arrived.map(({ text }: Loose) => text)
  assert.equal(new Set(texts).size, texts.length, 'nothing arrived twice')
  for (const { text, status, isSent } of sent) {
    if (status === 202)
      assert.equal(texts.includes(text), isSent, `${text} was said to be ${isSent ? 'sent' : 'failed'}`)
  }
  assert.deepEqual(
    sent.filter(({ isSafe, isSent }) => isSafe && !isSent),
    [],
  )
  // What a dead process has left behind is settled by the others, as it went: but for what a session has claimed, and the
  // network has not confirmed.
  const pending = async () => (await read(shop, holder)).filter(({ status }) => status === 'pending')
  const isClaimed = await claimedOf(db)
  await until(async () => (await pending()).every(({ id }) => isClaimed.has(id)), 'an end of all that had not left')
  await until(async () => !(await pending()).some(({ text }) => texts.includes(text)), 'an end of all that arrived')
  for (const { text } of await pending()) {
    assert.notEqual(sent.find((one) => one.text === text)?.status, 202, `${text} has an answer`)
  }
  await db.sql`update messages set settle_by = now() - interval '1 minute' where settle_by is not null`
  await until(async () => (await pending()).length === 0, 'an end of every send')
  const messages = await read(shop, holder)
  const inbound = messages.filter(({ direction }) => direction === 'inbound')
  assert.deepEqual(inbound.map(({ text }) => text).sort(), [...written].sort())
  const outbound = messages.filter(({ direction }) => direction === 'outbound')
  const known = outbound.filter(({ status }) => status !== 'failed').map(({ text }) => text)
  assert.deepEqual(known.sort(), [...texts].sort(), 'the inbox knows what arrived, and nothing else')
  t.diagnostic(`${written.length} written, ${texts.length} sent`)
})

async function startNode(env: Record<string, string>): Promise<Service> {
  const node = await startService({ env })
  atEnd(async () => {
    node.kill('SIGCONT')
    node.kill()
    await node.exited
  })
  return node
}

/** As if the time were over after which a process counts as dead that says nothing of these sends. */
async function countAsDead(db: Db, texts: string): Promise<void> {
  await db.sql`
    update dispatches d
    set alive_until = clock_timestamp() - interval '1 ms'
    from sends s
    where s.workspace_id = d.workspace_id
      and s.message_id = d.message_id
      and starts_with(s.idempotency_key, ${texts})`
}

/** The messages that a holder of the session has taken up, whatever became of them. */
async function claimedOf(db: Db): Promise<Set<string>> {
  const rows = await db.sql<{ correlator: string }[]>`
    select correlator from session_sends where kind = 'message' and state not in ('waiting', 'cancelled')`
  return new Set(rows.map(({ correlator }) => correlator.slice(0, 36)))
}

interface Shop {
  workspaceId: string
  connectionId: string
  key: string
}

async function connect(node: Service, network: SimulatorWorld): Promise<Shop> {
  const team = (what: string, body?: object) =>
    ask(node.url, operatorToken, what.replace(' ', ' /api/team/v1/workspaces'), body)
  const { workspace } = (await team('POST ', { name: 'Shop' })).body
  const scopes = ['inbox.read', 'inbox.write']
  const { value } = (await team(`POST /${workspace.id}/keys`, { name: 'Agent', scopes })).body
  const input = { channel: 'unofficial', name: 'Shop', baseUrl: network.simulator.url }
  const made = await team(`POST /${workspace.id}/connections`, input)
  assert.equal(made.status, 201, made.text)
  const connectionId = made.body.connection.id as string
  const place = `/${workspace.id}/connections/${connectionId}`
  const session = async () => (await team(`GET ${place}/session`)).body.session as Loose
  await team(`POST ${place}/pair`, { method: 'qr' })
  await until(async () => (await session()).qr !== null, 'a QR code')
  assert.equal((await network.scan((await session()).qr)).status, 200)
  await until(async () => (await session()).state === 'open', 'an open session')
  return { workspaceId: workspace.id, connectionId, key: value }
}

/** What the answer was; 0 when the process ended before it gave one. */
async function post(node: Service, shop: Shop, conversationId: string, text: string) {
  const what = `POST ${inbox}/${conversationId}/messages`
  const headers = { 'idempotency-key': `${text} ${randomUUID()}` }
  const answer = await ask(node.url, shop.key, what, { kind: 'text', text }, headers).catch(() => null)
  return { status: answer?.status ?? 0, isSent: answer?.body.status === 'sent' }
}

const inbox = '/api/v1/inbox/conversations'

async function list(shop: Shop, node: Service): Promise<Loose[]> {
  return (await ask(node.url, shop.key, `GET ${inbox}?limit=100`)).body.conversations
}

async function read(shop: Shop, node: Service): Promise<Loose[]> {
  const conversations = await list(shop, node)
  const all = conversations.map(async ({ id }) => {
    const messages: Loose[] = []
    for (let hasMore = true; hasMore; ) {
      const before = messages.length === 0 ? '' : `&before=${encodeURIComponent(messages[0].occurred_at)}`
      const { body } = await ask(node.url, shop.key, `GET ${inbox}/${id}/messages?limit=100${before}`)
      messages.unshift(...body.messages)
      hasMore = body.has_more
    }
    return messages
  })
  return (await Promise.all(all)).flat()
}
