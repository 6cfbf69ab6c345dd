// Lowest possible cost of the same work: bare Fastify and pipelined `pg` on plain columns, without keys, scopes,
// limits, validation, logs, event bodies or search. Run by run.ts in a process of its own.
import { createCipheriv, randomBytes, randomUUID } from 'node:crypto'
import fastify from 'fastify'
import { openBaselineDb } from './baseline-db.ts'
import { serveInboxBaseline } from './inbox-baseline.ts'
import { serveSearchBaseline } from './search-baseline.ts'

const { PLATFORM_PORT = '0' } = process.env
const db = await openBaselineDb()
const app = fastify()
const key = randomBytes(32)

const columns = `
  id, unique_code as "uniqueCode", external_ref as "externalRef", first_name as "firstName",
  last_name as "lastName", email, phone, status, priority, source, ad_platform as "adPlatform",
  assigned_to as "assignedTo", estimated_value::float8 as "estimatedValue", actual_value::float8 as "actualValue", notes,
  created_at as "createdAt", updated_at as "updatedAt", deleted_at as "deletedAt"`

app.get<{ Params: { id: string } }>('/leads/:id', async (request) => {
  const [lead] = await db.read(`select ${columns} from floor_leads where workspace_id = 1 and id = $1`, [
    request.params.id,
  ])
  return { success: true, data: lead }
})

app.get<{ Querystring: { status: string } }>('/leads', async (request) => {
  const { status } = request.query
  const [rows, count] = await Promise.all([
    db.read(
      `select ${columns} from floor_leads where workspace_id = 1 and deleted_at is null and status = $1
      order by created_at desc, id desc limit 51`,
      [status],
    ),
    db.read<{ total: number }>(
      `select count(*)::integer as total from floor_leads
      where workspace_id = 1 and deleted_at is null and status = $1`,
      [status],
    ),
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
  await db.write(
    `with l as (
      insert into floor_created (workspace_id, id, status, person, created_at, updated_at)
      values (1, $1, $2, $3, now(), now())
    )
    insert into floor_outbox (id, body) values ($4, $5)`,
    [lead.id, lead.status, seal(JSON.stringify(lead)), randomUUID(), seal(JSON.stringify(lead))],
  )
  return { success: true, data: lead, lead }
})

const findForUpdate = `
  select ${columns} from floor_leads where workspace_id = 1 and external_ref = $1 for update`
const addToOutbox = 'insert into floor_outbox (id, body) values ($1, $2)'

app.post<{ Body: { externalRef: string; status: string } }>('/leads/upsert', async (request) => {
  const { externalRef, status } = request.body
  const lead = await db.tx(async ({ run, commit }) => {
    const [row] = await run<{ id: string }>(findForUpdate, [externalRef])
    await Promise.all([
      run('update floor_leads set status = $1, updated_at = now() where workspace_id = 1 and id = $2', [
        status,
        row?.id,
      ]),
      run(addToOutbox, [randomUUID(), seal(JSON.stringify(row))]),
      commit(),
    ])
    return row
  })
  return { success: true, data: lead, lead }
})

interface BulkBody {
  items: { match: { value: string }; lead: Body & { priority: string; source: string; estimatedValue: number } }[]
}

/** Returns trigram tokens of words: the cheapest possible search index. */
function tokensOf(text: string): number[] {
  const tokens = new Set<number>()
  for (let at = 0; at + 3 <= text.length; at++) {
    const [a = 0, b = 0, c = 0] = [text.charCodeAt(at), text.charCodeAt(at + 1), text.charCodeAt(at + 2)]
    tokens.add(Math.imul((a << 16) ^ (b << 8) ^ c, 0x9e3779b1))
  }
  return [...tokens]
}

const fieldsOf = ({ lead }: BulkBody['items'][number]) => [
  ...[lead.firstName, lead.lastName, lead.email, lead.phone, lead.status, lead.priority, lead.source],
  ...[lead.estimatedValue, new Date()],
]

// Processes items one by one, like a first implementation: select, then insert or update, with search tokens and an
// event.
app.post<{ Body: BulkBody }>('/leads/bulk-upsert', async (request) => {
  const results = await db.tx(async ({ run, commit }) => {
    const done: string[] = []
    for (const item of request.body.items) {
      const { match, lead } = item
      const { value } = match
      const [row] = await run<{ id: string }>(findForUpdate, [value])
      const id = row?.id ?? randomUUID()
      if (row === undefined) {
        await run(
          `insert into floor_leads (
            first_name, last_name, email, phone, status, priority, source, estimated_value, updated_at,
            workspace_id, id, unique_code, external_ref, created_at
          )
          values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 1, $10, $11, $12, $13)`,
          [...fieldsOf(item), id, id, value, new Date()],
        )
      } else {
        await run(
          `update floor_leads
          set first_name = $1, last_name = $2, email = $3, phone = $4, status = $5, priority = $6, source = $7,
            estimated_value = $8, updated_at = $9
          where workspace_id = 1 and id = $10`,
          [...fieldsOf(item), id],
        )
      }
      const { firstName, lastName, email, phone } = lead
      await run(
        `insert into floor_tokens (id, tokens) values ($1, $2::integer[])
        on conflict (id) do update set tokens = excluded.tokens`,
        [id, tokensOf(`${firstName} ${lastName} ${email} ${phone} ${value}`)],
      )
      await run(addToOutbox, [randomUUID(), seal(JSON.stringify({ id, ...lead }))])
      done.push(id)
    }
    await commit()
    return done
  })
  return { success: true, results }
})

serveInboxBaseline(app, db, seal, Number(PLATFORM_PORT))
serveSearchBaseline(app, db.read)

const address = await app.listen({ port: 0, host: '127.0.0.1' })
process.stdout.write(`ready ${new URL(address).port}\n`)
