import { decodeCursor, encodeCursor } from '../../base/cursor.ts'
import { invalid } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import { currentColumns } from '../conversation/activity-columns.ts'
import type { Conversation, ScopedSql } from '../conversation/conversation.ts'
import { opaqueWorkspaceId } from '../conversation/queries.ts'
import { findConversationsByName } from '../search/find-by-name.ts'
import {
  type ConversationListItem,
  decryptListItem,
  decryptTeamListItem,
  type ListItemRow,
  listItemColumns,
  type TeamListItemRow,
  teamListItemColumns,
} from './conversation-list-item.ts'
import { type ConversationFilter, filterDigest } from './list-filter.ts'
import {
  type Columns,
  type ListOrder,
  type ListPosition,
  type ListRange,
  maxTimeMs,
  orderBy,
  type SortedRow,
  selectListRange,
  timeOf,
} from './list-range.ts'

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

/** Returns one page. Throws `InvalidInput` for a cursor of another list. */
export async function listConversations(
  reader: ScopedSql,
  request: ListRequest,
): Promise<ConversationPage<ConversationListItem>> {
  const { rows, cursor } = await selectPage<ListItemRow>(reader, request, listItemColumns)
  return { conversations: rows.map((row) => decryptListItem(reader.keyring, row)), cursor }
}

/** Returns one page with the additional fields for the team. */
export async function listTeamConversations(
  reader: ScopedSql,
  request: ListRequest,
): Promise<ConversationPage<Conversation>> {
  const { rows, cursor } = await selectPage<TeamListItemRow>(reader, request, teamListItemColumns)
  return { conversations: rows.map((row) => decryptTeamListItem(reader.keyring, row)), cursor }
}

async function selectPage<R extends SortedRow>(
  reader: ScopedSql,
  { filter, order, limit, cursor }: ListRequest,
  columns: Columns,
): Promise<{ rows: R[]; cursor: string | null }> {
  const after = cursor === null ? null : parseCursor(cursor, order, filter)
  const range: ListRange = { filter, order, after, limit: limit + 1 }
  const rows =
    (await selectByName<R>(reader, range, columns)) ??
    (await scanForLabel<R>(reader, range, columns)) ??
    (await reader.sql<R[]>`${selectListRange(reader, range, columns)}`)
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return { rows: shown, cursor: last === undefined || rows.length <= limit ? null : writeCursor(last, order, filter) }
}

/** Returns null without a search. Leaves out conversations deleted since the search. */
async function selectByName<R extends SortedRow>(
  reader: ScopedSql,
  { filter: { nameSearch, ...others }, ...range }: ListRange,
  columns: Columns,
): Promise<R[] | null> {
  if (nameSearch === null) return null
  const { sql, workspaceId } = reader
  const filter = { ...others, nameSearch: null }
  const ids = await findConversationsByName(reader, { filter, ...range }, nameSearch)
  if (ids.length === 0) return []
  return sql<R[]>`
    select c.*
    from unnest(${ids}::uuid[]) with ordinality as found (id, place)
    cross join lateral (
      select ${columns(sql, currentColumns)}
      from conversations c
      where c.workspace_id = ${opaqueWorkspaceId(sql, workspaceId)}
        and c.id = found.id
      offset 0
    ) as c
    order by found.place`
}

/** Rows scanned in list order before falling back to sorting all conversations with the label. */
const maxScanned = 1000

/**
 * Scans the next rows of the list for a label. The label index has no order, so it would read all conversations with
 * the label to show the first page; those with a common label are found among the next rows. Returns null if they are
 * not.
 */
async function scanForLabel<R extends SortedRow>(
  reader: ScopedSql,
  { filter, order, after, limit }: ListRange,
  columns: Columns,
): Promise<R[] | null> {
  const { labelId, ...others } = filter
  if (labelId === null) return null
  const { sql } = reader
  const all = { filter: { ...others, labelId: null }, order, after, limit: maxScanned }
  const scanColumns: Columns = (_, { lastMessageAt, updatedAt, unansweredSince, goalDueAt }) => sql`
    c.id,
    ${lastMessageAt(sql)} as last_message_at,
    ${updatedAt(sql)} as updated_at,
    ${unansweredSince(sql)} as unanswered_since,
    ${goalDueAt(sql)} as goal_due_at,
    c.priority,
    c.label_ids @> array[${labelId}::uuid] as is_labelled`
  const rows = await sql<(R & { seen: number })[]>`
    with next as materialized (${selectListRange(reader, all, scanColumns)})
    select c.*, (select count(*)::integer from next) as seen
    from (
      select c.id
      from next c
      where c.is_labelled
      ${orderBy(sql, order)}
      limit ${limit}
    ) as found
    cross join lateral (
      select ${columns(sql, currentColumns)}
      from conversations c
      where c.workspace_id = ${reader.workspaceId}
        and c.id = found.id
      offset 0
    ) as c
    ${orderBy(sql, order)}`
  const isComplete = rows.length === limit || (rows[0] !== undefined && rows[0].seen < maxScanned)
  return isComplete ? rows : null
}

function writeCursor(row: SortedRow, order: ListOrder, filter: ConversationFilter): string {
  return encodeCursor([order, filterDigest(filter), timeOf(row, order), row.id])
}

function parseCursor(text: string, order: ListOrder, filter: ConversationFilter): ListPosition {
  const [sortedBy, digest, time, id, extra] = decodeCursor(text) ?? []
  const isValid = sortedBy === order && digest === filterDigest(filter) && extra === undefined
  if (!isValid || !isTime(time) || typeof id !== 'string' || !isUuid(id)) {
    throw invalid('cursor', 'is not a cursor of this list and these filters', 'query')
  }
  return { time: new Date(time), id }
}

const isTime = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= maxTimeMs
