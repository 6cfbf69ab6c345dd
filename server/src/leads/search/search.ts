import { setImmediate } from 'node:timers/promises'
import { hiddenWorkspace } from '../../base/citus/distributed-sql.ts'
import type { Sql } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { decryptPerson, type LeadRow } from '../lead/encrypted-lead.ts'
import { isLeadEventOf } from '../lead/events.ts'
import { matchesTerm, type SearchTerm, termTokens } from '../lead/search-lines.ts'
import { afterCondition, filterCondition, sortClause } from './filter-sql.ts'
import { readIndexedPosition } from './index-leads.ts'
import type { LeadFilter, PageQuery, PageResult, TimeOrder } from './list-filter.ts'
import { comparePlaces, type Place } from './sorted/order.ts'

export interface LeadSearch {
  workspaceId: string
  filter: LeadFilter
  sortOrder: TimeOrder
  term: SearchTerm
}

type Slice = Pick<PageQuery, 'after' | 'offset' | 'limit'>

type CandidateRow = Pick<LeadRow, 'id' | 'uniqueCode' | 'externalRef' | 'person'> & { time: Date }

// Rows decrypted at a time: many candidates must not block other requests or fill the memory.
const batchRows = 1_000
const probeRows = 2_000

/** Returns a page of a search, and the total. */
export async function searchPage(sql: Sql, keyring: Keyring, requested: PageQuery & LeadSearch): Promise<PageResult> {
  if (!requested.needsTotal) {
    const places =
      (await probeMatches(sql, keyring, requested, requested)) ??
      (await findMatches(sql, keyring, requested, requested)).places
    return { places, total: null }
  }
  const found = await findMatches(sql, keyring, requested, requested)
  if (requested.after === null) return found
  const all = await findMatches(sql, keyring, requested, { after: null, offset: 0, limit: 0 })
  return { ...found, total: all.total }
}

/** Returns the matches in a slice of the sorted list, and the number of matches after `slice.after`. */
export async function findMatches(
  sql: Sql,
  keyring: Keyring,
  search: LeadSearch,
  slice: Slice,
): Promise<{ places: Place[]; total: number }> {
  const requested = slice.offset + slice.limit
  const compare = comparePlaces(search.sortOrder.order)
  let first: Place[] = []
  let total = 0
  // Read first, so that no event is assumed to be indexed whose tokens the candidates' snapshot does not have.
  const indexedTo = await readIndexedPosition(sql, search.workspaceId)
  for await (const candidates of readCandidates(sql, keyring, search, slice.after, indexedTo)) {
    const places = placesOf(filterMatches(keyring, candidates, search.term))
    total += places.length
    first.push(...places)
    if (first.length > 2 * requested + batchRows) first = first.sort(compare).slice(0, requested)
    await setImmediate()
  }
  return { places: first.sort(compare).slice(slice.offset, requested), total }
}

/**
 * Returns the slice from the first 2,000 leads in sort order, which is enough for common terms. Returns null if it is
 * not; then use `findMatches`.
 */
async function probeMatches(
  sql: Sql,
  keyring: Keyring,
  search: LeadSearch,
  { after, offset, limit }: Slice,
): Promise<Place[] | null> {
  const rows = await sql<CandidateRow[]>`
    select ${candidateColumns(sql, search.sortOrder)}
    from leads l
    where ${filterCondition(sql, search.workspaceId, search.filter)}
      ${afterCondition(sql, search.sortOrder, after)}
    order by ${sortClause(sql, search.sortOrder)}
    limit ${probeRows}`
  const places = placesOf(filterMatches(keyring, rows, search.term)).slice(offset, offset + limit)
  return places.length === limit || rows.length < probeRows ? places : null
}

/**
 * Returns candidates by tokens; each must then be decrypted and compared with the term. Leads changed since the tokens
 * were made are always candidates. One statement, so both come from one snapshot. The statistics of a growing workspace
 * are outdated. The workspace of the tokens is therefore hidden from the planner, and `limit` makes it look up leads
 * one by one by id: otherwise it may scan the whole workspace, even once per lead.
 */
function readCandidates(sql: Sql, keyring: Keyring, search: LeadSearch, after: Place | null, indexedTo: number) {
  const [first = [], ...others] = termTokens(keyring, search.term)
  const hasTokens = others.reduce(
    (either, tokens) => sql`${either} or s.tokens @> ${tokens}::integer[]`,
    sql`s.tokens @> ${first}::integer[]`,
  )
  const { workspaceId } = search
  return sql<CandidateRow[]>`
    with candidates as (
      select lead_id as id from lead_search s where s.workspace_id = ${hiddenWorkspace(sql, workspaceId)} and (${hasTokens})
      union
      select subject_id from events where ${isLeadEventOf(sql, workspaceId)} and position > ${indexedTo}
      union
      select subject_id from events where ${isLeadEventOf(sql, workspaceId)} and position is null
    )
    select ${candidateColumns(sql, search.sortOrder)}
    from candidates c
    cross join lateral (
      select *
      from leads
      where workspace_id = ${workspaceId}
        and id = c.id
      limit 1
    ) as l
    where ${filterCondition(sql, workspaceId, search.filter)}
      ${afterCondition(sql, search.sortOrder, after)}`.cursor(batchRows)
}

const candidateColumns = (sql: Sql, { by }: TimeOrder) => sql`
  l.id, l.unique_code as "uniqueCode", l.external_ref as "externalRef", l.person,
  ${by === 'createdAt' ? sql`l.created_at` : sql`l.updated_at`} as time`

function filterMatches(keyring: Keyring, rows: readonly CandidateRow[], term: SearchTerm): CandidateRow[] {
  return rows.filter((row) => {
    const [firstName, lastName, email, phone, contacts, formerPhones] = decryptPerson(keyring, row.id, row.person)
    const { uniqueCode, externalRef } = row
    return matchesTerm({ firstName, lastName, email, phone, contacts, formerPhones, uniqueCode, externalRef }, term)
  })
}

const placesOf = (rows: readonly CandidateRow[]): Place[] => rows.map(({ id, time }) => ({ id, key: time.getTime() }))
