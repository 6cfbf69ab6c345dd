import { InvalidInput, type Issue, maxIssues } from '../../base/errors.ts'
import { marketKey } from './markets.ts'
import {
  categories,
  findPlatformFile,
  isDay,
  marketKeys,
  parsePlatformFile,
  priceShape,
  type Rate,
  type RateCardRows,
} from './parse-platform-card.ts'

/** Longest file, in characters, and most rows of it: a card of the platform has about 300 with all tiers. */
export const maxRateCardLength = 900_000
const maxRows = 20_000
const maxCellLength = 100

const required = ['currency', 'market', 'category', 'price', 'valid_from'] as const
const columns = [...required, 'from_message'] as const
type Column = (typeof columns)[number]

/**
 * Parses a CSV file in one of three forms, recognized by its header: the platform's prices, its volume tiers
 * (`parsePlatformFile`), or rows with the columns currency, market, category, price and valid_from, and optionally
 * from_message (the first message of the month with this price), in any order. Rows without a price (`n/a` or empty) mean
 * that there is none. Throws 400 with an issue for each faulty row, and nothing is imported then.
 */
export async function parseRateCards(csv: string, validFrom: string | null = null): Promise<RateCardRows[]> {
  const cells = await readCells(csv)
  const file = findPlatformFile(cells)
  if (file === null) return parseLongForm(cells)
  const { cards, issues } = parsePlatformFile(file, validFrom)
  const adding = file.kind === 'tiers' ? cards.map((card) => ({ ...card, isAddition: true })) : cards
  return requireFaultless(adding, issues)
}

function parseLongForm([header = [], ...rows]: readonly string[][]): RateCardRows[] {
  const places = placesOf(header)
  const issues: Issue[] = []
  const cards = new Map<string, RateCardRows>()
  const seen = new Set<string>()
  for (const [n, cells] of rows.entries()) {
    // The first row below the header is line 2, as spreadsheets count.
    const row = parseRow((column) => cells[places.get(column) ?? -1]?.trim() ?? '')
    const problems = 'problems' in row ? row.problems : []
    if ('rate' in row && row.rate !== null) {
      const { currency, validFrom, rate } = row
      const key = [currency, validFrom, rate.market, rate.category, rate.fromMessage].join(' ')
      if (seen.has(key)) problems.push('repeats an earlier row: remove one of them')
      seen.add(key)
      const card = cards.get(`${currency} ${validFrom}`) ?? { currency, validFrom, rates: [] }
      cards.set(`${currency} ${validFrom}`, card)
      card.rates.push(rate)
    }
    issues.push(...problems.map((message) => ({ path: `csv row ${n + 2}`, message })))
  }
  return requireFaultless([...cards.values()], issues)
}

function requireFaultless(cards: RateCardRows[], issues: readonly Issue[]): RateCardRows[] {
  if (issues.length > maxIssues) {
    const rest = issues.length - maxIssues + 1
    throw new InvalidInput([
      ...issues.slice(0, maxIssues - 1),
      { path: 'csv', message: `has ${rest} more faulty rows` },
    ])
  }
  if (issues.length > 0) throw new InvalidInput([...issues])
  if (cards.length === 0) throw new InvalidInput([{ path: 'csv', message: 'has no row with a price' }])
  return cards
}

async function readCells(csv: string): Promise<string[][]> {
  if (csv.length > maxRateCardLength) {
    throw new InvalidInput([{ path: 'csv', message: `must have at most ${maxRateCardLength} characters` }])
  }
  const { parse } = await import('csv-parse/sync')
  try {
    return parse(csv, {
      delimiter: delimiterOf(csv),
      bom: true,
      relax_column_count: true,
      skip_empty_lines: true,
      to: maxRows + 1,
    })
  } catch {
    throw new InvalidInput([{ path: 'csv', message: 'is not valid CSV: check its quotes' }])
  }
}

function delimiterOf(csv: string): string {
  const end = csv.slice(0, 2000).search(/[\r\n]/)
  const header = csv.slice(0, end < 0 ? 2000 : end)
  return [';', '\t'].find((delimiter) => header.includes(delimiter)) ?? ','
}

function placesOf(header: readonly string[]): Map<Column, number> {
  const names = header.map((cell) => cell.slice(0, maxCellLength).trim().toLowerCase().replaceAll(' ', '_'))
  const places = new Map(columns.flatMap((column) => (names.includes(column) ? [[column, names.indexOf(column)]] : [])))
  const missing = required.filter((column) => !places.has(column))
  if (missing.length > 0) {
    const message = `has no column ${missing.join(', ')}: its first row must name ${columns.join(', ')}`
    throw new InvalidInput([{ path: 'csv', message }])
  }
  return places
}

type ParsedRow = { problems: string[] } | { currency: string; validFrom: string; rate: Rate | null }

function parseRow(cell: (column: Column) => string): ParsedRow {
  const tooLong = columns.find((column) => cell(column).length > maxCellLength)
  if (tooLong !== undefined) return { problems: [`${tooLong} must have at most ${maxCellLength} characters`] }
  const [currency, market] = [cell('currency').toUpperCase(), marketKey(cell('market'))]
  const category = cell('category').toLowerCase().replace(/[ -]/g, '_')
  const [validFrom, price, from] = [cell('valid_from'), cell('price'), cell('from_message') || '1']
  const isPriced = price !== '' && price.toLowerCase() !== 'n/a'
  const problems = [
    /^[A-Z]{3}$/.test(currency) ? null : 'currency must have three letters, such as USD',
    marketKeys.has(market) ? null : "market must be one of the platform's countries or regions, such as Rest of Africa",
    categories.includes(category) ? null : `category must be one of ${categories.join(', ')}`,
    isDay(validFrom) ? null : 'valid_from must be a day such as 2026-10-01',
    !isPriced || priceShape.test(price)
      ? null
      : 'price must be a number with a point and at most 8 decimals, such as 0.0068, or n/a',
    /^\d{1,12}$/.test(from) ? null : 'from_message must be a whole number: the first message that has this price',
  ].filter((problem) => problem !== null)
  if (problems.length > 0) return { problems }
  // The platform's tiers begin at 0.
  const fromMessage = Math.max(1, Number(from))
  return { currency, validFrom, rate: isPriced ? { market, category, fromMessage, price } : null }
}
