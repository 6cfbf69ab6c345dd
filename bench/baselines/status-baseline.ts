import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { appSecret } from '../inbox-seed.ts'
import type { Run } from './baseline-db.ts'

interface CallbackBody {
  entry: { changes: { value: { statuses: { id: string; status: string; timestamp: string }[] } }[] }[]
}

const ladder = ['sent', 'delivered', 'read']

/** Registers the baseline of statuses: one statement advances messages and stores an encrypted event for each. */
export function serveStatuses(app: FastifyInstance, write: Run, seal: (text: string) => Buffer): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.post<{ Body: Buffer }>('/statuses', async (request, reply) => {
    const given = Buffer.from(String(request.headers['x-hub-signature-256']).slice(7), 'hex')
    const wanted = createHmac('sha256', appSecret).update(request.body).digest()
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return reply.code(401).send()
    const told = JSON.parse(request.body.toString()) as CallbackBody
    const statuses = told.entry.flatMap(({ changes }) => changes.flatMap(({ value }) => value.statuses))
    const rows = statuses.map(({ id, status, timestamp }) => ({
      event: randomUUID(),
      external: id,
      status,
      below: ladder.slice(0, ladder.indexOf(status)),
      body: `\\x${seal(JSON.stringify({ id, status, at: new Date(Number(timestamp) * 1000) })).toString('hex')}`,
    }))
    await write(
      `with r as (
        select * from jsonb_to_recordset($1::text::jsonb)
          as r (event uuid, external text, status text, below text[], body bytea)
      ),
      m as (
        update floor_messages f
        set status = r.status
        from r
        where f.workspace_id = 1
          and f.external_id = r.external
          and f.status = any (r.below)
        returning r.event, r.body
      )
      insert into floor_events (id, body) select event, body from m`,
      [JSON.stringify(rows)],
    )
    return { success: true }
  })
}
