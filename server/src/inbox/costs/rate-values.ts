import { pricingCategories } from '../../channels/channel-event.ts'
import { marketCountries, otherMarketKey } from './markets.ts'

/** Prices of one currency from one day on. */
export interface RateCardRows {
  currency: string
  /** Such as `2026-10-01`. */
  validFrom: string
  rates: Rate[]
  /** It has only tiers, which replace the prices of their markets and categories on an imported card. */
  isAddition?: boolean
}

export interface Rate {
  /** As `marketKey` returns it. */
  market: string
  category: string
  fromMessage: number
  /** A decimal number as written; never a float. */
  price: string
}

/** Markets that a card can price, as `marketKey` returns them. */
export const marketKeys: ReadonlySet<string> = new Set([
  otherMarketKey,
  ...marketCountries.flatMap(({ ownKey, regionKey }) => [ownKey, regionKey]),
])
const unpriced: ReadonlySet<string> = new Set(['unknown', 'referral_conversion'])
/** Categories that a card can price. */
export const categories: readonly string[] = pricingCategories.filter((category) => !unpriced.has(category))

/** A price as written: at most 8 decimals, never a float. */
export const priceShape = /^\d{1,9}(?:\.\d{1,8})?$/

/** Returns whether it is a day such as `2026-10-01`. */
export function isDay(text: string): boolean {
  if (!/^20\d\d-\d\d-\d\d$/.test(text)) return false
  const time = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}
