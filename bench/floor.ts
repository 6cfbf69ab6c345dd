// The least that the same work can cost: bare Fastify and postgres.js on plain columns, without keys, scopes, limits,
// checks, logs, events' bodies or search. Run by run.ts in a process of its own.
import { createCipheriv, randomBytes, randomUUID } from 'node:crypto'
import fastify from 'fastify'
import postgres from 'postgres'
import { serveInboxFloor } from './inbox-floor.ts'
import { serveSearchFloor } from './search-floor.ts'

const { PG_SOCKET = '', PG_DATABASE = 'parley', PLATFORM_PORT = '0' } = process.env
const sql = postgres({
  path: `${PG_SOCKET}/.s.PGSQL.5432`,
  database: PG_DATABASE,
  user: 'parley',
  max: 10,
  onnotice: () => {},
})
const app = fastify()
const key = randomBytes(32)

const columns = sql`
  id, unique_code as "uniqueCode", external_ref as "externalRef", first_name as "firstName",
  last_name as "lastName", email, phone, status, priority, source, ad_platform as "adPlatform",
  assigned_to as "assignedTo", estimated_value::float8 as "estimatedValue", actual_value::float8 as "actualValue", notes,
  created_at as "createdAt", updated_at as "updatedAt", deleted_at as "deletedAt"`

app.get<{ Params: { id: string } }>('/leads/:id', async (request) => {
  const [lead] = await sql`select ${columns} from floor_leads where workspace_id = 1 and id = ${request.params.id}`
  return { success: true, data: lead }
})

app.get<{ Querystring: { status: string } }>('/leads', async (request) => {
  const { status } = request.query
  const [rows, count] = await Promise.all([
    sql`
      select ${columns} from floor_leads where workspace_id = 1 and deleted_at is null and status = ${status}
      order by created_at desc, id desc limit 51`,
    sql`
      select count(*)::integer as total from floor_leads
      where workspace_id = 1 and deleted_at is null and status = ${status}`,
  ])
  return { success: true, data: rows.slice(0, 50), pagination: { page: 1, limit: 50, total: count[0]?.total } }
})

function seal(text: string): Buffer {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  return Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()])
}

interface Body {
  firstName: string
  lastName: string
  email: string
  phone: string
  status: string
}

app.post<{ Body: Body }>('/leads', async (request) => {
  const lead = { id: randomUUID(), ...request.body }
  await sql`
    with l as (
      insert into floor_created (workspace_id, id, status, person, created_at, updated_at)
      values (1, ${lead.id}, ${lead.status}, ${seal(JSON.stringify(lead))}, now(), now())
    )
    insert into floor_outbox (id, body) values (${randomUUID()}, ${seal(JSON.stringify(lead))})`
  return { success: true, data: lead, lead }
})

app.post<{ Body: { externalRef: string; status: string } }>('/leads/upsert', async (request) => {
  const { externalRef, status } = request.body
  const lead = await sql.begin(async (tx) => {
    const [row] = await tx`
      select ${columns} from floor_leads where workspace_id = 1 and external_ref = ${externalRef} for update`
    await Promise.all([
      tx`update floor_leads set status = ${status}, updated_at = now() where workspace_id = 1 and id = ${row?.id}`.execute(),
      tx`insert into floor_outbox (id, body) values (${randomUUID()}, ${seal(JSON.stringify(row))})`.execute(),
    ])
    return row
  })
  return { success: true, data: lead, lead }
})

interface BulkBody {
  items: { match: { value: string }; lead: Body & { priority: string; source: string; estimatedValue: number } }[]
}

/** The cheapest that a search index of words in three-letter pieces can be. */
function tokensOf(text: string): number[] {
  const tokens = new Set<number>()
  for (let at = 0; at + 3 <= text.length; at++) {
    const [a = 0, b = 0, c = 0] = [text.charCodeAt(at), text.charCodeAt(at + 1), text.charCodeAt(at + 2)]
    tokens.add(Math.imul((a << 16) ^ (b << 8) ^ c, 0x9e3779b1))
  }
  return [...tokens]
}

// Item after item, as one writes it at first: look, then insert or update, with search tokens and an event.
app.post<{ Body: BulkBody }>('/leads/bulk-upsert', async (request) => {
  const results = await sql.begin(async (tx) => {
    const done: string[] = []
    for (const { match, lead } of request.body.items) {
      const { value } = match
      const [row] = await tx<{ id: string }[]>`
        select ${columns} from floor_leads where workspace_id = 1 and external_ref = ${value} for update`
      const id = row?.id ?? randomUUID()
      const { firstName, lastName, email, phone, status, priority, source, estimatedValue } = lead
      const sent = { first_name: firstName, last_name: lastName, email, phone, status, priority, source }
      const fields = { ...sent, estimated_value: estimatedValue, updated_at: new Date() }
      const names = { workspace_id: 1, id, unique_code: id, external_ref: value, created_at: new Date() }
      if (row === undefined) await tx`insert into floor_leads ${tx({ ...fields, ...names })}`
      else await tx`update floor_leads set ${tx(fields)} where workspace_id = 1 and id = ${id}`
      await tx`
        insert into floor_tokens (id, tokens) values (${id}, ${tokensOf(`${firstName} ${lastName} ${email} ${phone} ${value}`)}::integer[])
        on conflict (id) do update set tokens = excluded.tokens`
      await tx`insert into floor_outbox (id, body) values (${randomUUID()}, ${seal(JSON.stringify({ id, ...lead }))})`
      done.push(id)
    }
    return done
  })
  return { success: true, results }
})

serveInboxFloor(app, sql, seal, Number(PLATFORM_PORT))
serveSearchFloor(app, sql)

const address = await app.listen({ port: 0, host: '127.0.0.1' })
process.stdout.write(`ready ${new URL(address).port}\n`)
