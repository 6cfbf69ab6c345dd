import type { Db } from '../../../server/src/base/db.ts'
import { memoryOf } from '../../child.ts'
import { type Comparison, type Course, compare, type Result } from '../../comparison.ts'
import type { Database } from '../../database-address.ts'
import { requestBytes } from '../../load.ts'
import { person } from '../../people.ts'
import { printResults } from '../../results-table.ts'
import { type BenchWorkspace, fillWorkspace } from '../../workspace.ts'
import { type Directus, directusLead, directusToken, startDirectus } from './directus.ts'

const heavyConnections = 16

interface PeersStage {
  db: Db
  options: Database
  course: Course
  /** Folder to install the peer in. */
  folder: string
}

/** Compares with another product on the same server, with as many leads. Its texts are not encrypted. */
export async function runPeers(
  { db, options, course, folder }: PeersStage,
  workspace: BenchWorkspace,
  leadCount: number,
): Promise<Result[]> {
  const directus = await startDirectus(db, options, folder, leadCount)
  try {
    await fillWorkspace(db, workspace.workspaceId, leadCount, () => {})
    await db.sql.unsafe('vacuum analyze leads')
    const rows = await db.sql<{ id: string }[]>`
      select id from leads where workspace_id = ${workspace.workspaceId} limit 5000`
    const ids = rows.map(({ id }) => id)
    const results: Result[] = []
    for (const contest of contests(workspace.key, ids, directus, leadCount))
      results.push(await compare(contest, { ...course, baseline: directus }))
    printResults(`work (${course.connections} connections, ${leadCount} leads)`, results, ['Parley', 'Directus'])
    console.log(`| memory | ${memoryOf(course.product)} MB | | ${memoryOf(directus)} MB | | |`)
    return results
  } finally {
    await directus.stop()
  }
}

function contests(key: string, ids: readonly string[], directus: Directus, leadCount: number): Comparison[] {
  const ours = { authorization: `Bearer ${key}` }
  const theirs = { authorization: `Bearer ${directusToken}` }
  const list = '/items/leads?limit=50&meta=filter_count&sort=-created_at'
  return [
    {
      name: 'GET lead by id',
      product: (n) => requestBytes('GET', `/api/v1/leads/${ids[n % ids.length]}`, ours),
      baseline: (n) => requestBytes('GET', `/items/leads/${directus.ids[n % directus.ids.length]}`, theirs),
    },
    {
      name: 'list of 50, one status, exact total',
      product: () => requestBytes('GET', '/api/v1/leads?status=won&limit=50', ours),
      baseline: () => requestBytes('GET', `${list}&filter[status][_eq]=won`, theirs),
    },
    {
      name: `search, exact total, ${heavyConnections} connections`,
      connections: heavyConnections,
      product: () => requestBytes('GET', '/api/v1/leads?search=silva&limit=50', ours),
      baseline: () => requestBytes('GET', `${list}&search=silva`, theirs),
    },
    {
      name: 'create',
      product: (n) => requestBytes('POST', '/api/v1/leads', ours, person(2 * leadCount + n)),
      baseline: (n) => requestBytes('POST', '/items/leads', theirs, directusLead(2 * leadCount + n)),
    },
    {
      name: `100 new leads in a request, ${heavyConnections} connections`,
      connections: heavyConnections,
      product: (n) => requestBytes('POST', '/api/v1/leads/bulk-upsert', ours, { items: hundred(n).map(upsertOf) }),
      baseline: (n) => requestBytes('POST', '/items/leads', theirs, hundred(n).map(directusLead)),
    },
  ]
}

/** Numbers of people that no other request creates. */
const hundred = (n: number): number[] => Array.from({ length: 100 }, (_, at) => 100_000_000 + n * 100 + at)

function upsertOf(n: number): object {
  const { externalRef, ...lead } = person(n)
  return { match: { by: 'externalRef', value: externalRef }, lead }
}
