import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { Db } from '../../../src/base/db.ts'
import { bytesOf, change, payload, signatureOf } from '../channels/waba-payloads.ts'
import { databaseSettings, type TestDatabase, testDatabase } from '../database.ts'
import { atEnd, oncePerFile } from '../file-end.ts'
import { type SendPlatform, sendPlatform } from '../inbox/send-platform.ts'
import { ask, clockAhead, operatorToken, type Reply, type Service, startService } from './service.ts'

interface Nodes {
  db: Db
  platform: SendPlatform
  nodes: [Service, Service]
  addNode(): Promise<Service>
}

/** A workspace that both nodes serve. */
export interface NodesWorld extends Nodes {
  workspaceId: string
  key: { id: string; value: string }
  connections: ChatNumber[]
  /** A conversation that the key owns, for each of so many new customers; spread over the connections. */
  customers(count: number): Promise<Customer[]>
  send(node: Service, conversationId: string, idempotencyKey: string, text: string): Promise<Reply>
  /** The team's call for one conversation. */
  act(node: Service, conversationId: string, action: 'take-over' | 'hand-back'): Promise<Reply>
  /** Posts a signed callback of this number. */
  callback(node: Service, number: ChatNumber, body: object | Buffer): Promise<Pick<Reply, 'status' | 'text'>>
}

export interface ChatNumber {
  id: string
  numberId: string
}

export interface Customer {
  conversationId: string
  phone: string
  connection: ChatNumber
}

/** How far the clock of every other process is ahead of the first one's. */
const aheadMinutes = Number(process.env.CLOCK_AHEAD_MINUTES ?? 0)
const appSecret = 'an-app-secret-of-16'
const masterKey = randomBytes(32).toString('base64')
let people = 0

/** A new workspace on the two processes of this test file, with so many connections to its platform. */
export async function nodesWorld(connectionCount: number): Promise<NodesWorld> {
  const started = await startedNodes()
  const { url } = started.nodes[0]
  const team = async (path: string, body: object) => {
    const reply = await ask(url, operatorToken, `POST /api/team/v1/workspaces${path}`, body)
    assert.equal(reply.status, 201, reply.text)
    return reply.body
  }
  const { workspace } = await team('', { name: 'Two nodes' })
  const { key, value } = await team(`/${workspace.id}/keys`, { name: 'Agent', scopes: ['inbox.read', 'inbox.write'] })
  const connections = await Promise.all(
    Array.from({ length: connectionCount }, async (_, n) => {
      const settings = { accessToken: 'an-access-token-of-24-chars', appSecret, baseUrl: started.platform.baseUrl }
      const numberId = `7001${Date.now()}${n}`
      const input = { channel: 'waba', name: 'Sales', numberId, ...settings }
      const { connection } = await team(`/${workspace.id}/connections`, input)
      assert.equal(connection.state, 'active')
      return { id: connection.id as string, numberId }
    }),
  )
  const world: NodesWorld = {
    ...started,
    workspaceId: workspace.id,
    key: { id: key.id, value },
    connections,
    customers: (count) => addCustomers(world, count),
    send: (node, id, key, text) => {
      const what = `POST /api/v1/inbox/conversations/${id}/messages`
      return ask(node.url, value, what, { kind: 'text', text }, { 'idempotency-key': key })
    },
    act: (node, id, action) => {
      const what = `POST /api/team/v1/workspaces/${workspace.id}/inbox/conversations/${id}/${action}`
      return ask(node.url, operatorToken, what, action === 'hand-back' ? { keyId: key.id } : undefined)
    },
    callback,
  }
  return world
}

const startedNodes = oncePerFile(async (): Promise<Nodes> => {
  const database = await testDatabase()
  const platform = await sendPlatform()
  const running: Service[] = []
  const addNode = async () => {
    const env = { ...nodeSettings(database), ...(running.length % 2 === 1 && clockAhead(aheadMinutes)) }
    const node = await startService({ env })
    running.push(node)
    return node
  }
  atEnd(async () => {
    for (const node of running) node.kill()
    await Promise.all(running.map(({ gone }) => gone))
    await platform.close()
  })
  // One after the other: freePort promises a port for this moment only.
  const nodes: [Service, Service] = [await addNode(), await addNode()]
  return { db: database.db, platform, nodes, addNode }
})

/** A platform on loopback is allowed beside a simulator. */
export function nodeSettings(database: TestDatabase): Record<string, string> {
  return {
    ...databaseSettings(database),
    PARLEY_MASTER_KEY: masterKey,
    PARLEY_INBOX_RATE_LIMIT: '0',
    PARLEY_SIMULATOR: '1',
    PARLEY_SIMULATOR_PORT: '0',
  }
}

async function addCustomers(world: NodesWorld, count: number): Promise<Customer[]> {
  const phones = new Map<string, ChatNumber>()
  for (const [n, connection] of world.connections.entries()) {
    const own = Array.from({ length: Math.ceil((count - n) / world.connections.length) }, newPhone)
    for (const phone of own) phones.set(phone, connection)
    const items = own.map((phone) => inboundText(`wamid.IN.${phone}`, phone, Math.floor(Date.now() / 1000)))
    const { status } = await callback(world.nodes[0], connection, callbackOf(connection, { messages: items }))
    assert.equal(status, 200)
  }
  const found: Customer[] = []
  for (const { id: connectionId } of world.connections) {
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: string = `connection_id=${connectionId}&limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`
      const page: Reply = await ask(world.nodes[1].url, world.key.value, `GET /api/v1/inbox/conversations?${query}`)
      for (const { id, contact, owner } of page.body.conversations) {
        const connection = phones.get(contact.phone)
        assert.equal(owner, `agent:${world.key.id}`)
        if (connection !== undefined) found.push({ conversationId: id, phone: contact.phone, connection })
      }
      cursor = page.body.cursor
    }
  }
  assert.equal(found.length, count)
  return found
}

const newPhone = () => `4420795${String(++people).padStart(5, '0')}`

export function inboundText(id: string, from: string, timestamp: number): Record<string, unknown> {
  return { id, from, timestamp: String(timestamp), type: 'text', text: { body: `Hello from ${id}` } }
}

/** A callback of this number with these lists of items. */
export function callbackOf({ numberId }: ChatNumber, lists: object): Record<string, unknown> {
  const metadata = { display_phone_number: '4930123456', phone_number_id: numberId }
  return payload(change('messages', { messaging_product: 'whatsapp', metadata, ...lists }))
}

async function callback(
  node: Service,
  { id }: ChatNumber,
  body: object | Buffer,
): Promise<Pick<Reply, 'status' | 'text'>> {
  const bytes = Buffer.isBuffer(body) ? body : bytesOf(body)
  const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signatureOf(appSecret, bytes) }
  const init = { method: 'POST', headers, body: bytes.toString() }
  const response = await fetch(`${node.url}/channels/waba/${id}/webhook`, init)
  return { status: response.status, text: await response.text() }
}
