import { InvalidInput, type Issue } from '../../base/errors.ts'
import { pricingCategories } from '../../channels/channel-event.ts'
import { marketCountries, marketKey, otherMarketKey } from './markets.ts'

// The platform publishes two files for each currency: prices with one row per market and one column per category, and volume
// tiers with a group of columns per category. Both begin with a few lines of notes, and neither has a column for the day from
// which it is valid.

/** A file in one of the platform's own forms. */
export interface PlatformFile {
  kind: 'prices' | 'tiers'
  rows: readonly string[][]
  /** Place of the line that names the columns. */
  header: number
}

/** Lines of notes before the header, at most. */
const maxNotes = 20
const maxCellLength = 100

/** Returns what kind of file of the platform it is; null for another. */
export function findPlatformFile(rows: readonly string[][]): PlatformFile | null {
  for (const [header, row] of rows.slice(0, maxNotes).entries()) {
    const names = row.slice(0, maxColumns).map(nameOf)
    const isOwnForm = names.includes('valid_from')
    if (names[0] === 'market' && names[1] === 'currency' && !isOwnForm) return { kind: 'prices', rows, header }
    if (names[1] === 'currency' && names[2] === 'from' && names[3] === 'to') return { kind: 'tiers', rows, header }
  }
  return null
}

const maxColumns = 50

/** Returns a name as columns are compared: `Authentication-↵International` is `authentication_international`. */
const nameOf = (cell: string): string =>
  cell
    .slice(0, maxCellLength)
    .trim()
    .toLowerCase()
    .replace(/[\s_-]+/g, '_')

/** Categories by place of their column: the price, or the first column of their group. */
type Places = readonly (readonly [place: number, category: string])[]

/** What the parsers of a file share. */
interface Parsing {
  cards: Map<string, RateCardRows>
  issues: Issue[]
  seen: Set<string>
  validFrom: string
}

/**
 * Parses a file of the platform into one card per currency, with an issue for each faulty cell that names its row and
 * column. `validFrom` is the day from which it is valid; without one, that of its notes ("effective October 1, 2026").
 */
export function parsePlatformFile(
  file: PlatformFile,
  validFrom: string | null,
): { cards: RateCardRows[]; issues: Issue[] } {
  const { kind, rows, header } = file
  const day = validFrom ?? dayInNotes(rows.slice(0, header))
  if (day === null) {
    const message = 'is required: the day from which this file of the platform is valid, such as 2026-10-01'
    throw new InvalidInput([{ path: 'validFrom', message }])
  }
  if (!isDay(day)) throw new InvalidInput([{ path: 'validFrom', message: 'must be a day such as 2026-10-01' }])
  const parsing: Parsing = { cards: new Map(), issues: [], seen: new Set(), validFrom: day }
  if (kind === 'prices') parsePrices(parsing, file)
  else parseTiers(parsing, file)
  return { cards: [...parsing.cards.values()], issues: parsing.issues }
}

function parsePrices(parsing: Parsing, { rows, header }: PlatformFile): void {
  const places = placesOf(rows[header] ?? [])
  if (places.length === 0) throw noCategories()
  for (const [n, cells] of rows.entries()) {
    if (n <= header || isBlankRow(cells)) continue
    const row = rowOf(parsing, n, cells[0], cells[1])
    if (row === null) continue
    for (const [place, category] of places) {
      addRate(parsing, row, category, '1', cells[place] ?? '')
    }
  }
}

/** Columns from the first of a group, which is the first message, to its price. */
const toPrice = 3

function parseTiers(parsing: Parsing, { rows, header }: PlatformFile): void {
  const labels = rows.slice(0, header).findLast((row) => placesOf(row).length > 0)
  const places = placesOf(labels ?? [])
  if (places.length === 0) throw noCategories()
  let market = ''
  for (const [n, cells] of rows.entries()) {
    if (n <= header || isBlankRow(cells)) continue
    // The market is only in the first row of its tiers.
    market = cells[0]?.trim() || market
    const row = rowOf(parsing, n, market, cells[1])
    if (row === null) continue
    for (const [place, category] of places) {
      addRate(parsing, row, category, cells[place] ?? '', cells[place + toPrice] ?? '')
    }
  }
}

const noCategories = (): InvalidInput =>
  new InvalidInput([{ path: 'csv', message: `has no column of a category: ${categories.join(', ')}` }])

const placesOf = (row: readonly string[]): Places =>
  row.slice(0, maxColumns).flatMap((cell, place): [number, string][] => {
    const name = nameOf(cell)
    return categories.includes(name) ? [[place, name]] : []
  })

const isBlankRow = (cells: readonly string[]): boolean => cells.every((cell) => cell.trim() === '')

interface CardRow {
  /** As spreadsheets count. */
  line: number
  market: string
  currency: string
}

function rowOf({ issues }: Parsing, n: number, market: string | undefined, currency: string | undefined) {
  const line = n + 1
  const key = marketKey((market ?? '').slice(0, maxCellLength))
  const code = currencyOf((currency ?? '').slice(0, maxCellLength))
  const add = (column: string, message: string) => issues.push({ path: `csv row ${line} column ${column}`, message })
  if (!marketKeys.has(key)) add('Market', "must be one of the platform's countries or regions, such as Rest of Africa")
  if (code === null) add('Currency', 'must have three letters, such as USD')
  return marketKeys.has(key) && code !== null ? { line, market: key, currency: code } : null
}

/** Dollars are written with their sign. */
function currencyOf(cell: string): string | null {
  const code = cell.trim().toUpperCase()
  if (code === '$US' || code === 'US$') return 'USD'
  return /^[A-Z]{3}$/.test(code) ? code : null
}

const nothing: ReadonlySet<string> = new Set(['', 'n/a', 'na', '--', '-'])

function addRate(
  { cards, issues, seen, validFrom }: Parsing,
  { line, market, currency }: CardRow,
  category: string,
  from: string,
  price: string,
): void {
  const [first, amount] = [plainNumber(from), plainNumber(price)]
  if (nothing.has(amount) || nothing.has(first)) return
  // The platform's tiers begin at 0.
  const rate: Rate = { market, category, fromMessage: Math.max(1, Number(first)), price: amount }
  const key = [currency, market, category, rate.fromMessage].join(' ')
  const problem = findProblem(first, amount) ?? (seen.has(key) ? 'repeats an earlier row: remove one of them' : null)
  if (problem !== null) {
    issues.push({ path: `csv row ${line} column ${category}`, message: problem })
    return
  }
  seen.add(key)
  const card = cards.get(currency) ?? { currency, validFrom, rates: [] }
  cards.set(currency, card)
  card.rates.push(rate)
}

function findProblem(first: string, amount: string): string | null {
  if (!/^\d{1,12}$/.test(first)) return 'must begin with a whole number of messages'
  return priceShape.test(amount) ? null : 'must be a number with a point and at most 8 decimals, such as 0.0068, or n/a'
}

/** Returns a number without the commas between its thousands; other text is unchanged. */
function plainNumber(cell: string): string {
  const text = cell.slice(0, maxCellLength).trim().toLowerCase()
  return /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(text) ? text.replaceAll(',', '') : text
}

const months = 'january february march april may june july august september october november december'.split(' ')
const effectiveDay = /effective\s{1,5}([a-z]{3,9})\s{1,5}(\d{1,2}),?\s{1,5}(20\d\d)/i

function dayInNotes(notes: readonly string[][]): string | null {
  for (const cell of notes.flat().map((text) => text.slice(0, 500))) {
    const [, month = '', day = '', year = ''] = effectiveDay.exec(cell) ?? []
    const place = months.indexOf(month.toLowerCase())
    if (place >= 0) return `${year}-${String(place + 1).padStart(2, '0')}-${day.padStart(2, '0')}`
  }
  return null
}

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
