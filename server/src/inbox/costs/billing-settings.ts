import type { Sql, Tx } from '../../base/db.ts'

/** How the platform bills the business accounts of a workspace. */
export interface BillingSettings {
  /** ISO 4217; null: the currency of the imported rate cards, if they all have one. */
  currency: string | null
  /** The account's time zone: its months decide about free messages and tiers, its days about rate cards. */
  timeZone: string
  /** Service messages that each number may send free of charge in a month. */
  freeServiceMessages: number
}

/** The platform's free messages since October 2026. Parley cannot know an account's time zone. */
export const defaultBillingSettings: BillingSettings = { currency: null, timeZone: 'UTC', freeServiceMessages: 1000 }

export async function findBillingSettings(sql: Sql, workspaceId: string): Promise<BillingSettings> {
  const [row] = await sql<BillingSettings[]>`
    select currency, time_zone as "timeZone", free_service_messages as "freeServiceMessages"
    from billing_settings
    where workspace_id = ${workspaceId}`
  return row ?? defaultBillingSettings
}

/** Changes the given settings; the others keep their values. */
export async function changeBillingSettings(
  tx: Tx,
  workspaceId: string,
  changes: Partial<BillingSettings>,
): Promise<BillingSettings> {
  const { currency, timeZone, freeServiceMessages } = { ...defaultBillingSettings, ...changes }
  const given = (name: keyof BillingSettings) => changes[name] !== undefined
  const [row] = await tx<BillingSettings[]>`
    insert into billing_settings as s (workspace_id, currency, time_zone, free_service_messages)
    values (${workspaceId}, ${currency}, ${timeZone}, ${freeServiceMessages})
    on conflict (workspace_id) do update
    set currency = case when ${given('currency')}::boolean then excluded.currency else s.currency end,
      time_zone = case when ${given('timeZone')}::boolean then excluded.time_zone else s.time_zone end,
      free_service_messages =
        case when ${given('freeServiceMessages')}::boolean then excluded.free_service_messages
        else s.free_service_messages end
    returning currency, time_zone as "timeZone", free_service_messages as "freeServiceMessages"`
  return row ?? { currency, timeZone, freeServiceMessages }
}

/** A connection whose account is billed in another currency than the workspace's settings say. */
export interface ConnectionCurrency {
  connectionId: string
  currency: string
}

export async function listConnectionCurrencies(sql: Sql, workspaceId: string): Promise<ConnectionCurrency[]> {
  return sql<ConnectionCurrency[]>`
    select connection_id as "connectionId", currency
    from connection_billing
    where workspace_id = ${workspaceId}
    order by connection_id`
}

/** Sets the currency of a connection; null: that of the workspace. Returns false if there is no such connection. */
export async function setConnectionCurrency(
  tx: Tx,
  workspaceId: string,
  connectionId: string,
  currency: string | null,
): Promise<boolean> {
  const [connection] = await tx`
    select id
    from connections
    where workspace_id = ${workspaceId}
      and id = ${connectionId}
      and removed_at is null`
  if (connection === undefined) return false
  if (currency === null) {
    await tx`
      delete from connection_billing
      where workspace_id = ${workspaceId}
        and connection_id = ${connectionId}`
    return true
  }
  await tx`
    insert into connection_billing (workspace_id, connection_id, currency)
    values (${workspaceId}, ${connectionId}, ${currency})
    on conflict (workspace_id, connection_id) do update
    set currency = excluded.currency`
  return true
}

/** Returns the currency in which the costs of a workspace are computed; null without rate cards, or with several. */
export async function findCurrency(sql: Sql, workspaceId: string, settings: BillingSettings): Promise<string | null> {
  if (settings.currency !== null) return settings.currency
  const rows = await sql<{ currency: string }[]>`
    select distinct currency
    from rate_cards
    where workspace_id = ${workspaceId}
    limit 2`
  return rows.length === 1 ? (rows[0]?.currency ?? null) : null
}
