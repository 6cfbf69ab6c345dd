import type { Sql } from '../../base/db.ts'
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

export function afterPosition(sql: Sql, order: ListOrder, after: Position | null) {
  const position = after === null ? null : sql`(${after.time}::timestamptz, ${after.id}::uuid)`
  switch (order) {
    case 'updated':
      return position === null ? sql`` : sql`and (c.updated_at, c.id) < ${position}`
    case 'recent':
      return position === null ? sql`` : sql`and (c.last_message_at, c.id) < ${position}`
    case 'waiting':
      return sql`
        and c.unanswered_since is not null
        ${position === null ? sql`` : sql`and (c.unanswered_since, c.id) > ${position}`}`
    default:
      return order satisfies never
  }
}

export function orderBy(sql: Sql, order: ListOrder) {
  if (order === 'waiting') return sql`order by c.unanswered_since, c.id`
  return order === 'recent'
    ? sql`order by c.last_message_at desc, c.id desc`
    : sql`order by c.updated_at desc, c.id desc`
}

export function timeOf(row: SortedRow, order: ListOrder): number | undefined {
  if (order === 'waiting') return row.unanswered_since?.getTime()
  return (order === 'recent' ? row.last_message_at : row.updated_at).getTime()
}
