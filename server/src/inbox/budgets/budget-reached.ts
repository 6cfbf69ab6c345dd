import { ApiError } from '../../base/errors.ts'
import { type Amount, type Budget, formatAmount, leftOf, oneMessage } from './budget.ts'

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
