import { openDb } from '../../server/src/base/db.ts'
import { migrate } from '../../server/src/base/migrate.ts'
import type { Start } from '../child.ts'
import { type Contest, type Course, compete, type Peer, type Result } from '../contest.ts'
import { printResults } from '../contest-table.ts'
import { requestBytes } from '../load.ts'
import { loadedWorkspace, markChanged } from '../load-leads.ts'
import { person } from '../people.ts'
import { type Database, placeOf } from '../place.ts'

interface Stage {
  options: Database
  start: Start
  course: Course
}

interface Side {
  peer: Peer
  key: string
  ids: string[]
  leads: number
}

/** The same work on a small workspace and on a large one, each in a database of its own. */
export async function runGrowth({ options, start, course }: Stage, leadCount: number): Promise<Result[]> {
  const few = Math.min(10_000, leadCount / 2)
  const many = await openSide(options, leadCount)
  const small = await openSide({ ...options, database: 'parley_small' }, few)
  const course2 = { ...course, product: many.peer, other: undefined, floor: small.peer }
  const results: Result[] = []
  for (const contest of contests(many, small)) results.push(await compete(contest, course2))
  printResults(`growth (${course.connections} connections)`, results, [`${leadCount} leads`, `${few} leads`])
  return results

  async function openSide(of: Database, leads: number): Promise<Side> {
    if (of.database !== options.database) await makeDatabase(options, of.database)
    const db = openDb(of)
    await migrate(db)
    const { key, workspaceId } = await loadedWorkspace(db, of, leads)
    await markChanged(db)
    const rows = await db.sql<{ id: string }[]>`
      select id from leads where workspace_id = ${workspaceId} order by id limit 5000`
    await db.close()
    const place = placeOf(of)
    const peer = await start('product.ts', leads > few ? { ...place, WARM: workspaceId } : place)
    return { peer, key, leads, ids: rows.map(({ id }) => id) }
  }
}

async function makeDatabase(options: Database, name: string): Promise<void> {
  const { sql, close } = openDb({ ...options, maxConnections: 1 })
  const known = await sql`select 1 from pg_database where datname = ${name}`
  if (known.length === 0) await sql.unsafe(`create database ${name}`)
  await close()
}

function contests(many: Side, small: Side): Contest[] {
  const both = (name: string, request: (side: Side, n: number) => Buffer): Contest => ({
    name,
    product: (n) => request(many, n),
    floor: (n) => request(small, n),
  })
  const headers = ({ key }: Side) => ({ authorization: `Bearer ${key}` })
  return [
    both('GET lead by id', (side, n) =>
      requestBytes('GET', `/api/v1/leads/${side.ids[n % side.ids.length]}`, headers(side)),
    ),
    both('first page of 50, exact total', (side) => requestBytes('GET', '/api/v1/leads?limit=50', headers(side))),
    both('create', (side, n) => {
      const { firstName, lastName, email, phone, status } = person(side.leads + n)
      return requestBytes('POST', '/api/v1/leads', headers(side), { firstName, lastName, email, phone, status })
    }),
    both('upsert of an existing lead', (side, n) => {
      const value = `crm-${(n * 7919) % side.leads}`
      // Another one each time that a lead has its turn again: what changes nothing is not written.
      const lead = { status: Math.floor(n / side.leads) % 2 === 0 ? 'lost' : 'won' }
      return requestBytes('POST', '/api/v1/leads/upsert', headers(side), { match: { by: 'externalRef', value }, lead })
    }),
  ]
}
