import type { Fragment, Sql } from '../../base/db.ts'
import { holdRuleTable } from '../../channels/waba/errors.ts'
import { type BillingSettings, findBillingSettings } from './billing-settings.ts'

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
    limit 1`
  return rows.length > 0
}

/** Free service messages that a connection has left in the account's month. */
export interface FreeMessages {
  connectionId: string
  left: number
  /** The platform has charged for one besides free ones: others of the account used up the rest. */
  isCharging: boolean
}

/**
 * Returns how many free service messages the connections to the official platform have left this month. Counts at most
 * the free ones of each, by the prices that the platform has reported so far.
 */
export async function readFreeMessages(
  sql: Sql,
  workspaceId: string,
  connectionIds: readonly string[],
  settings: BillingSettings,
  now: Date,
): Promise<FreeMessages[]> {
  const { freeServiceMessages } = settings
  if (connectionIds.length === 0) return []
  return sql<FreeMessages[]>`
    select n.id as "connectionId", greatest(0, ${freeServiceMessages}::integer - used.count) as left,
      used.types > 1 as "isCharging"
    from unnest(${[...connectionIds]}::uuid[]) with ordinality as n (id, place)
    cross join lateral (
      select count(*)::integer as count, count(distinct counted.type) as types
      from (
        select type
        from message_charges
        where workspace_id = ${workspaceId}
          and charged_at >= ${monthStart(sql, settings, now)}
          and connection_id = n.id
          and category = 'service'
          and type in ('regular', 'free_customer_service')
          and delivered is not false
        limit ${freeServiceMessages}
      ) as counted
    ) as used
    order by n.place`
}

/** A message that is about to be sent. */
interface UnsentMessage {
  conversationId: string
  connectionId: string
  isTemplate: boolean
}

/**
 * Returns whether the platform charges nothing for a message, by what it has reported so far: everything in a free entry
 * point, a reply that opens one, and a free-form message while the number has free ones left this month. Other apps on the
 * number use these up too: none is left once the platform has charged for one besides free ones, or has refused one.
 */
export async function isFreeOfCharge(
  sql: Sql,
  workspaceId: string,
  { conversationId, connectionId, isTemplate }: UnsentMessage,
  now: Date,
): Promise<boolean> {
  if (await isInFreeWindow(sql, workspaceId, conversationId, now)) return true
  if (isTemplate) return false
  if (await cameFromAd(sql, workspaceId, conversationId, now)) return true
  const settings = await findBillingSettings(sql, workspaceId)
  if (await hasRefused(sql, workspaceId, connectionId, settings, now)) return false
  const [free] = await readFreeMessages(sql, workspaceId, [connectionId], settings, now)
  return free !== undefined && free.left > 0 && !free.isCharging
}

/** Returns whether the platform has refused a free-form message this month because it would have charged for it. */
async function hasRefused(
  sql: Sql,
  workspaceId: string,
  connectionId: string,
  settings: BillingSettings,
  now: Date,
): Promise<boolean> {
  const rows = await sql`
    select
    from messages
    where workspace_id = ${workspaceId}
      and connection_id = ${connectionId}
      and occurred_at >= ${monthStart(sql, settings, now)}
      and error_code = any (${chargeRefusals}::text[])
      and kind <> 'template'
    limit 1`
  return rows.length > 0
}

/** SQL: when the account's month began. */
const monthStart = (sql: Sql, { timeZone }: BillingSettings, now: Date): Fragment => sql`
  date_trunc('month', ${now}::timestamptz at time zone ${timeZone}) at time zone ${timeZone}`

/** A reply within a day to a customer who came from an ad opens a free entry point, and is the first free message in it. */
const adMs = 24 * 3_600_000

async function cameFromAd(sql: Sql, workspaceId: string, conversationId: string, now: Date): Promise<boolean> {
  const rows = await sql`
    select
    from messages
    where workspace_id = ${workspaceId}
      and conversation_id = ${conversationId}
      and has_referral
      and occurred_at > ${new Date(now.getTime() - adMs)}
    limit 1`
  return rows.length > 0
}

/** Codes with which the platform refuses what it charges for. */
const chargeRefusals = holdRuleTable.flatMap(([{ stops }, ...codes]) => (stops === 'billable' ? codes.map(String) : []))
