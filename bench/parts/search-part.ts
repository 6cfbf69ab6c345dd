import { request } from 'node:http'
import { json } from 'node:stream/consumers'
import type { Db } from '../../server/src/base/db.ts'
import { foldText } from '../../server/src/base/text/search-text.ts'
import { memoryOf, type Start } from '../child.ts'
import { type Course, compare, type Peer } from '../comparison.ts'
import { type CpuTime, startMeter } from '../cpu-time.ts'
import { type Database, environmentOf } from '../database-address.ts'
import { cpuCell, median, medianCpu } from '../figures.ts'
import { measure, requestBytes } from '../load.ts'
import { loadWorkspace } from '../load-leads.ts'
import { person } from '../people.ts'
import { printResults } from '../results-table.ts'

export interface SearchStage {
  db: Db
  options: Database
  start: Start
  course: Course
}

type Sort = 'createdAt' | 'updatedAt'

interface SearchQuery {
  name: string
  term: string
  sort: Sort
  status?: string
}

/** Measures search and exact totals in a large workspace, compared with plain-text leads and a trigram index. */
export async function runSearch(
  { db, options, start, course }: SearchStage,
  leadCount: number,
  only: string,
): Promise<void> {
  const place = environmentOf(options)
  const workspace = await loadWorkspace(db, options, leadCount)
  const builtFrom = performance.now()
  const product = await start('product.ts', { ...place, WARM: workspace.workspaceId })
  console.log(
    `image built and service ready in ${Math.round(performance.now() - builtFrom)} ms, RSS ${memoryOf(product)} MB`,
  )
  const cold = await start('product.ts', { ...place, SEARCH_MEMORY: '0' })
  const peers = { ...course, product, other: undefined }

  const headers = { authorization: `Bearer ${workspace.key}` }
  for (const status of ['won', 'contacted']) {
    const list = {
      name: `list of 50, status ${status}, exact total`,
      product: () => requestBytes('GET', `/api/v1/leads?status=${status}&limit=50`, headers),
      baseline: () => requestBytes('GET', `/leads?status=${status}`, {}),
    }
    printResults(`work (${course.connections} connections, ${leadCount} leads)`, [await compare(list, peers)])
  }
  console.log(
    '\n| search (1 client) | hits | page | peer | ratio | with total | peer | ratio | without image | µs with total | peer |',
  )
  console.log('|---|---:|---:|---:|---:|---:|---:|---:|---:|---|---|')
  const chosen = searchQueries(leadCount).filter(({ name }) => name.includes(only))
  for (const searchQuery of chosen) console.log(await measureQuery(searchQuery, headers, peers, cold))
  console.log(`RSS ${memoryOf(product)} MB after the searches`)
}

function searchQueries(leadCount: number): SearchQuery[] {
  const someone = person(Math.floor(leadCount / 3))
  // Longer than all names of the lists: made of syllables, and almost always unique.
  const names = Array.from({ length: leadCount }, (_, n) => person(n).lastName)
  const rare = names.find((name) => /^[A-Z][a-z]{11}$/.test(name))
  const terms: [name: string, term: string][] = [
    ['rare name', rare ?? 'klahesta'],
    ['common name', 'maria'],
    ['common surname', 'silva'],
    ['two words', 'maria silva'],
    ['full e-mail', someone.email],
    ['domain fragment', 'gmail.com'],
    ['phone fragment, 4 digits', '8817'],
    ['phone fragment, 6 digits', '198817'],
    ['phone in full', someone.phone],
    ['three characters', 'wil'],
    ['three digits', '917'],
    ['externalRef', someone.externalRef],
    ['no hit', 'zzqxjkv'],
  ]
  return [
    ...terms.map(([name, term]) => ({ name, term, sort: 'createdAt' as const })),
    ...terms.map(([name, term]) => ({ name: `${name}, by updatedAt`, term, sort: 'updatedAt' as const })),
    ...terms
      .slice(0, 4)
      .map(([name, term]) => ({ name: `${name}, status won`, term, sort: 'createdAt' as const, status: 'won' })),
  ]
}

async function measureQuery(
  { name, term, sort, status }: SearchQuery,
  headers: Record<string, string>,
  { product, baseline, postgres, rounds, durationMs }: Course,
  cold: Peer,
): Promise<string> {
  const query = { search: term, sortBy: sort, limit: '50', ...(status === undefined ? {} : { status }) }
  const first = `/api/v1/leads?${new URLSearchParams(query)}`
  const sortColumn = sort === 'createdAt' ? 'created_at' : 'updated_at'
  const baselineQuery = { term: foldText(term), sort: sortColumn, ...(status === undefined ? {} : { status }) }
  const baselineFirst = `/search?${new URLSearchParams({ ...baselineQuery, total: '1' })}`

  const [answer, peer, coldAnswer] = [
    await fetchJson(product.port, first, headers),
    await fetchJson(baseline.port, baselineFirst, {}),
    await fetchJson(cold.port, first, headers),
  ]
  const { total, nextCursor } = answer.pagination
  const ids = (page: { data: { id: string }[] }) => page.data.map(({ id }) => id).join()
  if (total !== peer.pagination.total || ids(answer) !== ids(peer))
    throw new Error(`${name}: the baseline's answer differs`)
  // The database may exceed the statement timeout for a common term.
  const isCold = coldAnswer.success === true
  if (isCold && (total !== coldAnswer.pagination.total || ids(answer) !== ids(coldAnswer)))
    throw new Error(`${name}: the database's answer differs`)

  const last = answer.data.at(-1)
  const page = nextCursor === null ? first : `${first}&cursor=${nextCursor}`
  const baselinePage =
    nextCursor === null
      ? `/search?${new URLSearchParams(baselineQuery)}`
      : `/search?${new URLSearchParams({ ...baselineQuery, time: last[sort], id: last.id })}`
  const time = async (peer: Peer, path: string, of: Record<string, string>): Promise<Timed> => {
    const load = { host: '127.0.0.1', port: peer.port, connections: 1, durationMs }
    const cpuEach = startMeter(peer, postgres)
    const { p50Ms, answers } = await measure({ ...load, request: () => requestBytes('GET', path, of) })
    return { ms: p50Ms, cpu: cpuEach(answers) }
  }
  const times: Timed[][] = []
  for (let round = 0; round < rounds; round++) {
    times.push([
      await time(product, page, headers),
      await time(baseline, baselinePage, {}),
      await time(product, first, headers),
      await time(baseline, baselineFirst, {}),
    ])
  }
  const coldMs = isCold ? (await time(cold, first, headers)).ms : null
  const column = (n: number) => times.flatMap((row) => row[n] ?? [])
  const [pageMs, peerPageMs, totalMs, peerTotalMs] = [0, 1, 2, 3].map((n) => median(column(n).map(({ ms }) => ms)))
  const cpuOf = (n: number) => cpuCell(medianCpu(column(n).map(({ cpu }) => cpu)))
  const ms = (value: number | undefined) => `${(value ?? 0).toFixed(2)} ms`
  const ratio = (a: number | undefined, b: number | undefined) => ((a ?? 0) / (b ?? 1)).toFixed(2)
  const cells = [
    name,
    total,
    ms(pageMs),
    ms(peerPageMs),
    ratio(pageMs, peerPageMs),
    ms(totalMs),
    ms(peerTotalMs),
    ratio(totalMs, peerTotalMs),
    coldMs === null ? 'too long' : ms(coldMs),
    ...[cpuOf(2), cpuOf(3)],
  ]
  return `| ${cells.join(' | ')} |`
}

interface Timed {
  ms: number
  cpu: CpuTime | null
}

// biome-ignore lint/suspicious/noExplicitAny: answers of two servers, compared as they are
function fetchJson(port: number, path: string, headers: Record<string, string>): Promise<any> {
  return new Promise((resolve, reject) => {
    request({ port, path, headers, host: '127.0.0.1' }, (response) => resolve(json(response)))
      .on('error', reject)
      .end()
  })
}
