import type { Sql, Tx } from '../../base/db.ts'
import { unnested } from '../../base/postgres/rows.ts'
import type { PlainTx } from '../conversation/conversation.ts'
import { type Amount, type Budget, type BudgetScope, formatAmount, parseAmount } from './budget.ts'
import type { Rate } from './send-cost.ts'

type AmountField = 'limit' | 'used' | 'reserved'
type BudgetRow = Omit<Budget, AmountField> & Record<AmountField, string>

/** Returns the budgets of a workspace as stored: those of the workspace, then of connections and keys. */
export async function readBudgets(sql: Sql, workspaceId: string): Promise<Budget[]> {
  const rows = await sql<BudgetRow[]>`
    select id, scope, scope_id as "scopeId", unit, currency, period, max_amount::text as "limit", used::text as used,
      reserved::text as reserved, period_from as "from", period_until as "until", warned_at as "warnedAt",
      reached_at as "reachedAt"
    from budgets
    where workspace_id = ${workspaceId}
    order by array_position(array['workspace', 'connection', 'key'], scope), created_at, id`
  return rows.map(({ limit, used, reserved, ...row }) => ({
    ...row,
    limit: parseAmount(limit),
    used: parseAmount(used),
    reserved: parseAmount(reserved),
  }))
}

export async function hasBudgets(sql: Sql, workspaceId: string): Promise<boolean> {
  const rows = await sql`
    select
    from budget_counts
    where workspace_id = ${workspaceId}`
  return rows.length > 0
}

/** What the last count of the ledger found. */
export interface LedgerCount {
  version: string
  monthFrom: Date
  /** Free service messages that were used this month, by number. */
  freeUsed: Record<string, number>
  /** Charged messages of this month, by `tierKey`. */
  charged: Record<string, number>
  /** Highest known price of each category; empty without a budget in money. */
  highestPrices: HighestPrices
}

/** Decimal numbers by category. */
type HighestPrices = Record<string, string>

export const amountsOf = (prices: HighestPrices): Map<string, Amount> =>
  new Map(Object.entries(prices).map(([category, price]) => [category, parseAmount(price)]))

/**
 * Locks the budgets of a workspace until the transaction ends. The row is the only lock of budgets, so that no order of
 * locks can deadlock; take it after those of conversations. Undefined if the workspace has no budget.
 */
export async function lockCount(tx: Tx, workspaceId: string): Promise<LedgerCount | undefined> {
  const [row] = await tx<LedgerCount[]>`
    select version::text as version, month_from as "monthFrom", free_used as "freeUsed", charged,
      highest_prices as "highestPrices"
    from budget_counts
    where workspace_id = ${workspaceId}
    for update`
  return row
}

/** Stores the counters of budgets, under the lock. */
export function storeCounters(tx: Tx, workspaceId: string, budgets: readonly Budget[]): Promise<unknown> {
  const rows = budgets.map(({ id, used, reserved, from, until, warnedAt, reachedAt }) => ({
    ...{ id, periodFrom: from, periodUntil: until, warnedAt, reachedAt },
    used: formatAmount(used),
    reserved: formatAmount(reserved),
  }))
  return tx`
    update budgets b
    set period_from = n.period_from,
      period_until = n.period_until,
      used = n.used::numeric,
      reserved = n.reserved::numeric,
      warned_at = n.warned_at,
      reached_at = n.reached_at
    from ${unnested(rows, {
      uuid: ['id'],
      text: ['used', 'reserved'],
      timestamptz: ['periodFrom', 'periodUntil', 'warnedAt', 'reachedAt'],
    })}
    where b.workspace_id = ${workspaceId}
      and b.id = n.id`.execute()
}

/** A platform message that a send may cost. */
export interface Reservation {
  messageId: string
  part: number
  connectionId: string
  numberId: string
  /** Null for people. */
  keyId: string | null
  isFree: boolean
  price: string | null
}

export function insertReservations(work: PlainTx, reservations: readonly Reservation[]): Promise<unknown> {
  const { tx, workspaceId, now } = work
  return tx`
    insert into budget_reservations (
      workspace_id, message_id, connection_id, key_id, part, number_id, price, is_free, reserved_at
    )
    select ${workspaceId}::uuid, n.message_id, n.connection_id, n.key_id, n.part, n.number_id, n.price::numeric,
      n.is_free, ${now}::timestamptz
    from ${unnested(reservations, {
      uuid: ['messageId', 'connectionId', 'keyId'],
      integer: ['part'],
      text: ['numberId', 'price'],
      boolean: ['isFree'],
    })}`.execute()
}

/** Returns the free messages of these numbers that sends since the last count have taken. */
export async function readFreeReserved(
  sql: Sql,
  workspaceId: string,
  numberIds: readonly string[],
  monthFrom: Date,
): Promise<Map<string, number>> {
  const rows = await sql<{ numberId: string; count: number }[]>`
    select number_id as "numberId", count(*)::integer as count
    from budget_reservations
    where workspace_id = ${workspaceId}
      and number_id = any (${[...numberIds]}::text[])
      and is_free
      and reserved_at >= ${monthFrom}
    group by number_id`
  return new Map(rows.map(({ numberId, count }) => [numberId, count]))
}

/** Returns those of these conversations whose customers came from an ad, so that everything is free for now. */
export async function readFreeWindows(
  sql: Sql,
  workspaceId: string,
  conversationIds: readonly string[],
  now: Date,
): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`
    select distinct conversation_id as id
    from message_charges
    where workspace_id = ${workspaceId}
      and conversation_id = any (${[...conversationIds]}::uuid[])
      and free_until > ${now}
      and type = 'free_entry_point'`
  return new Set(rows.map(({ id }) => id))
}

/** Returns the prices in force for these markets, in the currency of the budgets in money; none without such a budget. */
export async function readRates(
  sql: Sql,
  workspaceId: string,
  markets: readonly string[],
  today: string,
): Promise<Rate[]> {
  const rates = await sql<(Omit<Rate, 'price'> & { price: string })[]>`
    select r.market, r.category, r.from_message::float8 as "fromMessage", r.price::text as price
    from rates r
    where r.workspace_id = ${workspaceId}
      and r.market = any (${[...markets]}::text[])
      and r.rate_card_id = (
        select id
        from rate_cards
        where workspace_id = ${workspaceId}
          and currency = (
            select currency
            from budgets
            where workspace_id = ${workspaceId}
              and unit = 'money'
            limit 1
          )
          and valid_from <= ${today}::date
        order by valid_from desc
        limit 1
      )`
  return rates.map(({ price, ...rate }) => ({ ...rate, price: parseAmount(price) }))
}

/** Returns the highest price of each category on any rate card of the currency. */
export async function readHighestPrices(sql: Sql, workspaceId: string, currency: string): Promise<HighestPrices> {
  const rows = await sql<{ category: string; price: string }[]>`
    select r.category, max(r.price)::text as price
    from rate_cards c
    join rates r on r.workspace_id = c.workspace_id and r.rate_card_id = c.id
    where c.workspace_id = ${workspaceId}
      and c.currency = ${currency}
    group by r.category`
  return Object.fromEntries(rows.map(({ category, price }) => [category, price]))
}

/** Returns the largest used part of any budget by its scope, of all workspaces. */
export async function readLargestUse(sql: Sql, now: Date): Promise<Map<BudgetScope, number>> {
  const rows = await sql<{ scope: BudgetScope; ratio: number }[]>`
    select scope, max((used + reserved) / max_amount)::float8 as ratio
    from budgets
    where period_until > ${now}
    group by scope`
  return new Map(rows.map(({ scope, ratio }) => [scope, ratio]))
}
