import type { Clock } from '../../base/clock.ts'
import type { Db, Tx } from '../../base/db.ts'
import { recordNotifications } from '../../notifications/record-notifications.ts'
import { alertOf, type Budget, type BudgetAlert, formatAmount } from './budget.ts'
import { lockCount, readBudgets, storeCounters } from './budget-queries.ts'

/**
 * Notifies the team of budgets that are nearly or completely used up, once per period each. Returns the budgets with
 * the time of it, which the caller stores in the same transaction, under the lock of the budgets.
 */
export async function recordAlerts(
  tx: Tx,
  workspaceId: string,
  budgets: readonly Budget[],
  now: Date,
): Promise<Budget[]> {
  const alerts = budgets.flatMap((budget) => {
    const alert = alertOf(budget)
    return alert === null ? [] : [{ budget, alert }]
  })
  return recordThese(tx, workspaceId, alerts, now)
}

/** Notifies the team that sends are refused, once per period: a rest may be left that is too small for any message. */
export async function notifyReached(
  { db, clock }: { db: Db; clock: Clock },
  workspaceId: string,
  refusing: Budget,
): Promise<void> {
  if (refusing.reachedAt !== null && refusing.reachedAt >= refusing.from) return
  const now = clock.now()
  await db.tx(async (tx) => {
    await lockCount(tx, workspaceId)
    const budget = (await readBudgets(tx, workspaceId)).find(({ id }) => id === refusing.id)
    if (budget === undefined || budget.from.getTime() !== refusing.from.getTime()) return
    await storeCounters(tx, workspaceId, await recordThese(tx, workspaceId, [{ budget, alert: 'reached' }], now))
  })
}

async function recordThese(
  tx: Tx,
  workspaceId: string,
  alerts: readonly { budget: Budget; alert: BudgetAlert }[],
  now: Date,
): Promise<Budget[]> {
  const notifications = alerts.map(({ budget: { id, scope, scopeId, from, limit }, alert }) => ({
    kind: 'budget' as const,
    // A raised limit can be used up in the same period.
    cause: `${id} ${alert} ${from.toISOString()} ${formatAmount(limit)}`,
    userId: null,
    connectionId: scope === 'connection' ? scopeId : null,
    reason: alert,
    actor: { type: 'system', id: null },
  }))
  if (notifications.length === 0) return []
  await recordNotifications(tx, workspaceId, notifications, now)
  return alerts.map(({ budget, alert }) => ({
    ...budget,
    ...(alert === 'warned' ? { warnedAt: now } : { reachedAt: now }),
  }))
}
