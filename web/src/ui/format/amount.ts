import { formatNumber } from './time.ts'

const maxAmount = 999_999_999_999.99

/** Formats an amount for an input: `1500,5` in languages with a decimal comma. */
export const amountInputText = (value: number, language: string): string =>
  new Intl.NumberFormat(language, { useGrouping: false, maximumFractionDigits: 2 }).format(value)

/** Returns the format of an amount: in the workspace's currency, if set, and without decimals if it is whole. */
const styleOf = (value: number, currency: string | null): Intl.NumberFormatOptions => ({
  // A workspace has one currency, so the narrow symbol is unambiguous.
  ...(currency !== null && { style: 'currency', currency, currencyDisplay: 'narrowSymbol' }),
  minimumFractionDigits: Number.isInteger(value) ? 0 : 2,
  maximumFractionDigits: 2,
})

/** Formats an amount: `R$ 1.500,50`. */
export const formatAmount = (value: number, currency: string | null): string =>
  formatNumber(value, styleOf(value, currency))

/** Formats an amount in compact form: `R$ 38,2 mil`. */
export const formatAmountShort = (value: number, currency: string | null): string =>
  formatNumber(value, {
    ...styleOf(value, currency),
    ...{ notation: 'compact', minimumFractionDigits: 0, maximumFractionDigits: 1 },
  })

/** Returns the currency symbol beside an input for amounts. */
export function currencySign(currency: string | null, language: string): string | undefined {
  if (currency === null) return undefined
  const parts = new Intl.NumberFormat(language, styleOf(0, currency)).formatToParts(0)
  return parts.find(({ type }) => type === 'currency')?.value
}

// Currency before or after the number: `US$`, `€`, `PEN`, `S/`.
const sign = String.raw`(?:[A-Z]{0,3}\p{Sc}|[A-Z]{3}|S/\.?|Bs\.?|Gs\.?|Kz|Kč|kr\.?|zł|lei|Ft|R[Mps]|[LQ])?`
const shape = new RegExp(
  String.raw`^${sign}(\d+|[1-9]\d{0,2}(?:(?:\.\d{3})+|(?:,\d{3})+))(?:([.,])(\d{1,2}))?([kK]?)${sign}$`,
  'u',
)
const maxLength = 40

/**
 * Parses an amount as typed; null for empty input, undefined if it is invalid.
 *
 * Separators are interpreted independently of the language: decimals have one or two digits at the end, groups of
 * thousands have three. So `1.500,50` and `1,500.50` are equal, and so are `2.500` and `2,500`. `10k` is ten thousand
 * everywhere; `10 mil` and `10M` depend on the language and are invalid. The interpreted amount is shown before it is
 * saved (`normalizedAmount`), since something else may be meant.
 */
export function parseAmount(text: string): number | null | undefined {
  const typed = text.slice(0, maxLength + 1).replace(/[\s'’]/g, '')
  if (typed === '') return null
  const [, whole, sign, cents = '', thousands = ''] = (typed.length > maxLength ? null : shape.exec(typed)) ?? []
  if (whole === undefined) return undefined
  const [between] = whole.match(/[.,]/g) ?? []
  if (between !== undefined && between === sign) return undefined
  const amount = Number(`${whole.replace(/[.,]/g, '')}.${cents || '0'}${thousands === '' ? '' : 'e3'}`)
  return amount <= maxAmount ? amount : undefined
}

// With both separators, the last one is the decimal one, which may be followed by more digits than cents have.
const manyDecimals = /^(?:\d{1,3}(?:\.\d{3}){1,4},\d{1,10}|\d{1,3}(?:,\d{3}){1,4}\.\d{1,10})$/
const plainDecimal = /^\d{1,15}(?:[.,]\d{1,10})?$/

/**
 * Parses a number as typed, like `parseAmount`, but also negative and with more decimals: `-1234.5678`. Returns null
 * for empty input, undefined if invalid.
 */
export function parseNumber(text: string): string | null | undefined {
  const typed = text.slice(0, maxLength + 1).replace(/[\s'’]/g, '')
  const isNegative = /^\D{0,4}[-−]\D{0,4}\d/.test(typed)
  const digits = isNegative ? typed.replace(/[-−]/, '') : typed
  const amount = parseAmount(digits)
  if (amount === null) return null
  const read = amount === undefined ? decimalOf(digits) : String(amount)
  return isNegative && read !== undefined && read !== '0' ? `-${read}` : read
}

function decimalOf(digits: string): string | undefined {
  if (manyDecimals.test(digits)) {
    const last = Math.max(digits.lastIndexOf('.'), digits.lastIndexOf(','))
    return trimmed(`${digits.slice(0, last).replace(/[.,]/g, '')}.${digits.slice(last + 1)}`)
  }
  return plainDecimal.test(digits) ? trimmed(digits.replace(',', '.')) : undefined
}

const trimmed = (decimal: string): string => (decimal.includes('.') ? decimal.replace(/\.?0{1,10}$/, '') : decimal)

/** Returns the amount in the reader's notation if it was typed differently; null otherwise. */
export function normalizedAmount(text: string, language: string, currency: string | null): string | null {
  const amount = parseAmount(text)
  if (amount === null || amount === undefined) return null
  const written = new Intl.NumberFormat(language, styleOf(amount, currency)).format(amount)
  const bare = new Intl.NumberFormat(language, styleOf(amount, null)).format(amount)
  const same = [written, bare, amountInputText(amount, language), new Intl.NumberFormat(language).format(amount)]
  return same.some((one) => squeezed(one) === squeezed(text)) ? null : written
}

/** Returns the same for a number that is not an amount. */
export function normalizedNumber(text: string, language: string): string | null {
  const read = parseNumber(text)
  if (read === null || read === undefined) return null
  const [written, bare] = [true, false].map((useGrouping) =>
    new Intl.NumberFormat(language, { useGrouping, maximumFractionDigits: 10 }).format(Number(read)),
  )
  // Ignores trailing zeros.
  const typed = squeezed(text).replace(/^−/, '-')
  const same = [written, bare].some(
    (one = '') =>
      one === typed || (/[.,]\d+$/.test(one) && typed.startsWith(one) && /^0+$/.test(typed.slice(one.length))),
  )
  return same ? null : (written ?? null)
}

// Languages use other spaces between digits than keyboards.
const squeezed = (text: string): string => text.replace(/\s/g, '')
