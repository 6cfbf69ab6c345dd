import { createZoneFormat, localDateAt, startOfDate } from '../../base/time.ts'

/** What a budget limits: all sends of a workspace, those of a connection, or those of a key. */
export const budgetScopes = ['workspace', 'connection', 'key'] as const
export type BudgetScope = (typeof budgetScopes)[number]

/** `messages`: platform messages that the platform charges for. */
export const budgetUnits = ['money', 'messages'] as const
export type BudgetUnit = (typeof budgetUnits)[number]

export const budgetPeriods = ['day', 'month'] as const
export type BudgetPeriod = (typeof budgetPeriods)[number]

/** An exact number with 8 decimals, as a multiple of the last one. Prices of rate cards have as many. */
export type Amount = bigint
const decimals = 8
export const oneMessage: Amount = 10n ** BigInt(decimals)

/** Parses a decimal number of the database or a rate card, such as `12.5`. */
export function parseAmount(text: string): Amount {
  const [whole = '0', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0'))
}

/** Returns a decimal number without trailing zeros. */
export function formatAmount(amount: Amount): string {
  const digits = String(amount < 0n ? -amount : amount).padStart(decimals + 1, '0')
  const fraction = digits.slice(-decimals).replace(/0{1,8}$/, '')
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -decimals)}${fraction === '' ? '' : `.${fraction}`}`
}

export interface Budget {
  id: string
  scope: BudgetScope
  /** The connection or the key; for the workspace its own id. */
  scopeId: string
  unit: BudgetUnit
  /** Null for messages. */
  currency: string | null
  period: BudgetPeriod
  limit: Amount
  /** What the ledger charged in the period, at the last count. */
  used: Amount
  /** What later sends may cost. */
  reserved: Amount
  /** The period that these two belong to. */
  from: Date
  until: Date
  /** When the team was last notified that 80 % or all of it is used. */
  warnedAt: Date | null
  reachedAt: Date | null
}

/** Returns the first moments of the account's current day or month, and of the next one. */
export function periodAt(period: BudgetPeriod, now: Date, timeZone: string): { from: Date; until: Date } {
  const format = createZoneFormat(timeZone)
  const today = localDateAt(format, now.getTime())
  const first = period === 'day' ? today : `${today.slice(0, 7)}-01`
  const next = new Date(first)
  if (period === 'day') next.setUTCDate(next.getUTCDate() + 1)
  else next.setUTCMonth(next.getUTCMonth() + 1)
  return { from: startOfDate(format, first), until: startOfDate(format, next.toISOString().slice(0, 10)) }
}

/**
 * Returns the budget as it is now: nothing is used in a new period. A node whose clock is behind counts for the later
 * period that is stored, and a changed time zone applies from the next count on.
 */
export function inCurrentPeriod(budget: Budget, now: Date, timeZone: string): Budget {
  if (now < budget.until) return budget
  return { ...budget, ...periodAt(budget.period, now, timeZone), used: 0n, reserved: 0n }
}

/** What a send may cost, in both units. */
export type Demand = Record<BudgetUnit, Amount>

/** A sender of messages on a connection; `keyId` is null for people. */
export interface Spender {
  connectionId: string
  keyId: string | null
}

export function appliesTo({ scope, scopeId }: Pick<Budget, 'scope' | 'scopeId'>, spender: Spender): boolean {
  if (scope === 'workspace') return true
  return scopeId === (scope === 'connection' ? spender.connectionId : spender.keyId)
}

/** Returns whether the send would exceed the budget. What costs nothing never does. */
export const exceeds = ({ unit, limit, used, reserved }: Budget, demand: Demand): boolean =>
  demand[unit] > 0n && used + reserved + demand[unit] > limit

/** Returns what is left; 0 if people have sent beyond the limit. */
export function leftOf({ limit, used, reserved }: Budget): Amount {
  const left = limit - used - reserved
  return left > 0n ? left : 0n
}

export type BudgetAlert = 'warned' | 'reached'

/** Returns what the team must be notified of: once per period when 80 % is used, and once when all is. */
export function alertOf({ limit, used, reserved, from, warnedAt, reachedAt }: Budget): BudgetAlert | null {
  const total = used + reserved
  if (total >= limit) return isIn(reachedAt, from) ? null : 'reached'
  if (total * 5n >= limit * 4n) return isIn(warnedAt, from) || isIn(reachedAt, from) ? null : 'warned'
  return null
}

const isIn = (time: Date | null, from: Date): boolean => time !== null && time >= from
