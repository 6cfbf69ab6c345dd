import type { Db } from '../../server/src/base/db.ts'
import { makeBaselineTables } from '../baselines/baseline-tables.ts'
import type { Comparison, Peer } from '../comparison.ts'
import { requestBytes } from '../load.ts'
import { person } from '../people.ts'
import { type BenchWorkspace, fillWorkspace } from '../workspace.ts'

/** Fills the workspace with leads and returns the contests of the leads API. */
export async function leadContests(
  db: Db,
  workspace: BenchWorkspace,
  leadCount: number,
  singles: Peer,
): Promise<Comparison[]> {
  const startedMs = performance.now()
  await fillWorkspace(db, workspace.workspaceId, leadCount, (done) => {
    if (process.stderr.isTTY) process.stderr.write(`\rfilling ${done} of ${leadCount} leads`)
  })
  const filledPerSecond = Math.round(leadCount / ((performance.now() - startedMs) / 1000))
  process.stderr.write(`\rfilled ${leadCount} leads through the bulk path, ${filledPerSecond} a second\n`)
  await makeBaselineTables(db, workspace.workspaceId)
  const rows = await db.sql<{ id: string }[]>`
    select id from leads where workspace_id = ${workspace.workspaceId} order by id limit 5000`
  const ids = rows.map((row) => row.id)
  return [
    ...contests(workspace.key, ids, leadCount),
    bulkUpsert(db, workspace, leadCount, 'bulk'),
    { ...bulkUpsert(db, workspace, leadCount, 'again'), name: bySingles, baselinePeer: singles },
  ]
}

function contests(key: string, ids: string[], leadCount: number): Comparison[] {
  const headers = { authorization: `Bearer ${key}` }
  const idOf = (n: number) => ids[n % ids.length]
  const fresh = (n: number) => {
    const { firstName, lastName, email, phone, status } = person(leadCount + n)
    return { firstName, lastName, email, phone, status }
  }
  // Alternates on each pass over the leads, since an update without changes writes nothing.
  const statusOf = (n: number) => (Math.floor(n / leadCount) % 2 === 0 ? 'lost' : 'won')
  const refOf = (n: number) => `crm-${(n * 7919) % leadCount}`
  const upsert = (n: number) => ({ match: { by: 'externalRef', value: refOf(n) }, lead: { status: statusOf(n) } })
  return [
    {
      name: 'GET lead by id',
      product: (n) => requestBytes('GET', `/api/v1/leads/${idOf(n)}`, headers),
      baseline: (n) => requestBytes('GET', `/leads/${idOf(n)}`, {}),
    },
    {
      name: 'list of 50, one status, exact total',
      product: () => requestBytes('GET', '/api/v1/leads?status=won&limit=50', headers),
      baseline: () => requestBytes('GET', '/leads?status=won', {}),
    },
    {
      name: 'list of 50, one status, exact total, compressed (baseline: plain)',
      product: () =>
        requestBytes('GET', '/api/v1/leads?status=won&limit=50', { ...headers, 'accept-encoding': 'gzip' }),
      baseline: () => requestBytes('GET', '/leads?status=won', {}),
    },
    {
      name: 'create',
      product: (n) => requestBytes('POST', '/api/v1/leads', headers, fresh(n)),
      baseline: (n) => requestBytes('POST', '/leads', {}, fresh(n)),
    },
    {
      name: 'upsert of an existing lead',
      product: (n) => requestBytes('POST', '/api/v1/leads/upsert', headers, upsert(n)),
      baseline: (n) => requestBytes('POST', '/leads/upsert', {}, { externalRef: refOf(n), status: statusOf(n) }),
    },
  ]
}

const bySingles = 'bulk upsert of 100, half existing (baseline: single upserts of the product in one transaction)'

/** Sends a hundred items per request, half of which match an existing lead. */
function bulkUpsert(db: Db, { key, workspaceId }: BenchWorkspace, leadCount: number, prefix: string): Comparison {
  const headers = { authorization: `Bearer ${key}` }
  const asked = { product: 0, baseline: 0 }
  const itemsOf = (who: keyof typeof asked) => {
    const request = asked[who]++
    return Array.from({ length: 100 }, (_, place) => {
      const n = request * 50 + Math.floor(place / 2)
      const { externalRef, ...lead } = person(2 * leadCount + n)
      const value =
        place % 2 === 0
          ? `crm-${(n * 7919) % leadCount}`
          : `${prefix}${who === 'baseline' ? '-peer' : ''}-${externalRef}`
      return { match: { by: 'externalRef', value }, lead }
    })
  }
  return {
    name: 'bulk upsert of 100, half existing (baseline: own bare tables, row by row)',
    connections: 4,
    product: () => {
      return requestBytes('POST', '/api/v1/leads/bulk-upsert', headers, { items: itemsOf('product') })
    },
    baseline: () => requestBytes('POST', '/leads/bulk-upsert', {}, { items: itemsOf('baseline') }),
    verify: async (answers) => {
      const [row] = await db.sql<{ created: number }[]>`
        select count(*)::integer as created
        from leads
        where workspace_id = ${workspaceId}
          and external_ref like ${`${prefix}-crm-%`}`
      const wanted = answers * 50
      if (row?.created !== wanted) throw new Error(`bulk upsert: ${row?.created} leads created, ${wanted} expected`)
    },
  }
}
