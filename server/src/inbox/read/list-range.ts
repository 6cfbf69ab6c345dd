import { decodeCursor, encodeCursor } from '../../base/cursor.ts'
import type { Fragment, Sql } from '../../base/db.ts'
import { invalid } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import {
  type ColumnSource,
  currentColumns,
  indexedColumns,
  isIdle,
  touchedConversations,
} from '../conversation/activity-columns.ts'
import type { ScopedSql } from '../conversation/conversation.ts'
import type { ListItemRow, TeamListItemRow } from './conversation-list-item.ts'
import { type ConversationFilter, filterCondition } from './list-filter.ts'

export interface ListRange {
  filter: ConversationFilter
  order: ListOrder
  after: ListPosition | null
  limit: number
}

/** SQL: columns of `conversations c` to select from a column source; columns of the order keep their names. */
export type Columns = (sql: Sql, source: ColumnSource) => Fragment

/** SQL: the next rows of a list: idle conversations by the index of the order, and all (few) touched ones. */
export function selectListRange(
  reader: ScopedSql,
  { filter, order, after, limit }: ListRange,
  columns: Columns,
): Fragment {
  const { sql, workspaceId } = reader
  // Literal limit: for a parameter the planner assumes a tenth of all rows and plans again for each page, which takes
  // three times as long as reading it.
  const rows = sql.count(limit)
  return sql`
    select c.*
    from (
      (
        select ${columns(sql, indexedColumns)}
        from conversations c
        where ${filterCondition(reader, filter, indexedColumns)}
          ${afterPosition(sql, order, after, indexedColumns)}
          and ${isIdle(sql)}
        ${orderBy(sql, order, indexedColumns)}
        limit ${rows}
      )
      union all
      (
        select ${columns(sql, currentColumns)}
        from ${touchedConversations(sql, workspaceId)}
        where m.workspace_id = ${workspaceId}
          and ${filterCondition(reader, filter, currentColumns)}
          ${afterPosition(sql, order, after, currentColumns)}
        ${orderBy(sql, order, currentColumns)}
        limit ${rows}
      )
    ) as c
    ${orderBy(sql, order)}
    limit ${rows}`
}

/**
 * `updated`: last changed first. `recent`: newest message first. `waiting`: longest waiting customer first. `due`: only
 * with a goal to reach, the next one first. `priority`: only with a priority, the highest first, then the newest.
 */
export type ListOrder = 'updated' | 'recent' | 'waiting' | 'due' | 'priority'

/** Position after which the list continues; ids break ties. Its time is the priority in milliseconds for that order. */
export interface ListPosition {
  time: Date
  id: string
}

export type SortedRow = Pick<ListItemRow, 'id' | 'last_message_at' | 'updated_at'> &
  Partial<Pick<TeamListItemRow, 'unanswered_since' | 'goal_due_at' | 'priority'>>

export function afterPosition(sql: Sql, order: ListOrder, after: ListPosition | null, source: ColumnSource) {
  const position = after === null ? null : sql`(${after.time}::timestamptz, ${after.id}::uuid)`
  switch (order) {
    case 'updated':
      return position === null ? sql`` : sql`and (${source.updatedAt(sql)}, c.id) < ${position}`
    case 'recent':
      return position === null ? sql`` : sql`and (${source.lastMessageAt(sql)}, c.id) < ${position}`
    case 'waiting':
      return sql`
        and ${source.unansweredSince(sql)} is not null
        ${position === null ? sql`` : sql`and (${source.unansweredSince(sql)}, c.id) > ${position}`}`
    case 'due':
      return sql`
        and ${source.goalDueAt(sql)} is not null
        ${position === null ? sql`` : sql`and (${source.goalDueAt(sql)}, c.id) > ${position}`}`
    case 'priority':
      return sql`
        and c.priority is not null
        ${after === null ? sql`` : sql`and (c.priority, c.id) < (${after.time.getTime()}::smallint, ${after.id}::uuid)`}`
    default:
      return order satisfies never
  }
}

/** SQL: order of `c`; without a column source, of rows already selected. */
export function orderBy(sql: Sql, order: ListOrder, source: ColumnSource = indexedColumns) {
  switch (order) {
    case 'waiting':
      return sql`order by ${source.unansweredSince(sql)}, c.id`
    case 'due':
      return sql`order by ${source.goalDueAt(sql)}, c.id`
    case 'priority':
      return sql`order by c.priority desc, c.id desc`
    case 'recent':
      return sql`order by ${source.lastMessageAt(sql)} desc, c.id desc`
    case 'updated':
      return sql`order by ${source.updatedAt(sql)} desc, c.id desc`
    default:
      return order satisfies never
  }
}

export function timeOf(row: SortedRow, order: ListOrder): number | undefined {
  if (order === 'waiting') return row.unanswered_since?.getTime()
  if (order === 'due') return row.goal_due_at?.getTime()
  if (order === 'priority') return row.priority ?? undefined
  return (order === 'recent' ? row.last_message_at : row.updated_at).getTime()
}

/** Position in a list sorted by time; ids break ties. */
export interface TimePosition {
  at: Date
  id: string
}

export const encodeTimePosition = (list: string, { at, id }: TimePosition): string =>
  encodeCursor([list, at.getTime(), id])

// Latest time that both PostgreSQL and Date support.
export const maxTimeMs = 253_402_300_799_999

/** Parses a position of this list. Throws `InvalidInput` for anything else. */
export function parseTimePosition(
  list: string,
  text: string,
  field = 'cursor',
  problem = 'is not a cursor of this list',
): TimePosition {
  const [name, time, id, extra] = decodeCursor(text) ?? []
  const isTime = Number.isSafeInteger(time) && Math.abs(Number(time)) <= maxTimeMs
  if (name !== list || !isTime || typeof id !== 'string' || !isUuid(id) || extra !== undefined) {
    throw invalid(field, problem, 'query')
  }
  return { at: new Date(Number(time)), id }
}
