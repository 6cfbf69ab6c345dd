import { marketCountries, otherMarketKey } from '../costs/markets.ts'
import { sameRates } from '../costs/read-costs.ts'
import { type Amount, type Demand, oneMessage } from './budget.ts'

/** One platform message of a send that takes a free message of the month, or that the platform may charge for. */
export interface PartCost {
  isFree: boolean
  /** Null without a budget in money. */
  price: Amount | null
}

export interface SendToPrice {
  /** Platform messages: a long text has several. */
  parts: number
  /** As the platform bills it: `service` for what is not a template. */
  category: string
  /** False for a linked phone, which costs nothing. */
  isCharging: boolean
  /** Whether everything to the customer is free for now, because they came from an ad. */
  isInFreeWindow: boolean
}

/**
 * Returns what each platform message of a send may cost; none for a send that costs nothing. Only service messages are
 * among the number's free ones of the month, of which `freeLeft` are left.
 */
export function costOfSend(
  { parts, category, isCharging, isInFreeWindow }: SendToPrice,
  freeLeft: number,
  price: Amount | null,
): PartCost[] {
  if (!isCharging || isInFreeWindow) return []
  const free = category === 'service' ? freeLeft : 0
  return Array.from({ length: parts }, (_, n) => (n < free ? { isFree: true, price: null } : { isFree: false, price }))
}

export function demandOf(costs: readonly PartCost[]): Demand {
  const charged = costs.filter(({ isFree }) => !isFree)
  const money = charged.reduce((sum, { price }) => sum + (price ?? 0n), 0n)
  return { money, messages: BigInt(charged.length) * oneMessage }
}

/** A price of the rate card in force. */
export interface Rate {
  market: string
  category: string
  /** The first charged message of the month, market and category that has it. */
  fromMessage: number
  price: Amount
}

export interface PriceList {
  rates: readonly Rate[]
  /** Highest price of each category on any card of the currency. */
  highest: ReadonlyMap<string, Amount>
  /** Charged messages of the month so far, by `tierKey`. */
  charged: ReadonlyMap<string, number>
}

const billedAs = new Map<string, string>(sameRates.map((one) => [one.category, one.as]))

/** By what the platform counts messages for its tiers: both kinds of authentication are one. */
export const tierKey = (market: string, category: string): string =>
  `${market}|${category === 'authentication_international' ? 'authentication' : category}`

const byCountry = new Map(marketCountries.map((one) => [one.country, one]))

/** Returns the markets whose prices may apply to a country: its own before that of its region. */
export function marketsOf(country: string): string[] {
  const found = byCountry.get(country)
  return found === undefined ? [otherMarketKey] : [found.ownKey, found.regionKey]
}

/**
 * Returns what a message to a country may cost: the price of the tier that the month has reached, or of a later one if
 * that is higher. Without a price on the card, or without a country, the highest price that is known of the category
 * counts, and else the highest of all: an unknown price is never nothing. Null without any rate card.
 */
export function findPrice(list: PriceList, country: string | null, category: string): Amount | null {
  return (country === null ? null : findCardPrice(list, country, category)) ?? highestKnown(list, category)
}

/** Returns the price on the card; null if it has none for the country and category. */
export function findCardPrice(list: PriceList, country: string, category: string): Amount | null {
  const categories = category === 'authentication' ? [category, 'authentication_international'] : [category]
  return highestOf(categories.flatMap((one) => priceInMarkets(list, country, one) ?? []))
}

function priceInMarkets(list: PriceList, country: string, category: string): Amount | null {
  const names = [category, billedAs.get(category)].filter((name) => name !== undefined)
  for (const market of marketsOf(country)) {
    for (const name of names) {
      const price = priceInTiers(list, market, name)
      if (price !== null) return price
    }
  }
  return null
}

function priceInTiers({ rates, charged }: PriceList, market: string, category: string): Amount | null {
  const tiers = rates
    .filter((rate) => rate.market === market && rate.category === category)
    .sort((a, b) => a.fromMessage - b.fromMessage)
  const place = (charged.get(tierKey(market, category)) ?? 0) + 1
  const reached = tiers.findLastIndex(({ fromMessage }) => fromMessage <= place)
  return reached < 0 ? null : highestOf(tiers.slice(reached).map(({ price }) => price))
}

function highestKnown({ highest }: PriceList, category: string): Amount | null {
  const known = highest.get(category) ?? highest.get(billedAs.get(category) ?? '')
  return known ?? highestOf([...highest.values()])
}

const highestOf = (prices: readonly Amount[]): Amount | null =>
  prices.reduce<Amount | null>((highest, price) => (highest === null || price > highest ? price : highest), null)
