import { t } from '../../text/index.ts'
import { formatNumber } from './time.ts'

/** Formats a sum with four decimals, since one message costs less than a cent. Null means unknown, not zero. */
export function formatCost(amount: string | null, currency: string | null): string {
  if (amount === null || currency === null) return t.costs.unknownAmount
  return formatNumber(Number(amount), { style: 'currency', currency, maximumFractionDigits: 4 })
}
