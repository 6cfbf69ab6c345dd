import { t } from '../text/index.ts'
import { formatNumber } from '../ui/format/time.ts'

interface BudgetUse {
  used: string
  limit: string
  /** Null: they are numbers of messages. */
  currency: string | null
}

/** Formats what is used of a budget and its limit: `$1.25` and `$20.00`, or `12` and `250 messages`. */
export function budgetUse({ used, limit, currency }: BudgetUse): { used: string; limit: string } {
  if (currency === null)
    return { used: formatNumber(Number(used)), limit: t.costs.budgets.messages({ n: Number(limit) }) }
  const money = (amount: string) =>
    formatNumber(Number(amount), { style: 'currency', currency, maximumFractionDigits: 4 })
  return { used: money(used), limit: money(limit) }
}
