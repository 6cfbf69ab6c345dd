import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import { Agent, request as httpRequest } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { appSecret } from '../inbox-seed.ts'
import type { BaselineDb, Run } from './baseline-db.ts'
import { serveFeedBaseline } from './feed-baseline.ts'
import { serveStatuses } from './status-baseline.ts'

const agent = new Agent({ keepAlive: true, maxSockets: 64 })

/** Registers the baseline of the inbox's work. */
export function serveInboxBaseline(
  app: FastifyInstance,
  db: BaselineDb,
  seal: (text: string) => Buffer,
  platformPort: number,
) {
  serveLists(app, db.read)
  serveFeedBaseline(app, db.read)
  serveSend(app, db.write, platformPort)
  app.register(async (scope) => serveWebhook(scope, db.write, seal))
  app.register(async (scope) => serveStatuses(scope, db.write, seal))
}

function serveLists(app: FastifyInstance, read: Run): void {
  app.get('/conversations', async () => {
    const rows = await read(`
      select id, connection_id, channel, owner, status, assigned_to as assigned_to_user_id, label_ids, unread_count,
        window_expires_at, snoozed_until, last_message_at, updated_at, json_build_object('name', name, 'phone', phone) as contact
      from floor_conversations where workspace_id = 1 order by updated_at desc, id desc limit 31`)
    return { conversations: rows.slice(0, 30), cursor: null }
  })
  app.get<{ Params: { id: string } }>('/conversations/:id/messages', async (request) => {
    const rows = await read(
      `select id, external_id, direction, kind, text, null as media, status, null as error_code, null as actor,
        occurred_at, null as referral
      from floor_messages where workspace_id = 1 and conversation_id = $1
      order by occurred_at desc limit 51`,
      [request.params.id],
    )
    return { messages: rows.slice(0, 50).reverse(), has_more: rows.length > 50 }
  })
}

function serveSend(app: FastifyInstance, write: Run, platformPort: number): void {
  app.post<{ Params: { id: string }; Body: { text: string } }>(
    '/conversations/:id/messages',
    async (request, reply) => {
      const id = randomUUID()
      await write(
        `insert into floor_messages (workspace_id, id, conversation_id, direction, kind, text, status, occurred_at)
        values (1, $1, $2, 'outbound', 'text', $3, 'pending', now())`,
        [id, request.params.id, request.body.text],
      )
      const externalId = `${await callPlatform(platformPort, request.body.text)}.${id}`
      await write(`update floor_messages set status = 'sent', external_id = $1 where workspace_id = 1 and id = $2`, [
        externalId,
        id,
      ])
      reply.code(202)
      return { message_id: id, status: 'sent' }
    },
  )
}

function callPlatform(port: number, text: string): Promise<string> {
  const body = JSON.stringify({
    messaging_product: 'whatsapp',
    to: '+5511900000000',
    type: 'text',
    text: { body: text },
  })
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  return new Promise((resolve, reject) => {
    const call = httpRequest(
      { port, host: '127.0.0.1', method: 'POST', path: '/messages', agent, headers },
      (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString()).messages[0].id))
      },
    )
    call.on('error', reject)
    call.end(body)
  })
}

interface CallbackBody {
  entry: {
    changes: { value: { messages: { from: string; id: string; timestamp: string; text: { body: string } }[] } }[]
  }[]
}

function serveWebhook(app: FastifyInstance, write: Run, seal: (text: string) => Buffer): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.post<{ Body: Buffer }>('/webhook', async (request, reply) => {
    const given = Buffer.from(String(request.headers['x-hub-signature-256']).slice(7), 'hex')
    const wanted = createHmac('sha256', appSecret).update(request.body).digest()
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return reply.code(401).send()
    const told = JSON.parse(request.body.toString()) as CallbackBody
    const messages = told.entry.flatMap(({ changes }) => changes.flatMap(({ value }) => value.messages))
    const rows = messages.map(({ from, id, timestamp, text }) => ({
      id: randomUUID(),
      event: randomUUID(),
      conversation: `00000000-0000-4000-8000-${from.slice(-12).padStart(12, '0')}`,
      external: id,
      text: text.body,
      at: new Date(Number(timestamp) * 1000).toISOString(),
      body: `\\x${seal(JSON.stringify({ from, text })).toString('hex')}`,
    }))
    await write(
      `with r as (
        select * from jsonb_to_recordset($1::text::jsonb)
          as r (id uuid, event uuid, conversation uuid, external text, text text, at timestamptz, body bytea)
      ),
      m as (
        insert into floor_messages
        select 1, id, conversation, external, 'inbound', 'text', text, 'delivered', at from r
      )
      insert into floor_events (id, body) select event, body from r`,
      [JSON.stringify(rows)],
    )
    return { success: true }
  })
}
