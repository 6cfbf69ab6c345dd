import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { bytesOf, change, payload, signatureOf } from '../channels/waba-payloads.ts'
import { databaseSettings, type TestDatabase, testDatabase } from '../database.ts'
import { atEnd, oncePerFile } from '../file-lifecycle.ts'
import { sendPlatform } from '../inbox/send-platform.ts'
import { ask, clockAhead, operatorToken, type Reply, type Service, startService } from './service.ts'

export type NodesWorld = Awaited<ReturnType<typeof nodesWorld>>

export interface ChatNumber {
  id: string
  numberId: string
}

export interface Customer {
  conversationId: string
  phone: string
  connection: ChatNumber
}

/** Minutes by which the clock of every other process is ahead of the first one's. */
const aheadMinutes = Number(process.env.CLOCK_AHEAD_MINUTES ?? 0)
const appSecret = 'an-app-secret-of-16'
const masterKey = randomBytes(32).toString('base64')
let people = 0

/** Creates a workspace on the two processes of this test file, with this many connections to its platform. */
export async function nodesWorld(connectionCount: number) {
  const started = await startedNodes()
  const { url } = started.nodes[0]
  const team = async (path: string, body: object) => {
    const reply = await ask(url, operatorToken, `POST /api/team/v1/workspaces${path}`, body)
    assert.equal(reply.status, 201, reply.text)
    return reply.body
  }
  const { workspace } = await team('', { name: 'Two nodes' })
  const workspaceId: string = workspace.id
  const { key, value } = await team(`/${workspaceId}/keys`, { name: 'Agent', scopes: ['inbox.read', 'inbox.write'] })
  const connect = async (_: unknown, n: number): Promise<ChatNumber> => {
    const settings = { accessToken: 'an-access-token-of-24-chars', appSecret, baseUrl: started.platform.baseUrl }
    const numberId = `7001${Date.now()}${n}`
    const { connection } = await team(`/${workspaceId}/connections`, {
      ...{ channel: 'waba', name: 'Sales', numberId, ...settings },
    })
    return { id: connection.id, numberId }
  }
  const connections = await Promise.all(Array.from({ length: connectionCount }, connect))
  return {
    ...started,
    workspaceId,
    connections,
    /** Creates a conversation owned by the key for each new customer, distributed over the connections. */
    customers: (count: number) => addCustomers(started.nodes, connections, { id: key.id, value }, count),
    send: (node: Service, id: string, idempotencyKey: string, text: string) => {
      const what = `POST /api/v1/inbox/conversations/${id}/messages`
      return ask(node.url, value, what, { kind: 'text', text }, { 'idempotency-key': idempotencyKey })
    },
    /** Calls the team API for one conversation. */
    act: (node: Service, id: string, action: 'take-over' | 'hand-back') => {
      const what = `POST /api/team/v1/workspaces/${workspaceId}/inbox/conversations/${id}/${action}`
      return ask(node.url, operatorToken, what, action === 'hand-back' ? { keyId: key.id } : undefined)
    },
    callback,
  }
}

const startedNodes = oncePerFile(async () => {
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
    await Promise.all(running.map(({ exited }) => exited))
    await platform.close()
  })
  // In sequence: freePort guarantees a port only for the moment.
  const nodes: [Service, Service] = [await addNode(), await addNode()]
  return { db: database.db, platform, nodes, addNode }
})

/** Allows a platform on loopback, as for a simulator. */
export function nodeSettings(database: TestDatabase): Record<string, string> {
  return {
    ...databaseSettings(database),
    PARLEY_MASTER_KEY: masterKey,
    PARLEY_INBOX_RATE_LIMIT: '0',
    PARLEY_SIMULATOR: '1',
    PARLEY_SIMULATOR_PORT: '0',
  }
}

async function addCustomers(
  [first, second]: [Service, Service],
  connections: ChatNumber[],
  key: { id: string; value: string },
  count: number,
): Promise<Customer[]> {
  const found: Customer[] = []
  for (const [n, connection] of connections.entries()) {
    const phones = Array.from({ length: Math.ceil((count - n) / connections.length) }, newPhone)
    const messages = phones.map((phone) => inboundText(`wamid.IN.${phone}`, phone, Math.floor(Date.now() / 1000)))
    assert.equal((await callback(first, connection, callbackOf(connection, { messages }))).status, 200)
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: string = `connection_id=${connection.id}&limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`
      const { body }: Reply = await ask(second.url, key.value, `GET /api/v1/inbox/conversations?${query}`)
      for (const { id: conversationId, contact, owner } of body.conversations) {
        assert.equal(owner, `agent:${key.id}`)
        if (phones.includes(contact.phone)) found.push({ conversationId, phone: contact.phone, connection })
      }
      cursor = body.cursor
    }
  }
  assert.equal(found.length, count)
  return found
}

const newPhone = () => `4420795${String(++people).padStart(5, '0')}`

export function inboundText(id: string, from: string, timestamp: number): Record<string, unknown> {
  return { id, from, timestamp: String(timestamp), type: 'text', text: { body: `Hello from ${id}` } }
}

/** Returns a callback of this number with these lists of items. */
export function callbackOf({ numberId }: ChatNumber, lists: object): Record<string, unknown> {
  const metadata = { display_phone_number: '4930123456', phone_number_id: numberId }
  return payload(change('messages', { messaging_product: 'whatsapp', metadata, ...lists }))
}

/** Posts a signed callback of this number. */
async function callback(node: Service, { id }: ChatNumber, body: object | Buffer) {
  const bytes = Buffer.isBuffer(body) ? body : bytesOf(body)
  const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signatureOf(appSecret, bytes) }
  const init = { method: 'POST', headers, body: bytes.toString() }
  const response = await fetch(`${node.url}/channels/waba/${id}/webhook`, init)
  return { status: response.status, text: await response.text() }
}
