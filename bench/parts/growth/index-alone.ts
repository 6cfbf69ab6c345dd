import { newId } from '../../../server/src/base/id.ts'
import { parseSearchTerm } from '../../../server/src/leads/lead/search-lines.ts'
import { noFilter, type PageQuery } from '../../../server/src/leads/search/list-filter.ts'
import { leadText } from '../../../server/src/leads/search/memory-index/indexed-text.ts'
import {
  appendLead,
  defaultShape,
  type IndexedLead,
  type MemoryIndex,
  memoryIndexBytes,
  newMemoryIndex,
} from '../../../server/src/leads/search/memory-index/memory-index.ts'
import { queryMemoryIndex } from '../../../server/src/leads/search/memory-index/query.ts'
import {
  clear,
  freeze,
  type IndexContents,
  isFull,
  newSegment,
} from '../../../server/src/leads/search/memory-index/segment.ts'
import { memoryOf } from '../../child.ts'
import { median } from '../../figures.ts'
import { person } from '../../people.ts'

const timesEach = 9

/** Measures memory indexes without a database: for 100,000 and `leadCount` leads, with texts and with columns only. */
export function runIndexAlone(leadCount: number): void {
  console.log('\n| memory index of | leads | CPU time to build | bytes | process | |\n|---|---:|---:|---:|---:|---|')
  const kinds: IndexContents[] = ['columns', 'text']
  for (const holds of kinds) for (const count of [Math.min(100_000, leadCount), leadCount]) measureOne(holds, count)
}

function measureOne(holds: IndexContents, count: number): void {
  const began = process.cpuUsage()
  const index = build(holds, count)
  const { user, system } = process.cpuUsage(began)
  const seconds = ((user + system) / 1_000_000).toFixed(1)
  const [own, all] = [Math.round(memoryIndexBytes(index) / 1_000_000), memoryOf(process)]
  const times = queries(count, holds).map(([name, query]) => `${name} ${millisecondsOf(index, query)}`)
  console.log(`| ${holds} | ${count} | ${seconds} s | ${own} MB | ${all} MB | ${times.join(', ')} |`)
}

/** Fills the index as the product does, except for decrypting rows. */
function build(holds: IndexContents, count: number): MemoryIndex {
  const shape = { ...defaultShape, holds }
  const index = newMemoryIndex(shape)
  const open = newSegment(shape.segmentSlots, holds)
  const begin = Date.now() - count
  for (let n = 0; n < count; n++) {
    if (isFull(open)) {
      index.segments.push(freeze(open))
      clear(open)
    }
    const lead = leadOf(n, begin + n)
    appendLead(index, open, holds === 'columns' ? { ...lead, text: '' } : lead)
  }
  if (open.count > 0) index.segments.push(freeze(open))
  return index
}

function leadOf(n: number, at: number): IndexedLead {
  const { firstName, lastName, email, phone, externalRef, status, priority, source } = person(n)
  const uniqueCode = `L${String(n).padStart(11, '0')}`
  return {
    ...{ id: newId(new Date(at)), created: at, updated: at, status, priority, source },
    ...{ adPlatform: null, assignee: null },
    text: leadText({ firstName, lastName, email, phone, uniqueCode, externalRef }),
  }
}

function queries(count: number, holds: IndexContents): [string, PageQuery][] {
  const some = person(Math.floor(count / 3))
  const query = (search: string | null, statuses: string[] | null = null): PageQuery => ({
    ...{ after: null, offset: 0, limit: 51, needsTotal: true },
    filter: { ...noFilter, search, statuses },
    conditions: { match: 'all', list: [] },
    sortOrder: { by: 'createdAt', order: 'desc', language: 'en', choices: [] },
    term: search === null ? null : parseSearchTerm(search),
  })
  const unsearched: [string, PageQuery][] = [
    ['first page', query(null)],
    ['status won', query(null, ['won'])],
  ]
  if (holds === 'columns') return unsearched
  return [
    ...unsearched,
    ['an e-mail', query(some.email)],
    ['a phone', query(some.phone)],
    ['a reference', query(`crm-${Math.floor(count / 3)}`)],
    ['no hit', query('zzqxj1')],
    ['maria', query('maria')],
    ['maria and won', query('maria', ['won'])],
  ]
}

/** Processor time, since other processes may use the machine. */
function millisecondsOf(index: MemoryIndex, query: PageQuery): string {
  const times = Array.from({ length: timesEach }, () => {
    const began = process.cpuUsage()
    queryMemoryIndex(index, query)
    const { user, system } = process.cpuUsage(began)
    return (user + system) / 1000
  })
  return `${median(times).toFixed(2)} ms`
}
