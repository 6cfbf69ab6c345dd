import type { Fragment, Sql } from '../../base/db.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import type { Scope } from '../conversation/conversation.ts'
import { asItIs, asPlaced, movingConversations, type Reading, standsStill } from '../conversation/moving.ts'
import { type ConversationFilter, filterCondition } from './list-filter.ts'
import { afterPosition, type ListOrder, orderBy, type Position } from './list-order.ts'

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
