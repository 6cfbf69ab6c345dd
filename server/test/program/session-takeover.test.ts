import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { atEnd, testDatabase } from '../support/database.ts'
import { newFolder } from '../support/folder.ts'
import { type QrNetwork, qrNetwork } from '../support/qr-network.ts'
import { freePort, operatorToken, type Service, startService } from '../support/service.ts'
import { nodeSettings } from '../support/two-nodes.ts'

const masterKey = randomBytes(32).toString('base64')
const patienceMs = 30_000

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape; a test fails where one is wrong
type Loose = any

test('the holder of a QR session is killed, then stalled: another holds it within 30 s, nothing is lost or doubled', async (t) => {
  const database = await testDatabase()
  const { db } = database
  const network = await qrNetwork()
  const start = async () => {
    const env = { ...nodeSettings(database), PARLEY_MASTER_KEY: masterKey }
    const node = await startService({ folder: await newFolder(), port: await freePort(), env })
    atEnd(async () => {
      node.kill('SIGCONT')
      node.kill()
      await node.gone
    })
    return node
  }
  const first = await start()
  const shop = await connect(first, network)
  await db.sql`
    update connections
    set acknowledged_at = now(), acknowledged_by = ${randomUUID()}
    where id = ${shop.connectionId}`
  const people = await Promise.all(Array.from({ length: 4 }, () => network.person()))
  const written: string[] = []
  const writes = async (text: string) => {
    for (const person of people) {
      await network.writes(person.id, `${text} ${person.phone}`)
      written.push(`${text} ${person.phone}`)
    }
  }
  const fenceOf = async () => {
    const [row] = await db.sql<{ fence: number; state: string }[]>`
      select fence, state from channel_sessions where connection_id = ${shop.connectionId}`
    return row
  }
  const isTakenOver = async (from: number) => {
    const now = await fenceOf()
    return now !== undefined && now.fence > from && now.state === 'open'
  }

  await writes('before')
  await until(async () => (await stored(db, shop)) === written.length, 'the first messages')
  const second = await start()
  const conversations = await list(shop, second)
  assert.equal(conversations.length, people.length)
  const outcomes: { text: string; status: number }[] = []
  const send = async (node: Service, id: string, text: string) => {
    const { status } = await call(`${node.url}/api/v1/inbox/conversations/${id}/messages`, shop.key, {
      body: { kind: 'text', text },
      headers: { 'idempotency-key': randomUUID() },
    })
    outcomes.push({ text, status })
  }
  const sendToAll = (node: Service, text: string) =>
    Promise.all(conversations.map(({ id }: Loose, n: number) => send(node, id, `${text} ${n}`)))

  // Killed while messages are on their way in both directions.
  const killedFence = (await fenceOf())?.fence ?? 0
  const sending = sendToAll(second, 'around the kill')
  await writes('around the kill')
  first.kill('SIGKILL')
  const killedAt = performance.now()
  await writes('after the kill')
  await until(() => isTakenOver(killedFence), 'the takeover after the kill')
  t.diagnostic(`taken over ${Math.round(performance.now() - killedAt)} ms after a kill`)
  await sending
  await sendToAll(second, 'after the kill')

  // Stalled: it wakes up after another has taken over, and must not meddle.
  const third = await start()
  const stalledFence = (await fenceOf())?.fence ?? 0
  second.kill('SIGSTOP')
  const stalledAt = performance.now()
  await writes('while stalled')
  await until(() => isTakenOver(stalledFence), 'the takeover from the stalled')
  t.diagnostic(`taken over ${Math.round(performance.now() - stalledAt)} ms after a stall`)
  const heldFence = (await fenceOf())?.fence ?? 0
  second.kill('SIGCONT')
  await writes('after the stall')
  await sendToAll(third, 'after the stall')
  await sendToAll(second, 'by the one that was stalled')
  await until(async () => (await stored(db, shop)) === written.length, 'every message of the customers')
  assert.deepEqual(await fenceOf(), { fence: heldFence, state: 'open' })

  const seen = (await read(shop, third.url)).filter(({ direction }) => direction === 'inbound')
  assert.deepEqual(seen.map(({ text }) => text).sort(), [...written].sort())
  const truth = (await Promise.all(people.map(({ id }) => network.chat(id)))).flat()
  const arrived = truth.filter(({ from }: Loose) => from === 'business').map(({ text }: Loose) => text as string)
  assert.equal(new Set(arrived).size, arrived.length, 'nothing arrived twice')
  for (const { text, status } of outcomes) {
    if (status === 202) assert.ok(arrived.includes(text), `${text} was said to be sent`)
  }
  const safe = outcomes.filter(({ text }) => !text.startsWith('around'))
  assert.deepEqual(new Set(safe.map(({ status }) => status)), new Set([202]))
  t.diagnostic(
    `around the kill: ${outcomes.filter(({ text }) => text.startsWith('around')).map(({ status }) => status)}`,
  )
})

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

async function list(shop: Shop, node: Service): Promise<Loose[]> {
  return (await call(`${node.url}/api/v1/inbox/conversations?limit=100`, shop.key)).body.conversations
}

async function read(shop: Shop, url: string): Promise<Loose[]> {
  const { conversations } = (await call(`${url}/api/v1/inbox/conversations?limit=100`, shop.key)).body
  const pages = await Promise.all(
    conversations.map(({ id }: Loose) => call(`${url}/api/v1/inbox/conversations/${id}/messages?limit=100`, shop.key)),
  )
  return pages.flatMap(({ body }) => body.messages)
}

async function stored({ sql }: Awaited<ReturnType<typeof testDatabase>>['db'], shop: Shop): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*) as count
    from messages
    where workspace_id = ${shop.workspaceId}
      and direction = 'inbound'`
  return row?.count ?? 0
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

async function until(isSo: () => Promise<boolean>, what: string): Promise<void> {
  const endsAt = performance.now() + patienceMs
  while (!(await isSo())) {
    if (performance.now() > endsAt) assert.fail(`Within ${patienceMs} ms there was no sign of ${what}`)
    await sleep(50)
  }
}
