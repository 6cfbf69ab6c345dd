import type { FastifyInstance } from 'fastify'
import type { Run } from './baseline-db.ts'

interface Query {
  term: string
  sort: 'created_at' | 'updated_at'
  status?: string
  /** Cursor of the page; without it the total is counted. */
  time?: string
  id?: string
  total?: string
}

/** Registers search over plain text: one trigram index over all searched columns, PostgreSQL's fastest. */
export function serveSearchBaseline(app: FastifyInstance, read: Run): void {
  const columns = `
    id, unique_code as "uniqueCode", external_ref as "externalRef", first_name as "firstName",
    last_name as "lastName", email, phone, status, priority, source, ad_platform as "adPlatform",
    assigned_to as "assignedTo", estimated_value::float8 as "estimatedValue", actual_value::float8 as "actualValue",
    notes, created_at as "createdAt", updated_at as "updatedAt", deleted_at as "deletedAt"`
  app.get<{ Querystring: Query }>('/search', async ({ query }) => {
    const { term, status, time, id = '' } = query
    const sort = query.sort === 'created_at' ? 'created_at' : 'updated_at'
    const values = [`%${term}%`]
    const place = (value: string) => `$${values.push(value)}`
    const matches = `
      workspace_id = 1 and deleted_at is null and haystack like $1
      ${status === undefined ? '' : `and status = ${place(status)}`}`
    const total = query.total === undefined ? null : { matches, values: [...values] }
    const after = time === undefined ? '' : `and (${sort}, id) < (${place(time)}::timestamptz, ${place(id)}::uuid)`
    const [rows, counted] = await Promise.all([
      read(
        `select ${columns} from floor_leads where ${matches} ${after}
        order by ${sort} desc, id desc limit 51`,
        values,
      ),
      total === null
        ? []
        : read<{ total: number }>(
            `select count(*)::integer as total from floor_leads where ${total.matches}`,
            total.values,
          ),
    ])
    return { success: true, data: rows.slice(0, 50), pagination: { limit: 50, total: counted[0]?.total } }
  })
}
