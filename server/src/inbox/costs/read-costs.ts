import type { Fragment, Sql } from '../../base/db.ts'
import { unnested } from '../../base/postgres/rows.ts'
import {
  type BillingSettings,
  findBillingSettings,
  findCurrency,
  listConnectionCurrencies,
} from './billing-settings.ts'
import { marketCountries, otherMarketKey } from './markets.ts'
import { reachedTiers } from './volume-tiers.ts'

/** By what costs are summed. */
export const costGroupings = [
  'day',
  'connection',
  'sender',
  'template',
  'category',
  'type',
  'country',
  'conversation',
] as const
export type CostGrouping = (typeof costGroupings)[number]

/** A sum of messages. Unknown prices are counted, and never part of the amount. */
export interface CostSum {
  /** Messages with a price, and thus all of the others together. */
  messages: number
  charged: number
  free: number
  /** Of which the platform did not say whether it charges. */
  unknown: number
  /** Charged messages without a price on the rate card. */
  unpriced: number
  /** Exact decimal number of the charged messages that have a price; null if none has. */
  amount: string | null
}

export interface CostGroup extends CostSum {
  /** One value for each grouping, in their order; null if unknown or none. */
  keys: (string | null)[]
}

export interface CostPeriod {
  /** Days in the account's time zone, such as `2026-10-01`; both are included. */
  from: string
  to: string
}

interface CostScope {
  workspaceId: string
  /** Null for all. */
  connectionIds: readonly string[] | null
  settings: BillingSettings
  /** Null: messages are counted, without amounts. */
  currency: string | null
  /**
   * Currency of connections without one of their own: only connections that are billed in `currency` count. Absent: all do,
   * at its prices.
   */
  baseCurrency?: string | null
}

/**
 * Sums the costs of a period by these groupings, largest first. A message is charged once the platform has reported its
 * price, unless it has failed since. Free are those that the platform reports as free; and of service messages that it
 * reports as regular, the first ones of a number and month, if it has reported none as free in that month. Prices are
 * those of the card in force on the day, by the place of the message among the charged ones of its month, market and
 * category, which is at least the first of the volume tier that the platform has reported.
 */
export async function readCosts(
  sql: Sql,
  scope: CostScope,
  { from, to }: CostPeriod,
  groupings: readonly CostGrouping[],
  limit: number,
): Promise<CostGroup[]> {
  const keys = groupings.map((grouping) => sql`(${keyOf(sql, grouping)})`)
  const keyList = keys.reduce<Fragment>((all, key, n) => (n === 0 ? key : sql`${all}, ${key}`), sql``)
  return sql<CostGroup[]>`
    with ${pricedCharges(sql, scope, { from, to })}
    select ${keys.length === 0 ? sql`array[]::text[]` : sql`array[${keyList}]`} as keys,
      count(*)::integer as messages,
      (count(*) filter (where outcome = 'charged'))::integer as charged,
      (count(*) filter (where outcome = 'free'))::integer as free,
      (count(*) filter (where outcome = 'unknown'))::integer as unknown,
      (count(*) filter (where outcome = 'charged' and price is null))::integer as unpriced,
      trim_scale(sum(price))::text as amount
    from priced
    where day >= ${from}::date
    ${keys.length === 0 ? sql`` : sql`group by ${keyList}`}
    order by sum(price) desc nulls last, count(*) desc, 1
    limit ${limit}`
}

function keyOf(sql: Sql, grouping: CostGrouping): Fragment {
  switch (grouping) {
    case 'day':
      return sql`day::text`
    case 'connection':
      return sql`connection_id::text`
    case 'sender':
      return sql`actor_type || coalesce(':' || actor_id::text, '')`
    case 'template':
      return sql`template`
    case 'category':
      return sql`category`
    case 'type':
      return sql`type`
    case 'country':
      return sql`country`
    case 'conversation':
      return sql`conversation_id::text`
    default:
      return grouping satisfies never
  }
}

/** Categories that are billed like another if a card has no price of their own. */
export const sameRates = [
  { category: 'marketing_lite', as: 'marketing' },
  { category: 'group_marketing', as: 'marketing' },
  { category: 'group_utility', as: 'utility' },
  { category: 'group_service', as: 'service' },
]

/**
 * SQL, after `with`: `priced`, one row per message of the period and of its first month before it. The whole month is
 * read, because the place of a message in it decides about its price.
 */
export function pricedCharges(sql: Sql, scope: CostScope, { from, to }: CostPeriod): Fragment {
  const { workspaceId, connectionIds, settings, currency, baseCurrency } = scope
  const { timeZone, freeServiceMessages } = settings
  // Only the sums are limited to some connections: the others' messages use up tiers too.
  const only = connectionIds === null ? sql`` : sql`and placed.connection_id = any (${[...connectionIds]}::uuid[])`
  const inCurrency =
    baseCurrency === undefined || currency === null
      ? sql``
      : sql`and coalesce(b.currency, ${baseCurrency}::text) = ${currency}::text`
  return sql`
    ledger as (
      select c.*, k.number_id, (c.charged_at at time zone ${timeZone})::date as day,
        date_trunc('month', c.charged_at at time zone ${timeZone}) as month,
        c.type = 'regular' and c.category = 'service' as is_regular_service
      from message_charges c
      left join connections k on k.workspace_id = c.workspace_id and k.id = c.connection_id
      where c.workspace_id = ${workspaceId}
        and c.charged_at >= date_trunc('month', ${from}::date::timestamp) at time zone ${timeZone}
        and c.charged_at < (${to}::date + 1)::timestamp at time zone ${timeZone}
        and c.delivered is not false
    ),
    counted as (
      select *,
        count(*) filter (where type = 'free_customer_service' and category = 'service')
          over (partition by number_id, month) as reported_free,
        row_number() over (
          partition by number_id, month, is_regular_service
          order by charged_at, external_index
        ) as service_place
      from ledger
    ),
    decided as (
      select *,
        case
          when type in ('free_customer_service', 'free_entry_point', 'free_group_customer_service', 'exempt') then 'free'
          when type = 'unknown' then case when is_billable = false then 'free' else 'unknown' end
          when is_regular_service and reported_free = 0 and service_place <= ${freeServiceMessages} then 'free'
          else 'charged'
        end as outcome
      from counted
    ),
    cards as (
      select id, valid_from, lead(valid_from) over (order by valid_from) as valid_until
      from rate_cards
      where workspace_id = ${workspaceId}
        and currency = ${currency}
    ),
    carded as (
      select d.*, k.id as card_id
      from decided d
      left join cards k
        on d.outcome = 'charged' and d.day >= k.valid_from and (k.valid_until is null or d.day < k.valid_until)
    ),
    -- Few: one per card, country and category.
    combinations as (
      select distinct card_id, country, category
      from carded
      where card_id is not null
        and country is not null
    ),
    offered as (
      select o.card_id, o.country, o.category, r.market, r.category as rate_category,
        row_number() over (
          partition by o.card_id, o.country, o.category
          order by coalesce(r.market = n.own_key, false) desc, r.category = o.category desc
        ) as choice
      from combinations o
      left join ${unnested(marketCountries, { text: ['country', 'ownKey', 'regionKey'] })} on n.country = o.country
      left join ${categoryNames(sql)} on b.category = o.category
      join rates r on r.workspace_id = ${workspaceId}
        and r.rate_card_id = o.card_id
        and r.market in (n.own_key, coalesce(n.region_key, ${otherMarketKey}))
        and r.category in (o.category, b.billed_as)
    ),
    placed as (
      select c.*, o.market, o.rate_category,
        row_number() over (
          partition by c.month, o.market,
            case when o.rate_category = 'authentication_international' then 'authentication' else o.rate_category end
          order by c.charged_at, c.external_index
        ) as place
      from carded c
      left join offered o
        on o.choice = 1 and o.card_id = c.card_id and o.country = c.country and o.category = c.category
    ),
    ${reachedTiers(sql, workspaceId)},
    tiers as (
      select r.*, lead(r.from_message) over (
          partition by r.rate_card_id, r.market, r.category
          order by r.from_message
        ) as until_message
      from rates r
      where r.workspace_id = ${workspaceId}
    ),
    priced as (
      select p.*, t.price
      from (
        select placed.*
        from placed
        left join connection_billing b on b.workspace_id = ${workspaceId} and b.connection_id = placed.connection_id
        where true ${only} ${inCurrency}
      ) p
      left join reached v on v.connection_id = p.connection_id
        and v.market = p.market
        and v.category =
          case when p.rate_category = 'authentication_international' then 'authentication' else p.rate_category end
        and v.month = p.month::date
        and p.charged_at >= v.reached_at
        and (v.until is null or p.charged_at < v.until)
      left join tiers t on t.rate_card_id = p.card_id
        and t.market = p.market
        and t.category = p.rate_category
        and greatest(p.place, v.from_message) >= t.from_message
        and (t.until_message is null or greatest(p.place, v.from_message) < t.until_message)
    )`
}

const categoryNames = (sql: Sql): Fragment => sql`
  unnest(${sameRates.map(({ category }) => category)}::text[], ${sameRates.map((one) => one.as)}::text[])
    as b (category, billed_as)`

/** Returns how the costs of a workspace are summed: in this currency, or that of its billing settings. */
export async function costScopeOf(
  sql: Sql,
  workspaceId: string,
  asked: string | undefined,
): Promise<CostScope & { currencies: string[] }> {
  const [settings, connections] = await Promise.all([
    findBillingSettings(sql, workspaceId),
    listConnectionCurrencies(sql, workspaceId),
  ])
  const baseCurrency = await findCurrency(sql, workspaceId, settings)
  const own = connections.map(({ currency }) => currency).sort()
  const currencies = [...new Set([...(baseCurrency === null ? [] : [baseCurrency]), ...own])]
  return { workspaceId, connectionIds: null, settings, currency: asked ?? baseCurrency, baseCurrency, currencies }
}
