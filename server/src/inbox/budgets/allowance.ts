import type { Tx } from '../../base/db.ts'
import { createZoneFormat, localDateAt } from '../../base/time.ts'
import type { PlainTx } from '../conversation/conversation.ts'
import { findBillingSettings } from '../costs/billing-settings.ts'
import { BudgetReached, recordAlerts } from './alerts.ts'
import {
  type Amount,
  appliesTo,
  type Budget,
  exceeds,
  formatAmount,
  inCurrentPeriod,
  oneMessage,
  parseAmount,
  periodAt,
  type Spender,
} from './budget.ts'
import {
  amountsOf,
  insertReservations,
  lockCount,
  type Reservation,
  readBudgets,
  readFreeReserved,
  readFreeWindows,
  readRates,
  storeCounters,
} from './budget-queries.ts'
import { costOfSend, demandOf, findPrice, marketsOf, type PartCost, type PriceList } from './send-cost.ts'

/** A send that budgets may limit. */
export interface SendToReserve extends Spender {
  conversationId: string
  numberId: string
  /** False for a linked phone, which costs nothing. */
  isCharging: boolean
  /** The recipient's, if known. */
  country: string | null
  /** As the platform bills it: `service` for what is not a template. */
  category: string
  parts: number
  /** Whether a person sends it although a budget is used up. */
  isConfirmed: boolean
}

/** What a send has reserved. */
export interface ReservedCost {
  costs: readonly PartCost[]
  /** Whether it exceeds a budget, as a person has confirmed. */
  isOver: boolean
}

/** A reserved send, once it has a message. */
export interface ReservedMessage extends Spender {
  messageId: string
  numberId: string
  cost: ReservedCost
}

/** What the budgets of a workspace allow to several sends of one transaction. */
export interface BudgetAllowance {
  /** Reserves what the send may cost; null without budgets. Throws 429 or, for people, 409 `BUDGET_REACHED`. */
  reserve(send: SendToReserve): ReservedCost | null
  /** Notifies the team of budgets that these reservations have used up, or nearly. */
  recordAlerts(): Promise<void>
  /** Stores the reservations, with statements that are sent at once. */
  store(messages: readonly ReservedMessage[]): Promise<unknown>
}

export const noBudgets: BudgetAllowance = {
  reserve: () => null,
  recordAlerts: async () => {},
  store: async () => {},
}

interface SendsToReserve {
  conversationIds: readonly string[]
  numberIds: readonly string[]
  countries: readonly (string | null)[]
}

/**
 * Locks the budgets of a workspace for sends whose conversations are locked: all reservations of the workspace follow
 * one another, on any node, so that none is lost and no two take the same rest.
 */
export async function lockBudgets(work: PlainTx, sends: SendsToReserve): Promise<BudgetAllowance> {
  const { tx, workspaceId, now } = work
  const { conversationIds, numberIds, countries } = sends
  const settings = await findBillingSettings(tx, workspaceId)
  const { timeZone, freeServiceMessages } = settings
  const month = periodAt('month', now, timeZone)
  const today = localDateAt(createZoneFormat(timeZone), now.getTime())
  const markets = [...new Set(countries.flatMap((country) => (country === null ? [] : marketsOf(country))))]
  // Pipelined: each statement after the first sees what was committed before its lock.
  const [count, stored, freeReserved, freeWindows, rates] = await Promise.all([
    lockCount(tx, workspaceId),
    readBudgets(tx, workspaceId),
    readFreeReserved(tx, workspaceId, numberIds, month.from),
    readFreeWindows(tx, workspaceId, conversationIds, now),
    readRates(tx, workspaceId, markets, today),
  ])
  if (count === undefined || stored.length === 0) return noBudgets
  const isThisMonth = count.monthFrom >= month.from
  const freeUsed = (numberId: string) => (isThisMonth ? (count.freeUsed[numberId] ?? 0) : 0)
  const state: State = {
    budgets: new Map(stored.map((budget) => [budget.id, inCurrentPeriod(budget, now, timeZone)])),
    freeLeft: new Map(
      numberIds.map((id) => [id, freeServiceMessages - freeUsed(id) - (freeReserved.get(id) ?? 0)] as const),
    ),
    freeWindows,
    prices: {
      rates,
      highest: amountsOf(count.highestPrices),
      charged: new Map(isThisMonth ? Object.entries(count.charged) : []),
    },
    hasMoney: stored.some(({ unit }) => unit === 'money'),
  }
  return {
    reserve: (send) => reserve(state, send, now),
    recordAlerts: async () => {
      for (const budget of await recordAlerts(work, [...state.budgets.values()])) state.budgets.set(budget.id, budget)
    },
    store: (messages) => {
      const rows = messages.flatMap(reservationsOf)
      if (rows.length === 0) return Promise.resolve()
      return Promise.all([
        insertReservations({ tx, workspaceId, now: latestOf(state.budgets, now) }, rows),
        storeCounters(tx, workspaceId, [...state.budgets.values()]),
      ])
    },
  }
}

/** Throws as a send would if it exceeds a budget. Reserves nothing: the send itself does. */
export async function checkBudgets(work: PlainTx, send: SendToReserve): Promise<void> {
  const { conversationId, numberId, country } = send
  const sends = { conversationIds: [conversationId], numberIds: [numberId], countries: [country] }
  const budgets = await lockBudgets(work, sends)
  budgets.reserve(send)
}

interface State {
  budgets: Map<string, Budget>
  freeLeft: Map<string, number>
  freeWindows: ReadonlySet<string>
  prices: PriceList
  hasMoney: boolean
}

/** Returns the time of a reservation: by a clock that is behind, it still belongs to the stored period. */
const latestOf = (budgets: ReadonlyMap<string, Budget>, now: Date): Date =>
  [...budgets.values()].reduce((latest, { from }) => (from > latest ? from : latest), now)

function reserve(state: State, send: SendToReserve, now: Date): ReservedCost {
  const { numberId, country, category, keyId, isConfirmed } = send
  const freeLeft = state.freeLeft.get(numberId) ?? 0
  const price: Amount | null = state.hasMoney ? findPrice(state.prices, country, category) : null
  const isInFreeWindow = state.freeWindows.has(send.conversationId)
  const costs = costOfSend({ ...send, isInFreeWindow }, freeLeft, price)
  const demand = demandOf(costs)
  const budgets = [...state.budgets.values()].filter((budget) => appliesTo(budget, send))
  const exceeded = budgets.filter((budget) => exceeds(budget, demand))
  // Reports the one that starts again last: waiting for another would not help.
  const last = exceeded.reduce<Budget | null>((a, b) => (a === null || b.until > a.until ? b : a), null)
  if (last !== null && !isConfirmed)
    throw new BudgetReached(last, { needed: demand[last.unit], isPerson: keyId === null, now })
  for (const budget of budgets)
    state.budgets.set(budget.id, { ...budget, reserved: budget.reserved + demand[budget.unit] })
  state.freeLeft.set(numberId, freeLeft - costs.filter(({ isFree }) => isFree).length)
  return { costs, isOver: last !== null }
}

function reservationsOf({ messageId, connectionId, numberId, keyId, cost }: ReservedMessage): Reservation[] {
  return cost.costs.map(({ isFree, price }, n) => ({
    ...{ messageId, part: n + 1, connectionId, numberId, keyId, isFree },
    price: price === null ? null : formatAmount(price),
  }))
}

interface Released extends Spender {
  isFree: boolean
  price: string | null
  reservedAt: Date
}

/**
 * Gives back what these parts of a message had reserved, because they have failed. Call it in the transaction that
 * settles the send, with the conversation's lock. A repeat gives nothing back. If the platform has delivered such a part
 * after all, its charge counts by the ledger.
 */
export async function releaseReservations(
  tx: Tx,
  workspaceId: string,
  messageId: string,
  parts: readonly number[],
): Promise<void> {
  const [, released, budgets] = await Promise.all([
    lockCount(tx, workspaceId),
    tx<Released[]>`
      delete from budget_reservations
      where workspace_id = ${workspaceId}
        and message_id = ${messageId}
        and part = any (${[...parts]}::integer[])
      returning connection_id as "connectionId", key_id as "keyId", is_free as "isFree", price::text as price,
        reserved_at as "reservedAt"`,
    readBudgets(tx, workspaceId),
  ])
  const changed = budgets.flatMap((budget) => {
    const reserved = released.reduce((left, one) => left - amountIn(budget, one), budget.reserved)
    return reserved === budget.reserved ? [] : { ...budget, reserved: reserved > 0n ? reserved : 0n }
  })
  if (changed.length > 0) await storeCounters(tx, workspaceId, changed)
}

/** Returns how much of the budget's counter a reservation is; nothing if it was made in an earlier period. */
function amountIn(budget: Budget, one: Released): bigint {
  if (one.isFree || one.reservedAt < budget.from || !appliesTo(budget, one)) return 0n
  return budget.unit === 'messages' ? oneMessage : parseAmount(one.price ?? '0')
}
