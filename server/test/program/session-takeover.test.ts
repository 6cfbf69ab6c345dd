import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { type QrNetwork, qrNetwork } from '../support/channels/qr-network.ts'
import { testDatabase } from '../support/database.ts'
import { atEnd } from '../support/file-end.ts'
import { newFolder } from '../support/folder.ts'
import { freePort, operatorToken, type Service, startService } from '../support/program/service.ts'
import { nodeSettings } from '../support/program/two-nodes.ts'
import { until } from '../support/until.ts'

/** In turns the holder is killed, and stalled until another holds the session. */
const rounds = Number(process.env.TAKEOVER_KILLS ?? 2)
const masterKey = randomBytes(32).toString('base64')
const takeoverMs = 30_000

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape; a test fails where one is wrong
type Loose = any

test(`the holder of a QR session is killed or stalled ${rounds} times: another holds it within 30 s, nothing is lost or doubled`, async (t) => {
  const database = await testDatabase()
  const { db } = database
  const network = await qrNetwork()
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
  const sent: { text: string; status: number; isSent: boolean; code: string | null; isSafe: boolean }[] = []
  const sendToAll = async (node: Service, text: string, isSafe: boolean) => {
    const send = async (id: string, n: number) => {
      sent.push({ text: `${text} ${n}`, ...(await post(node, shop, id, `${text} ${n}`)), isSafe })
    }
    await Promise.all(conversations.map(send))
  }

  const took: Record<string, number[]> = { SIGKILL: [], SIGSTOP: [] }
  for (let round = 1; round <= rounds; round++) {
    const signal = round % 2 === 1 ? 'SIGKILL' : 'SIGSTOP'
    const next = await start()
    const { fence, since } = await fenceOf()
    const sending = [sendToAll(next, `${round} around`, false), sendToAll(holder, `${round} by the holder`, false)]
    await write(`${round} around`)
    holder.kill(signal)
    const endedAt = performance.now()
    await write(`${round} while nobody holds it`)
    await until(async () => {
      const now = await fenceOf()
      // Whoever claims it finds it open, as it was left; the next one's own socket opens it anew.
      return now.fence > fence && now.state === 'open' && now.since > since
    }, `the takeover in round ${round}`)
    const ms = performance.now() - endedAt
    took[signal]?.push(ms)
    assert.ok(ms < takeoverMs, `${ms} ms`)
    const held = await fenceOf()
    // Who was stalled wakes up, and must not meddle.
    if (signal === 'SIGSTOP') holder.kill('SIGCONT')
    await write(`${round} after`)
    await Promise.all(sending)
    await sendToAll(next, `${round} after`, true)
    if (signal === 'SIGSTOP') await sendToAll(holder, `${round} by the one that was stalled`, true)
    assert.deepEqual(await fenceOf(), { ...held, state: 'open' })
    holder.kill()
    await holder.gone
    holder = next
  }

  await network.simulator.settled()
  const truth = (await Promise.all(people.map(({ id }) => network.chat(id)))).flat()
  const arrived = truth.filter(({ from }: Loose) => from === 'business')
  assert.ok(arrived.every(({ arrivals }: Loose) => arrivals === 1))
  const texts: string[] = arrived.map(({ text }: Loose) => text)
  assert.equal(new Set(texts).size, texts.length, 'nothing arrived twice')
  // Who stood behind the send of a dead process for too long is told that it failed.
  for (const { text, isSent } of sent) {
    if (isSent) assert.ok(texts.includes(text), `${text} was said to be sent`)
  }
  assert.deepEqual(
    sent.filter(({ status, isSafe }) => isSafe && status !== 202),
    [],
  )
  // What a dead process has left behind is settled by the others, as it went.
  // One that had not left when its process died or stalled is open for ten minutes, whatever its caller was told.
  const unanswered = new Set(sent.flatMap(({ text, status }) => (status === 202 ? [] : [text])))
  const isOpen = ({ status, text }: Loose) => status === 'pending' && unanswered.has(text) && !texts.includes(text)
  const isSettled = async () =>
    !(await read(shop, holder)).some((message) => message.status === 'pending' && !isOpen(message))
  await until(isSettled, 'an end of every send', 120_000)
  const messages = await read(shop, holder)
  const inbound = messages.filter(({ direction }) => direction === 'inbound')
  assert.deepEqual(inbound.map(({ text }) => text).sort(), [...written].sort())
  const outbound = messages.filter(({ direction }) => direction === 'outbound')
  const known = outbound.filter((one) => one.status !== 'failed' && !isOpen(one)).map(({ text }) => text)
  assert.deepEqual(known.sort(), [...texts].sort(), 'the inbox knows what arrived, and nothing else')

  const range = (times: number[] = []) =>
    times.length === 0 ? 'none' : `${Math.round(Math.min(...times))}…${Math.round(Math.max(...times))} ms`
  t.diagnostic(`taken over: ${range(took.SIGKILL)} after a kill, ${range(took.SIGSTOP)} after a stall`)
  const unsure = sent.filter(({ isSafe }) => !isSafe)
  const answers = Object.entries(Object.groupBy(unsure, ({ status, code }) => `${status} ${code ?? ''}`))
  t.diagnostic(
    `${written.length} written, ${texts.length} sent; around the ends: ${answers.map(([status, all]) => `${all?.length} × ${status}`).join(', ')}`,
  )
})

async function startNode(env: Record<string, string>): Promise<Service> {
  const node = await startService({ folder: await newFolder(), port: await freePort(), env })
  atEnd(async () => {
    node.kill('SIGCONT')
    node.kill()
    await node.gone
  })
  return node
}

interface Shop {
  workspaceId: string
  connectionId: string
  key: string
}

async function connect(node: Service, network: QrNetwork): Promise<Shop> {
  const teamUrl = `${node.url}/api/team/v1/workspaces`
  const { workspace } = (await call(teamUrl, operatorToken, { body: { name: 'Shop' } })).body
  const path = `${teamUrl}/${workspace.id}`
  const scopes = ['inbox.read', 'inbox.write']
  const { value } = (await call(`${path}/keys`, operatorToken, { body: { name: 'Agent', scopes } })).body
  const input = { channel: 'unofficial', name: 'Shop', baseUrl: network.simulator.url }
  const made = await call(`${path}/connections`, operatorToken, { body: input })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const connectionId = made.body.connection.id as string
  const session = async () =>
    (await call(`${path}/connections/${connectionId}/session`, operatorToken)).body.session as Loose
  await call(`${path}/connections/${connectionId}/pair`, operatorToken, { body: { method: 'qr' } })
  await until(async () => (await session()).qr !== null, 'a QR code')
  assert.equal((await network.scan((await session()).qr)).status, 200)
  await until(async () => (await session()).state === 'open', 'an open session')
  return { workspaceId: workspace.id, connectionId, key: value }
}

/** What the answer was; 0 when the process ended before it gave one. */
async function post(
  node: Service,
  shop: Shop,
  conversationId: string,
  text: string,
): Promise<{ status: number; isSent: boolean; code: string | null }> {
  const url = `${node.url}/api/v1/inbox/conversations/${conversationId}/messages`
  const headers = { 'idempotency-key': randomUUID() }
  const answer = await call(url, shop.key, { body: { kind: 'text', text }, headers }).catch(() => null)
  const { status: outcome, data } = answer?.body ?? {}
  return { status: answer?.status ?? 0, isSent: outcome === 'sent', code: data?.code ?? null }
}

async function list(shop: Shop, node: Service): Promise<Loose[]> {
  return (await call(`${node.url}/api/v1/inbox/conversations?limit=100`, shop.key)).body.conversations
}

async function read(shop: Shop, node: Service): Promise<Loose[]> {
  const conversations = await list(shop, node)
  const all = conversations.map(async ({ id }) => {
    const url = `${node.url}/api/v1/inbox/conversations/${id}/messages?limit=100`
    const messages: Loose[] = []
    for (let hasMore = true; hasMore; ) {
      const before = messages.length === 0 ? '' : `&before=${encodeURIComponent(messages[0].occurred_at)}`
      const { body } = await call(`${url}${before}`, shop.key)
      messages.unshift(...body.messages)
      hasMore = body.has_more
    }
    return messages
  })
  return (await Promise.all(all)).flat()
}

async function call(
  url: string,
  token: string,
  { body, headers = {} }: { body?: object; headers?: Record<string, string> } = {},
): Promise<{ status: number; body: Loose }> {
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: await response.json() }
}
