import { type Db, openDb } from '../../../server/src/base/db.ts'
import { migrate } from '../../../server/src/base/migrate.ts'
import { memoryOf, type Start } from '../../child.ts'
import type { Course } from '../../comparison.ts'
import { type Database, environmentOf } from '../../database-address.ts'
import { loadTenants, type Size } from '../../large/load-large.ts'
import { decryptableLeads, type Tenant } from '../../large/tenant.ts'
import { requestsOf } from './requests.ts'
import { type GrowthResult, printGrowth, runRounds, withoutMemory } from './rounds.ts'
import { prepareSide, type Side } from './side.ts'

interface Stage {
  options: Database
  start: Start
  course: Course
}

/** Number of small workspaces, so that the large one shares its tables with others. */
const neighbours = 500
const neighbour: Size = { leads: 100, conversations: 4, each: 20 }
/** Default memory limit of the product. */
const defaultMemoryMb = '1024'
/** With this many leads the index contains only columns and decrypts none. */
const tooManyTexts = 6_000_000

/**
 * Compares the same work in a large workspace, in a small one of the same database, and in a small one with its own
 * database. A workspace whose leads cannot all be decrypted has no text index, so the database runs its searches;
 * requests of the small workspaces that an index answers are also sent to a process without one.
 */
export async function runGrowth({ options, start, course }: Stage, size: Size, only: string): Promise<GrowthResult[]> {
  const few: Size = {
    leads: Math.min(100_000, Math.ceil(size.leads / 2)),
    conversations: Math.min(2_000, Math.ceil(size.conversations / 2)),
    each: size.each,
  }
  await makeDatabase(options, 'parley_small')
  const small = { ...options, database: 'parley_small' }
  const dbs = [openDb(options), openDb(small)] as const
  const sizes = [size, few, ...Array.from({ length: size.leads < 1_000_000 ? 1 : neighbours }, () => neighbour)]
  const [[large, beside], [alone]] = [await tenants(dbs[0], options, sizes), await tenants(dbs[1], small, [few])]
  if (large === undefined || beside === undefined || alone === undefined) throw new Error('A workspace is missing')
  const platform = await start('platform.ts', {})
  const begin = (of: Database, env: Record<string, string>) => timedStart(start, of, env)
  const works = requestsOf().filter(({ name }) => name.includes(only))
  const isIndexed = decryptableLeads(large) === large.leads || large.leads > tooManyTexts
  // Building them takes minutes and must be finished before the requests.
  const warm = (...all: Tenant[]): Record<string, string> =>
    works.some((work) => work.isFromMemory) ? { WARM: all.map(({ workspaceId }) => workspaceId).join(',') } : {}
  const [both, own, bare] = [
    await begin(options, { ...warm(beside, ...(isIndexed ? [large] : [])), SEARCH_MEMORY: defaultMemoryMb }),
    await begin(small, warm(alone)),
    await begin(small, { SEARCH_MEMORY: '0' }),
  ]
  const sides: Side[] = [
    await prepareSide('large', dbs[0], large, both, platform.port),
    await prepareSide('beside', dbs[0], beside, both, platform.port),
    await prepareSide('alone', dbs[1], alone, own, platform.port),
    await prepareSide(withoutMemory, dbs[1], alone, bare, platform.port),
  ]
  const results: GrowthResult[] = []
  for (const work of works) {
    results.push(await runRounds(work, sides, course))
    printGrowth(results.slice(-1), { size, few, connections: course.connections })
  }
  printGrowth(results, { size, few, connections: course.connections })
  for (const [name, peer] of Object.entries({ both, own, bare })) console.log(`memory, ${name}: ${memoryOf(peer)} MB`)
  for (const db of dbs) await db.close()
  return results
}

async function tenants(db: Db, options: Database, sizes: readonly Size[]): Promise<Tenant[]> {
  await migrate(db)
  return loadTenants(db, options, sizes)
}

async function timedStart(start: Start, of: Database, env: Record<string, string>) {
  const startedAt = performance.now()
  const peer = await start('product.ts', { ...environmentOf(of), ...env })
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  const { WARM = '', SEARCH_MEMORY = '192' } = env
  const indexes = WARM === '' ? 0 : WARM.split(',').length
  console.log(
    `started on ${of.database} in ${seconds} s with ${indexes} indexes, bound ${SEARCH_MEMORY} MB: ${memoryOf(peer)} MB`,
  )
  return peer
}

async function makeDatabase(options: Database, name: string): Promise<void> {
  const { sql, close } = openDb({ ...options, maxConnections: 1 })
  const known = await sql`select 1 from pg_database where datname = ${name}`
  if (known.length === 0) await sql.unsafe(`create database ${name}`)
  await close()
}
