import { type Db, setStatementTimeout } from '../../server/src/base/db.ts'
import type { Child } from '../child.ts'
import { type Comparison, compare, type Result } from '../comparison.ts'
import { environmentOf } from '../database-address.ts'
import { requestBytes } from '../load.ts'
import { loadWorkspace, vacuum } from '../load-leads.ts'
import { printResults } from '../results-table.ts'
import type { SearchStage } from './search-part.ts'

const tables = ['floor_leads', 'leads', 'lead_search']
/** Number of changes of every lead without a vacuum. */
const changes = 3

interface ListStage extends SearchStage {
  startOther: (file: string, env: Record<string, string>) => Promise<Child | undefined>
}

/** Measures filtered lists with an exact total: right after a bulk load, after a vacuum, and with a vacuum overdue. */
export async function runLists(
  { db, options, start, startOther, course }: ListStage,
  leadCount: number,
): Promise<Result[]> {
  const { workspaceId, key } = await loadWorkspace(db, options, leadCount, 'raw')
  const startBoth = async (env: Record<string, string>) => {
    const all = { ...environmentOf(options), ...env }
    return { product: await start('product.ts', all), other: await startOther('product.ts', all) }
  }
  const image = await startBoth({ WARM: workspaceId })
  const database = await startBoth({ SEARCH_MEMORY: '0' })
  const results: Result[] = []
  const run = async (when: string) => {
    const ofStage: Result[] = []
    for (const [how, products] of Object.entries({ image, database })) {
      for (const contest of contests(key, how)) ofStage.push(await compare(contest, { ...course, ...products }))
    }
    printResults(`lists of ${leadCount} leads ${when} (${course.connections} connections)`, ofStage)
    results.push(...ofStage)
  }

  for (const table of tables) await db.sql.unsafe(`alter table ${table} set (autovacuum_enabled = off)`)
  await run('right after a bulk load')
  await vacuum(options, tables)
  await run('after a vacuum')
  for (let n = 0; n < changes; n++) await touchAll(db)
  await run(`changed ${changes} times, without a vacuum`)
  return results
}

function contests(key: string, how: string): Comparison[] {
  const headers = { authorization: `Bearer ${key}` }
  return ['won', 'contacted'].map((status) => ({
    name: `list of 50, status ${status}, from the ${how}`,
    product: () => requestBytes('GET', `/api/v1/leads?status=${status}&limit=50`, headers),
    baseline: () => requestBytes('GET', `/leads?status=${status}`, {}),
  }))
}

/** Rewrites each row and its index entries with the same values; only the time of change differs. */
async function touchAll(db: Db): Promise<void> {
  await db.tx(async (tx) => {
    await setStatementTimeout(tx, 3_600_000)
    await tx`update leads set updated_at = updated_at + interval '1 millisecond'`
    await tx`update floor_leads set updated_at = updated_at + interval '1 millisecond'`
  })
}
