import { type Sql, type Tx, violates } from '../../base/db.ts'
import { conflict, invalid, notFound, unprocessable } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { createZoneFormat, localDateAt } from '../../base/time.ts'
import { findBillingSettings, findCurrency } from '../costs/billing-settings.ts'
import {
  type Amount,
  type Budget,
  type BudgetPeriod,
  type BudgetScope,
  type BudgetUnit,
  formatAmount,
  inCurrentPeriod,
  periodAt,
} from './budget.ts'
import { lockCount, readBudgets, readHighestPrices } from './budget-queries.ts'

export interface NewBudget {
  scope: BudgetScope
  /** The connection or the key; null for the workspace. */
  scopeId: string | null
  unit: BudgetUnit
  period: BudgetPeriod
  limit: Amount
}

/** Enough for the workspace, ten numbers and ten keys with each kind of budget. */
export const maxBudgets = 100

/** Returns the budgets as they are now, without a count of the ledger. */
export async function listBudgets(sql: Sql, workspaceId: string, now: Date): Promise<Budget[]> {
  const [{ timeZone }, budgets] = await Promise.all([
    findBillingSettings(sql, workspaceId),
    readBudgets(sql, workspaceId),
  ])
  return budgets.map((budget) => inCurrentPeriod(budget, now, timeZone))
}

/**
 * Creates a budget, which limits sends from its commit on; count the ledger next. Throws 400 for an unknown connection
 * or key, 409 for a second budget of the same kind, and 422 for money without a rate card: then no price is known.
 */
export async function createBudget(tx: Tx, workspaceId: string, budget: NewBudget, now: Date): Promise<string> {
  const settings = await findBillingSettings(tx, workspaceId)
  const { scope, unit, period, limit } = budget
  const scopeId = await findScope(tx, workspaceId, budget)
  const currency = unit === 'money' ? await requireCurrency(tx, workspaceId, now) : null
  const { from, until } = periodAt(period, now, settings.timeZone)
  await tx`
    insert into budget_counts (workspace_id, month_from)
    values (${workspaceId}, ${periodAt('month', now, settings.timeZone).from})
    on conflict (workspace_id) do nothing`
  await changeUnderLock(tx, workspaceId)
  if ((await readBudgets(tx, workspaceId)).length >= maxBudgets)
    throw unprocessable(`A workspace has at most ${maxBudgets} budgets. Delete one first.`)
  const id = newId(now)
  try {
    await tx`
      insert into budgets (
        workspace_id, id, scope, scope_id, unit, currency, period, max_amount, created_at, updated_at, period_from,
        period_until
      )
      values (
        ${workspaceId}, ${id}, ${scope}, ${scopeId}, ${unit}, ${currency}, ${period}, ${formatAmount(limit)}::numeric,
        ${now}, ${now}, ${from}, ${until}
      )`
  } catch (error) {
    if (violates(error, 'budgets_workspace_id_scope_scope_id_unit_period_key'))
      throw conflict('There is such a budget already. Change its limit instead.', { field: 'scope' }, error)
    throw error
  }
  if (currency !== null) await storeHighestPrices(tx, workspaceId, currency)
  return id
}

/** Stores them before the first count, so that no price is unknown in between. */
async function storeHighestPrices(tx: Tx, workspaceId: string, currency: string): Promise<void> {
  const prices = await readHighestPrices(tx, workspaceId, currency)
  await tx`
    update budget_counts
    set highest_prices = ${tx.json(prices)}
    where workspace_id = ${workspaceId}`
}

async function findScope(tx: Tx, workspaceId: string, { scope, scopeId }: NewBudget): Promise<string> {
  if (scope === 'workspace') {
    if (scopeId !== null) throw invalid('scopeId', 'must be null for a budget of the workspace')
    return workspaceId
  }
  if (scopeId === null) throw invalid('scopeId', `is required: the id of the ${scope}`)
  const rows =
    scope === 'connection'
      ? await tx`
          select
          from connections
          where workspace_id = ${workspaceId}
            and id = ${scopeId}
            and removed_at is null`
      : await tx`
          select
          from api_keys
          where workspace_id = ${workspaceId}
            and id = ${scopeId}
            and revoked_at is null`
  if (rows.length === 0) throw invalid('scopeId', `must be the id of a ${scope} of this workspace`)
  return scopeId
}

/** Returns the currency of a budget in money. Locks a rate card in force: without one, no price would be known. */
async function requireCurrency(tx: Tx, workspaceId: string, now: Date): Promise<string> {
  const settings = await findBillingSettings(tx, workspaceId)
  const currency = await findCurrency(tx, workspaceId, settings)
  const rows =
    currency === null
      ? []
      : await tx`
          select
          from rate_cards
          where workspace_id = ${workspaceId}
            and currency = ${currency}
            and valid_from <= ${localDateAt(createZoneFormat(settings.timeZone), now.getTime())}::date
          limit 1
          for share`
  if (currency === null || rows.length === 0) {
    throw unprocessable(
      'A budget in money needs a rate card that is in force: import the prices of your currency first, or limit the number of messages.',
      { code: 'RATE_CARD_REQUIRED', field: 'unit' },
    )
  }
  return currency
}

/** Changes the limit; it applies to the current period. */
export async function changeBudget(tx: Tx, workspaceId: string, id: string, limit: Amount, now: Date): Promise<void> {
  await changeUnderLock(tx, workspaceId)
  const changed = await tx`
    update budgets
    set max_amount = ${formatAmount(limit)}::numeric,
      updated_at = ${now},
      warned_at = null,
      reached_at = null
    where workspace_id = ${workspaceId}
      and id = ${id}`
  if (changed.count === 0) throw budgetNotFound()
}

/** Deletes a budget. Without any left, nothing is reserved or counted any more. */
export async function deleteBudget(tx: Tx, workspaceId: string, id: string): Promise<void> {
  await changeUnderLock(tx, workspaceId)
  const deleted = await tx`
    delete from budgets
    where workspace_id = ${workspaceId}
      and id = ${id}`
  if (deleted.count === 0) throw budgetNotFound()
  if ((await readBudgets(tx, workspaceId)).length > 0) return
  await Promise.all([
    tx`
      delete from budget_reservations
      where workspace_id = ${workspaceId}`.execute(),
    tx`
      delete from budget_counts
      where workspace_id = ${workspaceId}`.execute(),
  ])
}

const budgetNotFound = () => notFound('Budget not found')

/** Locks the budgets for a change, discards counts that are running, and lets the next timer count. */
async function changeUnderLock(tx: Tx, workspaceId: string): Promise<void> {
  await lockCount(tx, workspaceId)
  await tx`
    update budget_counts
    set version = version + 1,
      counted_at = null
    where workspace_id = ${workspaceId}`
}

/** Throws 409 if budgets in money need these prices: without them, no price of a send would be known. */
export async function requireUnused(tx: Tx, workspaceId: string, kept: { currency: string | null }): Promise<void> {
  await lockCount(tx, workspaceId)
  const [row] = await tx<{ currency: string; hasCard: boolean }[]>`
    select b.currency, exists (
      select 1
      from rate_cards c
      where c.workspace_id = ${workspaceId}
        and c.currency = b.currency
    ) as "hasCard"
    from budgets b
    where b.workspace_id = ${workspaceId}
      and b.unit = 'money'
    limit 1`
  if (row === undefined) return
  if (row.hasCard && (kept.currency === null || kept.currency === row.currency)) return
  throw conflict(`Budgets in ${row.currency} need its prices. Delete these budgets first.`, { code: 'BUDGETS_EXIST' })
}
