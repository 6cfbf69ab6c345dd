import { createHmac } from 'node:crypto'
import type { Db } from '../../server/src/base/db.ts'
import { fillMessages } from '../../server/test/support/fill.ts'
import type { Contest } from '../contest.ts'
import { fillInboxFloor, floorConversation, makeInboxFloor } from '../floors/inbox-floor-tables.ts'
import { appSecret, customerPhone, fillingOf, type SeededConnection, seedConnection } from '../inbox-seed.ts'
import { rawRequestBytes, requestBytes } from '../load.ts'
import type { BenchWorkspace } from '../workspace.ts'

// A number sends 70 messages a second: many of them, so that it is not this pace that is measured.
const connectionCount = 64
const conversationsEach = 400
const messagesEach = 60

/** Fills the workspace with conversations and answers what the inbox competes in. */
export async function inboxContests(db: Db, workspace: BenchWorkspace, platformPort: number): Promise<Contest[]> {
  const filling = await fillingOf(db, workspace)
  const connections: SeededConnection[] = []
  for (let n = 0; n < connectionCount; n++) {
    connections.push(await seedConnection(filling, workspace, platformPort, conversationsEach))
  }
  const readable = connections.flatMap(({ conversations }) => conversations.slice(0, 4))
  for (const { id, conversations } of connections) {
    await fillMessages(filling, id, conversations.slice(0, 4), messagesEach)
  }
  await makeInboxFloor(db)
  await fillInboxFloor(db, connectionCount * conversationsEach, readable.length, messagesEach)
  await db.sql`vacuum analyze`
  const { key } = workspace
  return [
    intake(db, connections, 1, undefined),
    intake(db, connections, 100, 8),
    ...lists(key, readable),
    sends(db, key, connections),
  ]
}

function intake(db: Db, connections: readonly SeededConnection[], batch: number, width: number | undefined): Contest {
  const signed = (n: number, pathOf: (connection: SeededConnection) => string) => {
    const connection = connections[n % connections.length] as SeededConnection
    const payload = JSON.stringify(callback(connection, n, batch))
    const signature = `sha256=${createHmac('sha256', appSecret).update(payload).digest('hex')}`
    return rawRequestBytes('POST', pathOf(connection), { 'x-hub-signature-256': signature }, payload)
  }
  return {
    name: `webhook with ${batch === 1 ? 'one message' : `${batch} messages`}`,
    ...(width === undefined ? {} : { connections: width }),
    product: (n) => signed(n, ({ id }) => `/channels/waba/${id}/webhook`),
    floor: (n) => signed(n, () => '/webhook'),
    verify: async (answers) => {
      expected += answers * batch
      const [row] = await db.sql<{ stored: number }[]>`
        select count(*)::integer as stored from events where name = 'inbox.message.received'`
      if ((row?.stored ?? 0) < expected) throw new Error(`${expected} messages were taken, ${row?.stored} stored`)
    },
  }
}

let runs = 0
let expected = 0

function callback({ numberId }: SeededConnection, n: number, batch: number): object {
  const run = ++runs
  const timestamp = String(Math.floor(Date.now() / 1000))
  const phones = Array.from({ length: batch }, (_, i) => customerPhone((n * 31 + i) % conversationsEach))
  const messages = phones.map((from, i) => ({
    from,
    id: `wamid.IN${run}.${i}`,
    timestamp,
    type: 'text',
    text: { body: 'Hello, is the blue one still there? I could come by tomorrow.' },
  }))
  const contacts = phones.map((phone) => ({ profile: { name: 'Ana' }, wa_id: phone }))
  const metadata = { display_phone_number: '4930123456', phone_number_id: numberId }
  const value = { messaging_product: 'whatsapp', metadata, contacts, messages }
  return { object: 'whatsapp_business_account', entry: [{ id: '1', changes: [{ field: 'messages', value }] }] }
}

function lists(key: string, readable: readonly string[]): Contest[] {
  const headers = { authorization: `Bearer ${key}` }
  const messagesPath = (n: number) => `/api/v1/inbox/conversations/${readable[n % readable.length]}/messages`
  return [
    {
      name: 'list of 30 conversations',
      product: () => requestBytes('GET', '/api/v1/inbox/conversations', headers),
      floor: () => requestBytes('GET', '/conversations', {}),
    },
    {
      name: 'list of 50 messages',
      product: (n) => requestBytes('GET', messagesPath(n), headers),
      floor: (n) => requestBytes('GET', `/conversations/${floorConversation(n % readable.length)}/messages`, {}),
    },
  ]
}

function sends(db: Db, key: string, connections: readonly SeededConnection[]): Contest {
  const body = { kind: 'text', text: 'Good morning! It is still there, and we are open until six.' }
  // Those of people, every third, are not the key's to answer.
  const own = connections.map(({ conversations }) => conversations.filter((_, n) => n % 3 !== 0))
  const conversationOf = (n: number) => {
    const ofOne = own[n % own.length] ?? []
    return ofOne[Math.floor(n / own.length) % ofOne.length]
  }
  return {
    name: 'send, platform answers at once',
    product: (n) => {
      const headers = { authorization: `Bearer ${key}`, 'idempotency-key': `bench-${n}` }
      return requestBytes('POST', `/api/v1/inbox/conversations/${conversationOf(n)}/messages`, headers, body)
    },
    floor: (n) => requestBytes('POST', `/conversations/${floorConversation(n % 20_000)}/messages`, {}, body),
    verify: async (answers) => {
      const [row] = await db.sql<{ sent: number }[]>`
        select count(*)::integer as sent
        from sends s
        join messages m on m.workspace_id = s.workspace_id and m.id = s.message_id
        where m.status = 'sent'
          and s.answer_status = 202`
      if ((row?.sent ?? 0) < answers) throw new Error(`${answers} sends were answered, ${row?.sent} of them sent`)
    },
  }
}
