const largest = 999_999_999_999.99

/** An amount as it is typed in a language: `1500,5` where a comma stands before cents. */
export const amountText = (value: number, language: string): string =>
  new Intl.NumberFormat(language, { useGrouping: false, maximumFractionDigits: 2 }).format(value)

// A currency may stand before the number or behind it.
const shape =
  /^(?:[A-Z]{1,3}\$|[A-Z]{3}|[$€£¥₹])?(\d+|[1-9]\d{0,2}(?:(?:\.\d{3})+|(?:,\d{3})+))(?:([.,])(\d{1,2}))?(?:[A-Z]{1,3}\$|[A-Z]{3}|[$€£¥₹])?$/
const longest = 40

/**
 * Reads an amount as people type it; null when nothing was typed, undefined when it is no amount.
 *
 * Both signs are read for what they can only be, whatever the language: cents have one or two digits and stand last,
 * thousands have three. So `1.500,50` and `1,500.50` mean the same, and so do `2.500` and `2,500`. What was read is shown
 * before it is saved (`understood`), since somebody may have meant another thing.
 */
export function readAmount(text: string): number | null | undefined {
  const typed = text.slice(0, longest + 1).replace(/[\s'’]/g, '')
  if (typed === '') return null
  const [, whole, sign, cents = ''] = (typed.length > longest ? null : shape.exec(typed)) ?? []
  if (whole === undefined) return undefined
  const [between] = whole.match(/[.,]/g) ?? []
  if (between !== undefined && between === sign) return undefined
  const amount = Number(`${whole.replace(/[.,]/g, '')}.${cents || '0'}`)
  return amount <= largest ? amount : undefined
}

/** The amount as the language writes it, where somebody typed it otherwise; null where there is nothing to explain. */
export function understood(text: string, language: string): string | null {
  const amount = readAmount(text)
  if (amount === null || amount === undefined) return null
  const written = new Intl.NumberFormat(language, {
    minimumFractionDigits: Number.isInteger(amount) ? 0 : 2,
    maximumFractionDigits: 2,
  }).format(amount)
  const same = [written, amountText(amount, language), new Intl.NumberFormat(language).format(amount)]
  return same.includes(text.trim()) ? null : written
}
