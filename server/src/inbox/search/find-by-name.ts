import { setImmediate } from 'node:timers/promises'
import type { Sql } from '../../base/db.ts'
import { decryptOrNull } from '../../base/encryption/encrypt.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { byteaArray } from '../../base/postgres/values.ts'
import { type ColumnSource, currentColumns, touchedIds } from '../conversation/activity-columns.ts'
import type { ScopedSql } from '../conversation/conversation.ts'
import { decryptContact, phoneIndexes } from '../conversation/encrypted-conversation.ts'
import { opaqueWorkspaceId } from '../conversation/queries.ts'
import { filterCondition, type NamedSearch } from '../read/list-filter.ts'
import {
  afterPosition,
  type Columns,
  type ListOrder,
  type ListRange,
  type SortedRow,
  selectListRange,
  timeOf,
} from '../read/list-range.ts'
import { matchesName, nameTermTokens } from './conversation-tokens.ts'
import { readProgress } from './progress.ts'

type Candidate = SortedRow & { contact: Buffer; has_phone: boolean | null }

/** Rows scanned in list order before the token search: enough for a common name. */
const probeSize = 200
/** Rows decrypted without yielding the event loop. */
const chunkSize = 1000

/** Returns the ids of matching conversations in a range of the list, in its order. */
export async function findConversationsByName(
  reader: ScopedSql,
  range: ListRange,
  search: NamedSearch,
): Promise<string[]> {
  const isFound = createMatcher(reader.keyring, search)
  const next = await selectNext(reader, range, search)
  const matches = next.filter(isFound)
  if (matches.length >= range.limit || next.length < probeSize) return matches.slice(0, range.limit).map(({ id }) => id)
  // Read before the candidates, so that it covers no tokens missing in their snapshot.
  const { conversationsTo } = await readProgress(reader.sql, reader.workspaceId)
  const found: Candidate[] = []
  for await (const rows of selectCandidates(reader, range, search, conversationsTo)) {
    found.push(...rows.filter(isFound))
    await setImmediate()
  }
  return found
    .sort(comparator(range.order))
    .slice(0, range.limit)
    .map(({ id }) => id)
}

function createMatcher(keyring: Keyring, { term }: NamedSearch): (row: Candidate) => boolean {
  return ({ id, contact, has_phone: hasPhone }) => {
    if (hasPhone === true || term === null) return hasPhone === true
    const opened = decryptOrNull(() => decryptContact(keyring, id, contact))
    return opened !== null && matchesName(opened, term)
  }
}

const candidateColumns = (sql: Sql, indexes: readonly Buffer[], source: ColumnSource) => sql`
  c.id,
  ${source.lastMessageAt(sql)} as last_message_at,
  ${source.updatedAt(sql)} as updated_at,
  ${source.unansweredSince(sql)} as unanswered_since,
  ${source.goalDueAt(sql)} as goal_due_at,
  c.priority,
  c.contact,
  c.phone_index = any (${byteaArray(indexes)}::bytea[]) as has_phone`

const indexesOf = (keyring: Keyring, { phones }: NamedSearch): Buffer[] =>
  phones.flatMap((phone) => phoneIndexes(keyring, phone))

function selectNext(reader: ScopedSql, range: ListRange, search: NamedSearch): Promise<Candidate[]> {
  const indexes = indexesOf(reader.keyring, search)
  const columns: Columns = (sql, source) => candidateColumns(sql, indexes, source)
  return reader.sql<Candidate[]>`${selectListRange(reader, { ...range, limit: probeSize }, columns)}`
}

/**
 * Returns conversations with the tokens, with a phone, or changed since the last indexing, in one statement and thus
 * one snapshot. Tokens are searched alone and each conversation is then looked up by id: statistics do not show how
 * rare tokens are, and the planner may prefer scanning the workspace.
 */
function selectCandidates(
  reader: ScopedSql,
  { filter, order, after }: ListRange,
  search: NamedSearch,
  changedSince: Date,
): AsyncIterable<Candidate[]> {
  const { sql, keyring } = reader
  const indexes = indexesOf(keyring, search)
  const sets = search.term === null ? [] : nameTermTokens(keyring, search.term)
  const workspace = opaqueWorkspaceId(sql, reader.workspaceId)
  const hasTokens = sets.reduce((either, tokens) => sql`${either} or s.tokens @> ${tokens}::integer[]`, sql`false`)
  return sql<Candidate[]>`
    with candidates as (
      select s.conversation_id as id
      from (
        select workspace_id, conversation_id
        from conversation_search s
        where ${hasTokens}
        offset 0
      ) as s
      where s.workspace_id = ${workspace}
      union
      select c.id
      from conversations c
      where c.workspace_id = ${workspace}
        and c.phone_index is not null
        and c.phone_index = any (${byteaArray(indexes)}::bytea[])
      union
      select c.id
      from conversations c
      where c.workspace_id = ${workspace}
        and c.updated_at >= ${changedSince}
      union
      ${touchedIds(sql, workspace)}
    )
    select c.*
    from candidates
    cross join lateral (
      select ${candidateColumns(sql, indexes, currentColumns)}
      from conversations c
      where ${filterCondition(reader, filter, currentColumns)}
        ${afterPosition(sql, order, after, currentColumns)}
        and c.id = candidates.id
      limit 1
    ) as c`.cursor(chunkSize)
}

/** Compares in the order of the list. */
function comparator(order: ListOrder): (a: Candidate, b: Candidate) => number {
  const sign = order === 'waiting' ? 1 : -1
  return (a, b) => {
    const byTime = (timeOf(a, order) ?? 0) - (timeOf(b, order) ?? 0)
    return sign * (byTime || (a.id < b.id ? -1 : 1))
  }
}
