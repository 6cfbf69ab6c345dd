import type { Sql } from '../../base/db.ts'
import type { BillingSettings } from './billing-settings.ts'

/** Returns whether everything to the customer is free for now, because they came from an ad. */
export async function isInFreeWindow(
  sql: Sql,
  workspaceId: string,
  conversationId: string,
  now: Date,
): Promise<boolean> {
  const rows = await sql`
    select
    from message_charges
    where workspace_id = ${workspaceId}
      and conversation_id = ${conversationId}
      and free_until > ${now}
      and type = 'free_entry_point'
    limit 1`
  return rows.length > 0
}

/** Free service messages that a connection has left in the account's month. */
export interface FreeMessages {
  connectionId: string
  left: number
}

/**
 * Returns how many free service messages the connections to the official platform have left this month. Counts at most
 * the free ones of each, by the prices that the platform has reported so far.
 */
export async function readFreeMessages(
  sql: Sql,
  workspaceId: string,
  connectionIds: readonly string[],
  { timeZone, freeServiceMessages }: BillingSettings,
  now: Date,
): Promise<FreeMessages[]> {
  if (connectionIds.length === 0) return []
  return sql<FreeMessages[]>`
    select n.id as "connectionId", greatest(0, ${freeServiceMessages}::integer - used.count) as left
    from unnest(${[...connectionIds]}::uuid[]) with ordinality as n (id, place)
    cross join lateral (
      select count(*)::integer as count
      from (
        select
        from message_charges
        where workspace_id = ${workspaceId}
          and charged_at >= date_trunc('month', ${now}::timestamptz at time zone ${timeZone}) at time zone ${timeZone}
          and connection_id = n.id
          and category = 'service'
          and type in ('regular', 'free_customer_service')
          and delivered is not false
        limit ${freeServiceMessages}
      ) as counted
    ) as used
    order by n.place`
}
