import type { Sql } from '../../base/db.ts'
import { asPlaced, type Reading } from '../conversation/moving.ts'
import type { ListedRow, TeamListedRow } from './listed-conversation.ts'

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
