import { setImmediate } from 'node:timers/promises'
import type { Sql } from '../base/db.ts'
import type { Keyring } from '../base/keyring.ts'
import {
  afterCondition,
  filterCondition,
  type LeadFilter,
  type LeadSort,
  type Slice,
  sortClause,
} from './list-filter.ts'
import { leadColumns } from './queries.ts'
import { type LeadRow, openPerson } from './sealed.ts'
import { matchesTerm, type SearchTerm, termTokens } from './search-lines.ts'

export interface LeadSearch {
  workspaceId: string
  filter: LeadFilter
  sort: LeadSort
  term: SearchTerm
}

interface CandidateRow {
  id: string
  unique_code: string
  external_ref: string | null
  person: Buffer
}

const yieldEvery = 2_000

/** The matches in a slice of the sorted list, and how many there are from the start of the slice's walk on. */
export async function findMatches(
  sql: Sql,
  keyring: Keyring,
  search: LeadSearch,
  slice: Slice,
): Promise<{ rows: LeadRow[]; total: number }> {
  const ids = await matchingIds(sql, keyring, search, slice)
  const rows = await rowsInOrder(sql, search, ids.slice(slice.offset, slice.offset + slice.limit))
  return { rows, total: ids.length }
}

export async function countMatches(sql: Sql, keyring: Keyring, search: LeadSearch): Promise<number> {
  const ids = await matchingIds(sql, keyring, search, { after: null, offset: 0, limit: 0 })
  return ids.length
}

/** Tokens narrow the leads down to candidates; each candidate is opened and held against the term itself. */
async function matchingIds(sql: Sql, keyring: Keyring, search: LeadSearch, { after }: Slice): Promise<string[]> {
  const [first = [], ...others] = termTokens(keyring, search.term)
  const hasTokens = others.reduce(
    (either, tokens) => sql`${either} or s.tokens @> ${tokens}::integer[]`,
    sql`s.tokens @> ${first}::integer[]`,
  )
  const candidates = await sql<CandidateRow[]>`
    select l.id, l.unique_code, l.external_ref, l.person
    from lead_search s
    join leads l on l.workspace_id = s.workspace_id and l.id = s.lead_id
    where s.workspace_id = ${search.workspaceId}
      and (${hasTokens})
      and ${filterCondition(sql, search.workspaceId, search.filter)}
      ${after === null ? sql`` : afterCondition(sql, search.sort, after)}
    order by ${sortClause(sql, search.sort)}`
  const ids: string[] = []
  for (const [n, candidate] of candidates.entries()) {
    if (isMatch(keyring, candidate, search.term)) ids.push(candidate.id)
    // Opening many candidates must not keep other requests waiting.
    if (n % yieldEvery === yieldEvery - 1) await setImmediate()
  }
  return ids
}

function isMatch(keyring: Keyring, row: CandidateRow, term: SearchTerm): boolean {
  const [firstName, lastName, email, phone] = openPerson(keyring, row.id, row.person)
  const { unique_code: uniqueCode, external_ref: externalRef } = row
  return matchesTerm({ firstName, lastName, email, phone, uniqueCode, externalRef }, term)
}

async function rowsInOrder(sql: Sql, search: LeadSearch, ids: string[]): Promise<LeadRow[]> {
  if (ids.length === 0) return []
  return sql<LeadRow[]>`
    select ${leadColumns(sql)}
    from leads l
    where l.workspace_id = ${search.workspaceId}
      and l.id = any (${ids}::uuid[])
      and l.deleted_at is null
    order by ${sortClause(sql, search.sort)}`
}
