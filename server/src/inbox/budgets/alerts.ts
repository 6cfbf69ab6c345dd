import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/db.ts'
import { ApiError } from '../../base/errors.ts'
import { recordNotifications } from '../../notifications/record-notifications.ts'
import type { PlainTx } from '../conversation/conversation.ts'
import { type Amount, alertOf, type Budget, type BudgetAlert, formatAmount, leftOf, oneMessage } from './budget.ts'
import { lockCount, readBudgets, storeCounters } from './budget-queries.ts'

/**
 * Notifies the team of budgets that are nearly or completely used up, once per period each. Returns the budgets with
 * the time of it, which the caller stores in the same transaction, under the lock of the budgets.
 */
export async function recordAlerts(work: PlainTx, budgets: readonly Budget[]): Promise<Budget[]> {
  const alerts = budgets.flatMap((budget) => {
    const alert = alertOf(budget)
    return alert === null ? [] : [{ budget, alert }]
  })
  return recordThese(work, alerts)
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
    await storeCounters(tx, workspaceId, await recordThese({ tx, workspaceId, now }, [{ budget, alert: 'reached' }]))
  })
}

async function recordThese(work: PlainTx, alerts: readonly { budget: Budget; alert: BudgetAlert }[]) {
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
  const { tx, workspaceId, now } = work
  await recordNotifications(tx, workspaceId, notifications, now)
  return alerts.map(({ budget, alert }) => ({
    ...budget,
    ...(alert === 'warned' ? { warnedAt: now } : { reachedAt: now }),
  }))
}

const scopeNames: Record<Budget['scope'], string> = {
  workspace: 'the workspace',
  connection: 'this connection',
  key: 'this key',
}

/**
 * A send would exceed a budget. For agents it is 429 with the time until the budget starts again; people get 409,
 * because they can send anyway.
 */
export class BudgetReached extends ApiError {
  readonly budget: Budget

  constructor(budget: Budget, { needed, isPerson, now }: { needed: Amount; isPerson: boolean; now: Date }) {
    const { id, scope, scopeId, unit, currency, period, limit, until } = budget
    const used = limit - leftOf(budget)
    const resetsAt = until.toISOString()
    const facts = `The budget of ${scopeNames[scope]} for this ${period} is used up: ${amountText(used, budget)} of ${amountText(limit, budget)}, and this needs ${amountText(needed, budget)}. It starts again at ${resetsAt}. Nothing was sent.`
    const data = {
      code: 'BUDGET_REACHED',
      budget: {
        ...{ id, scope, scope_id: scope === 'workspace' ? null : scopeId, unit, currency, period },
        ...{ limit: shownAmount(limit, unit), used: shownAmount(used, unit), needed: shownAmount(needed, unit) },
        resets_at: resetsAt,
      },
    }
    if (isPerson) {
      super(409, `${facts} Send it again with over_budget true to send it anyway.`, { data })
    } else {
      const seconds = Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1000))
      const advice = 'Leave the conversation to people, who can send anyway, or ask an admin to raise the budget.'
      super(429, `${facts} ${advice}`, { data, headers: { 'retry-after': String(seconds) } })
    }
    this.budget = budget
  }
}

/** Returns the amount as the interfaces show it: messages are whole numbers. */
export const shownAmount = (amount: Amount, unit: Budget['unit']): string =>
  unit === 'messages' ? String(amount / oneMessage) : formatAmount(amount)

const amountText = (amount: Amount, { unit, currency }: Budget): string =>
  unit === 'messages' ? `${shownAmount(amount, unit)} charged messages` : `${formatAmount(amount)} ${currency}`
