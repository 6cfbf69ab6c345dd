import { setTimeout } from 'node:timers/promises'
import { type Db, setStatementTimeout } from '../../server/src/base/db.ts'
import { newId } from '../../server/src/base/id.ts'
import { memoryOf } from '../child.ts'
import type { Peer } from '../comparison.ts'
import { startMeter } from '../cpu-time.ts'
import { environmentOf } from '../database-address.ts'
import { cpuCell } from '../figures.ts'
import { measure, openExchange, requestBytes } from '../load.ts'
import { loadWorkspace } from '../load-leads.ts'
import { type BenchWorkspace, teamToken } from '../workspace.ts'
import type { SearchStage } from './search-part.ts'

interface ListQuery {
  name: string
  query: Record<string, string>
}

/** Enough for the texts and values of a million leads. */
const memory = '600'
const readyWithinMs = 300_000

/** Measures the team's list, sorted and filtered by each column, in memory and in the database, which refuses some. */
export async function runOrders({ db, options, start, course }: SearchStage, leadCount: number, only: string) {
  const workspace = await loadWorkspace(db, options, leadCount)
  const labels = await createLabels(db, workspace)
  const place = environmentOf(options)
  const image = await start('product.ts', { ...place, WARM: workspace.workspaceId, SEARCH_MEMORY: memory })
  const database = await start('product.ts', { ...place, SEARCH_MEMORY: '0' })
  const headers = { authorization: `Bearer ${await teamToken(db, workspace)}` }
  const ask = (query: ListQuery['query']) => {
    const path = `/api/team/v1/workspaces/${workspace.workspaceId}/leads?${new URLSearchParams(query)}`
    return requestBytes('GET', path, headers)
  }
  const asked = performance.now()
  while ((await first(image, ask({ sortBy: 'name', limit: '1' }))).status !== 200) {
    if (performance.now() - asked > readyWithinMs) throw new Error('The index is not ready')
    await setTimeout(500)
  }
  console.log(
    `\nvalues in memory ${Math.round(performance.now() - asked)} ms after they were asked for, RSS ${memoryOf(image)} MB`,
  )
  console.log(
    `\n| list of 50, one client, ${leadCount} leads | answered by | first answer | later, p50 | p99 | Node + PostgreSQL, µs |`,
  )
  console.log('|---|---|---:|---:|---:|---|')
  for (const { name, query } of listQueries(labels).filter((one) => one.name.includes(only))) {
    for (const [by, peer] of Object.entries({ image, database })) {
      const request = ask({ limit: '50', ...query })
      const { status, ms } = await first(peer, request)
      if (status !== 200) {
        console.log(`| ${name} | ${by} | ${ms.toFixed(1)} ms | ${status} | | |`)
        continue
      }
      const cpuEach = startMeter(peer, course.postgres)
      const load = { host: '127.0.0.1', port: peer.port, connections: 1, durationMs: course.durationMs }
      const { p50Ms, p99Ms, answers } = await measure({ ...load, request: () => request })
      const cells = [ms, p50Ms, p99Ms].map((figure) => `${figure.toFixed(1)} ms`)
      console.log(`| ${name} | ${by} | ${cells.join(' | ')} | ${cpuCell(cpuEach(answers))} |`)
    }
  }
  console.log(`RSS ${memoryOf(image)} MB after the lists`)
}

async function first({ port }: Peer, request: Buffer): Promise<{ status: number; ms: number }> {
  const exchange = openExchange(port)
  const sent = performance.now()
  const status = await exchange.send(request)
  exchange.close()
  return { status, ms: performance.now() - sent }
}

/** Creates two labels: one on a thousandth of the leads, and one on a fifth. */
async function createLabels(db: Db, { workspaceId }: BenchWorkspace): Promise<{ seldom: string; often: string }> {
  const known = await db.sql<{ id: string; name: string }[]>`
    select id, name from labels where workspace_id = ${workspaceId}`
  const idOf = (name: string) => known.find((label) => label.name === name)?.id ?? newId(new Date())
  const labels = { seldom: idOf('Seldom'), often: idOf('Often') }
  if (known.length > 0) return labels
  await db.tx(async (tx) => {
    await setStatementTimeout(tx, 3_600_000)
    await tx`
      insert into labels (workspace_id, id, name, color, created_at)
      values (${workspaceId}, ${labels.seldom}, 'Seldom', 'teal', now()), (${workspaceId}, ${labels.often}, 'Often', 'red', now())`
    await tx`
      insert into lead_labels (workspace_id, lead_id, label_id)
      select workspace_id, id, case when n % 1000 = 0 then ${labels.seldom}::uuid else ${labels.often}::uuid end
      from (select workspace_id, id, row_number() over (order by id) as n from leads where workspace_id = ${workspaceId}) as l
      where n % 5 = 0`
  })
  await db.sql`analyze lead_labels`
  return labels
}

function listQueries({ seldom, often }: { seldom: string; often: string }): ListQuery[] {
  const orders = ['name', 'email', 'phone', 'status', 'priority', 'assignedTo', 'estimatedValue', 'field:city']
  const [byName, dear] = [{ sortBy: 'name' }, 'estimatedValue.from.4900']
  const twenty = Array.from({ length: 20 }, (_, n) => `name.contains.x${n}q`).join(';')
  return [
    ...orders.map((sortBy) => ({ name: `by ${sortBy}`, query: { sortBy } })),
    { name: 'by name, page 1000', query: { sortBy: 'name', page: '1000' } },
    { name: 'an amount', query: { where: dear } },
    { name: 'an amount and a text', query: { where: 'estimatedValue.from.1000;name.contains.silva' } },
    { name: 'twenty texts, any', query: { where: twenty, match: 'any' } },
    { name: 'a search for a surname, by name', query: { sortBy: 'name', search: 'silva' } },
    { name: 'a search for a first name, by name', query: { sortBy: 'name', search: 'maria' } },
    { name: 'a search for both, by name', query: { sortBy: 'name', search: 'maria silva' } },
    { name: 'a search for a rare name, by name', query: { sortBy: 'name', search: 'zuzuba' } },
    { name: 'a search for a phone, by name', query: { sortBy: 'name', search: '551199' } },
    { name: 'a search for a surname, by e-mail', query: { sortBy: 'email', search: 'silva' } },
    { name: 'a search for a surname and an amount, by name', query: { ...byName, search: 'silva', where: dear } },
    { name: 'a rare label', query: { labels: seldom } },
    { name: 'a frequent label', query: { labels: often } },
    { name: 'a rare label, by status', query: { labels: seldom, sortBy: 'status' } },
    { name: 'a frequent label, by status', query: { labels: often, sortBy: 'status' } },
    { name: 'a rare label, by name', query: { labels: seldom, sortBy: 'name' } },
    { name: 'a frequent label, by name', query: { labels: often, sortBy: 'name' } },
  ]
}
