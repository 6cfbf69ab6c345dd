import type { FastifyInstance } from 'fastify'
import type postgres from 'postgres'

interface Query {
  term: string
  sort: 'created_at' | 'updated_at'
  status?: string
  /** Where a page begins: without it the total is counted. */
  time?: string
  id?: string
  total?: string
}

/** Search over plain text: one trigram index over everything that is searched, which is the quickest PostgreSQL has. */
export function serveSearchFloor(app: FastifyInstance, sql: postgres.Sql): void {
  const columns = sql`
    id, unique_code as "uniqueCode", external_ref as "externalRef", first_name as "firstName",
    last_name as "lastName", email, phone, status, priority, source, ad_platform as "adPlatform",
    assigned_to as "assignedTo", estimated_value::float8 as "estimatedValue", actual_value::float8 as "actualValue",
    notes, created_at as "createdAt", updated_at as "updatedAt", deleted_at as "deletedAt"`
  app.get<{ Querystring: Query }>('/search', async ({ query }) => {
    const { term, status, time, id } = query
    const sort = sql(query.sort)
    const pattern = `%${term}%`
    const matches = sql`
      workspace_id = 1 and deleted_at is null and haystack like ${pattern}
      ${status === undefined ? sql`` : sql`and status = ${status}`}`
    const after = time === undefined ? sql`` : sql`and (${sort}, id) < (${time}::timestamptz, ${id ?? ''}::uuid)`
    const [rows, counted] = await Promise.all([
      sql`
        select ${columns} from floor_leads where ${matches} ${after}
        order by ${sort} desc, id desc limit 51`,
      query.total === undefined ? [] : sql`select count(*)::integer as total from floor_leads where ${matches}`,
    ])
    return { success: true, data: rows.slice(0, 50), pagination: { limit: 50, total: counted[0]?.total } }
  })
}
