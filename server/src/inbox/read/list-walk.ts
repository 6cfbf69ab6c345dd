import { decodeCursor, encodeCursor } from '../../base/cursor.ts'
import type { Fragment, Sql } from '../../base/db.ts'
import { invalid } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import type { Scope } from '../conversation/conversation.ts'
import { asItIs, asPlaced, movingConversations, type Reading, standsStill } from '../conversation/moving.ts'
import { type ConversationFilter, filterCondition } from './list-filter.ts'
import type { ListedRow, TeamListedRow } from './listed-conversation.ts'

/** A stretch of a list. */
export interface Walk {
  filter: ConversationFilter
  order: ListOrder
  after: Position | null
  limit: number
}

/** SQL: what is selected of `conversations c`, by a reading that is right for them; those of the order under their own names. */
export type Columns = (sql: Sql, reading: Reading) => Fragment

/**
 * SQL: the next of a list, in its order. Those in their places by the index of the order; and those that move, which are few,
 * all of them.
 */
export function walkList(
  sql: Sql,
  keyring: Keyring,
  scope: Scope,
  { filter, order, after, limit }: Walk,
  columns: Columns,
): Fragment {
  // Of a limit that it does not see the database expects a tenth of all rows, and so plans anew for each page, which takes three times as
  // long as to read one.
  const rows = sql.count(limit)
  return sql`
    select c.*
    from (
      (
        select ${columns(sql, asPlaced)}
        from conversations c
        where ${filterCondition(sql, keyring, scope, filter, asPlaced)}
          ${afterPosition(sql, order, after, asPlaced)}
          and ${standsStill(sql)}
        ${orderBy(sql, order, asPlaced)}
        limit ${rows}
      )
      union all
      (
        select ${columns(sql, asItIs)}
        from ${movingConversations(sql, scope.workspaceId)}
        where m.workspace_id = ${scope.workspaceId}
          and ${filterCondition(sql, keyring, scope, filter, asItIs)}
          ${afterPosition(sql, order, after, asItIs)}
        ${orderBy(sql, order, asItIs)}
        limit ${rows}
      )
    ) as c
    ${orderBy(sql, order)}
    limit ${rows}`
}

/** `updated`: changed last first. `recent`: newest message first. `waiting`: the customer who waits longest first. */
export type ListOrder = 'updated' | 'recent' | 'waiting'

/** Behind it the list goes on; ids break ties. */
export interface Position {
  time: Date
  id: string
}

/** What a list may be sorted by. */
export type SortedRow = Pick<ListedRow, 'id' | 'last_message_at' | 'updated_at'> &
  Partial<Pick<TeamListedRow, 'unanswered_since'>>

export function afterPosition(sql: Sql, order: ListOrder, after: Position | null, reading: Reading) {
  const position = after === null ? null : sql`(${after.time}::timestamptz, ${after.id}::uuid)`
  switch (order) {
    case 'updated':
      return position === null ? sql`` : sql`and (${reading.updatedAt(sql)}, c.id) < ${position}`
    case 'recent':
      return position === null ? sql`` : sql`and (${reading.lastMessageAt(sql)}, c.id) < ${position}`
    case 'waiting':
      return sql`
        and ${reading.unansweredSince(sql)} is not null
        ${position === null ? sql`` : sql`and (${reading.unansweredSince(sql)}, c.id) > ${position}`}`
    default:
      return order satisfies never
  }
}

/** Of `c` as rows have been read, unless a reading of `conversations c` is given. */
export function orderBy(sql: Sql, order: ListOrder, reading: Reading = asPlaced) {
  if (order === 'waiting') return sql`order by ${reading.unansweredSince(sql)}, c.id`
  return order === 'recent'
    ? sql`order by ${reading.lastMessageAt(sql)} desc, c.id desc`
    : sql`order by ${reading.updatedAt(sql)} desc, c.id desc`
}

export function timeOf(row: SortedRow, order: ListOrder): number | undefined {
  if (order === 'waiting') return row.unanswered_since?.getTime()
  return (order === 'recent' ? row.last_message_at : row.updated_at).getTime()
}

/** A place in a list that goes by time; ids break ties. */
export interface PlaceInTime {
  at: Date
  id: string
}

export const writePlace = (list: string, { at, id }: PlaceInTime): string => encodeCursor([list, at.getTime(), id])

// What PostgreSQL and Date both can hold.
export const farthestMs = 253_402_300_799_999

/** Reads what `writePlace` has written for this list. Throws `InvalidInput` for all else. */
export function readPlace(
  list: string,
  text: string,
  field = 'cursor',
  problem = 'is not a cursor of this list',
): PlaceInTime {
  const [name, time, id, extra] = decodeCursor(text) ?? []
  const isTime = Number.isSafeInteger(time) && Math.abs(Number(time)) <= farthestMs
  if (name !== list || !isTime || typeof id !== 'string' || !isUuid(id) || extra !== undefined) {
    throw invalid(field, problem, 'query')
  }
  return { at: new Date(Number(time)), id }
}
