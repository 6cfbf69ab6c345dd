import type { Sql } from '../base/db.ts'
import { createZoneFormat, localDateAt } from '../base/time.ts'
import {
  type Amount,
  appliesTo,
  formatAmount,
  inCurrentPeriod,
  leftOf,
  oneMessage,
  parseAmount,
} from '../inbox/budgets/budget.ts'
import { amountsOf, readBudgets, readHighestPrices } from '../inbox/budgets/budget-queries.ts'
import { findCardPrice, findPrice, type PriceList, type Rate } from '../inbox/budgets/send-cost.ts'
import type { ChangeTx } from '../inbox/conversation/conversation.ts'
import { findBillingSettings, findCurrency } from '../inbox/costs/billing-settings.ts'
import type { AudienceCounts, Broadcast } from './broadcast.ts'

/** Adds up what an audience may cost, and leaves out who would exceed a budget. */
export interface CostEstimate {
  /** Adds a recipient; returns `over_budget` without adding one that the budgets do not allow. */
  add(country: string | null, category: string): 'over_budget' | null
  sums(): Pick<AudienceCounts, 'amount' | 'currency' | 'unpriced'>
}

/**
 * Opens the estimate of a broadcast where its counts have left it. Prices are those of the rate card in force; one that is
 * unknown stays unknown in the sum, but takes the highest known price from a budget, as in a send.
 */
export async function openEstimate({ tx, workspaceId, now }: ChangeTx, broadcast: Broadcast): Promise<CostEstimate> {
  const { connectionId, counts } = broadcast
  const settings = await findBillingSettings(tx, workspaceId)
  const currency = await currencyOf(tx, workspaceId, connectionId)
  const today = localDateAt(createZoneFormat(settings.timeZone), now.getTime())
  const [rates, highest, stored] = await Promise.all([
    currency === null ? [] : readCard(tx, workspaceId, currency, today),
    currency === null ? {} : readHighestPrices(tx, workspaceId, currency),
    readBudgets(tx, workspaceId),
  ])
  const list: PriceList = { rates, highest: amountsOf(highest), charged: new Map() }
  const spender = { connectionId, keyId: null }
  const applying = stored.filter((budget) => appliesTo(budget, spender))
  const leftIn = (unit: 'money' | 'messages') =>
    applying
      .filter((budget) => budget.unit === unit)
      .map((budget) => leftOf(inCurrentPeriod(budget, now, settings.timeZone)))
      .reduce<Amount | null>((least, left) => (least === null || left < least ? left : least), null)
  const left = { money: leftIn('money'), messages: leftIn('messages') }
  let amount: Amount | null = counts?.amount == null ? null : parseAmount(counts.amount)
  let [unpriced, included] = [counts?.unpriced ?? 0, counts?.included ?? 0]
  const assumed = highestOf(list)
  return {
    add: (country, category) => {
      const name = category.toLowerCase()
      const price = country === null ? null : findCardPrice(list, country, name)
      const demand = price ?? findPrice(list, country, name) ?? 0n
      // What came before with an unknown price counts as the highest.
      const spent = (amount ?? 0n) + BigInt(unpriced) * assumed
      if (left.money !== null && spent + demand > left.money) return 'over_budget'
      if (left.messages !== null && BigInt(included + 1) * oneMessage > left.messages) return 'over_budget'
      included++
      if (price === null) unpriced++
      else amount = (amount ?? 0n) + price
      return null
    },
    sums: () => ({ amount: amount === null ? null : formatAmount(amount), currency, unpriced }),
  }
}

const highestOf = ({ highest }: PriceList): Amount =>
  [...highest.values()].reduce<Amount>((most, price) => (price > most ? price : most), 0n)

/** Returns the currency in which a connection is billed; null if unknown. */
export async function currencyOf(sql: Sql, workspaceId: string, connectionId: string): Promise<string | null> {
  const [own] = await sql<{ currency: string }[]>`
    select currency
    from connection_billing
    where workspace_id = ${workspaceId}
      and connection_id = ${connectionId}`
  return own?.currency ?? findCurrency(sql, workspaceId, await findBillingSettings(sql, workspaceId))
}

/** Returns the prices of the card in force: a few hundred. */
async function readCard(sql: Sql, workspaceId: string, currency: string, today: string): Promise<Rate[]> {
  const rates = await sql<(Omit<Rate, 'price'> & { price: string })[]>`
    select market, category, from_message::float8 as "fromMessage", price::text as price
    from rates
    where workspace_id = ${workspaceId}
      and rate_card_id = (
        select id
        from rate_cards
        where workspace_id = ${workspaceId}
          and currency = ${currency}
          and valid_from <= ${today}::date
        order by valid_from desc
        limit 1
      )`
  return rates.map(({ price, ...rate }) => ({ ...rate, price: parseAmount(price) }))
}
