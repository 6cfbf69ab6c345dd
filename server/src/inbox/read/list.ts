import { decodeCursor, encodeCursor } from '../../base/cursor.ts'
import type { Sql } from '../../base/db.ts'
import { invalid } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import type { Conversation, Scope } from '../conversation/conversation.ts'
import { asItIs } from '../conversation/moving.ts'
import { anyWorkspace } from '../conversation/queries.ts'
import { findNamed } from '../search/find-named.ts'
import { type ConversationFilter, filterDigest } from './list-filter.ts'
import {
  type Columns,
  farthestMs,
  type ListOrder,
  orderBy,
  type Position,
  type SortedRow,
  timeOf,
  type Walk,
  walkList,
} from './list-walk.ts'
import {
  type ListedConversation,
  type ListedRow,
  listedColumns,
  openListed,
  openTeamListed,
  type TeamListedRow,
  teamListedColumns,
} from './listed-conversation.ts'

export interface ListRequest {
  filter: ConversationFilter
  order: ListOrder
  limit: number
  cursor: string | null
}

export interface ConversationPage<C> {
  conversations: C[]
  cursor: string | null
}

/** One page; ids break ties. Throws `InvalidInput` for a cursor of another list. */
export async function listConversations(
  sql: Sql,
  keyring: Keyring,
  scope: Scope,
  request: ListRequest,
): Promise<ConversationPage<ListedConversation>> {
  const { rows, cursor } = await selectPage<ListedRow>(sql, keyring, scope, request, listedColumns)
  return { conversations: rows.map((row) => openListed(keyring, row)), cursor }
}

/** The same, with what the team sees beside it. */
export async function listTeamConversations(
  sql: Sql,
  keyring: Keyring,
  scope: Scope,
  request: ListRequest,
): Promise<ConversationPage<Conversation>> {
  const { rows, cursor } = await selectPage<TeamListedRow>(sql, keyring, scope, request, teamListedColumns)
  return { conversations: rows.map((row) => openTeamListed(keyring, row)), cursor }
}

async function selectPage<R extends SortedRow>(
  sql: Sql,
  keyring: Keyring,
  scope: Scope,
  { filter, order, limit, cursor }: ListRequest,
  columns: Columns,
): Promise<{ rows: R[]; cursor: string | null }> {
  const after = cursor === null ? null : readCursor(cursor, order, filter)
  const walk: Walk = { filter, order, after, limit: limit + 1 }
  const rows =
    (await selectNamed<R>(sql, keyring, scope, walk, columns)) ??
    (await walkForLabel<R>(sql, keyring, scope, walk, columns)) ??
    (await selectRows<R>(sql, keyring, scope, walk, columns))
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return { rows: shown, cursor: last === undefined || rows.length <= limit ? null : writeCursor(last, order, filter) }
}

function selectRows<R extends SortedRow>(sql: Sql, keyring: Keyring, scope: Scope, walk: Walk, columns: Columns) {
  return sql<R[]>`${walkList(sql, keyring, scope, walk, columns)}`
}

/** Null where nobody searches. Those that are gone since they were found are left out. */
async function selectNamed<R extends SortedRow>(
  sql: Sql,
  keyring: Keyring,
  { workspaceId, ...scope }: Scope,
  { filter: { named, ...others }, ...walk }: Walk,
  columns: Columns,
): Promise<R[] | null> {
  if (named === null) return null
  const filter = { ...others, named: null }
  const ids = await findNamed(sql, keyring, { workspaceId, ...scope }, { filter, ...walk }, named)
  if (ids.length === 0) return []
  return sql<R[]>`
    select c.*
    from unnest(${ids}::uuid[]) with ordinality as found (id, place)
    cross join lateral (
      select ${columns(sql, asItIs)}
      from conversations c
      where c.workspace_id = ${anyWorkspace(sql, workspaceId)}
        and c.id = found.id
      offset 0
    ) as c
    order by found.place`
}

/** So many are read one after the other before all with a label are read and sorted. */
const walked = 1000

/**
 * The index of labels knows no order: all conversations with a label would be read to show the first of them. Of a common
 * label these are among the next so many of the list. Null when they are not.
 */
async function walkForLabel<R extends SortedRow>(
  sql: Sql,
  keyring: Keyring,
  scope: Scope,
  { filter, order, after, limit }: Walk,
  columns: Columns,
): Promise<R[] | null> {
  const { labelId, ...others } = filter
  if (labelId === null) return null
  const all = { filter: { ...others, labelId: null }, order, after, limit: walked }
  const placed: Columns = (_, { lastMessageAt, updatedAt, unansweredSince }) => sql`
    c.id,
    ${lastMessageAt(sql)} as last_message_at,
    ${updatedAt(sql)} as updated_at,
    ${unansweredSince(sql)} as unanswered_since,
    c.label_ids @> array[${labelId}::uuid] as is_labelled`
  const rows = await sql<(R & { seen: number })[]>`
    with next as materialized (${walkList(sql, keyring, scope, all, placed)})
    select c.*, (select count(*)::integer from next) as seen
    from (
      select c.id
      from next c
      where c.is_labelled
      ${orderBy(sql, order)}
      limit ${limit}
    ) as found
    cross join lateral (
      select ${columns(sql, asItIs)}
      from conversations c
      where c.workspace_id = ${scope.workspaceId}
        and c.id = found.id
      offset 0
    ) as c
    ${orderBy(sql, order)}`
  const isAll = rows.length === limit || (rows[0] !== undefined && rows[0].seen < walked)
  return isAll ? rows : null
}

function writeCursor(row: SortedRow, order: ListOrder, filter: ConversationFilter): string {
  return encodeCursor([order, filterDigest(filter), timeOf(row, order), row.id])
}

function readCursor(text: string, order: ListOrder, filter: ConversationFilter): Position {
  const [by, digest, time, id, extra] = decodeCursor(text) ?? []
  const isOurs = by === order && digest === filterDigest(filter) && extra === undefined
  if (!isOurs || !isTime(time) || typeof id !== 'string' || !isUuid(id)) {
    throw invalid('cursor', 'is not a cursor of this list and these filters', 'query')
  }
  return { time: new Date(time), id }
}

const isTime = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= farthestMs
