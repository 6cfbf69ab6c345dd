const largest = 999_999_999_999.99

/** An amount as it is typed in a language: `1500,5` where a comma stands before cents. */
export const amountText = (value: number, language: string): string =>
  new Intl.NumberFormat(language, { useGrouping: false, maximumFractionDigits: 2 }).format(value)

/**
 * Reads an amount as people type it; null when nothing was typed, undefined when it is no amount.
 *
 * Both signs are read for what they can only be: cents have one or two digits and stand last, thousands have three.
 * So `1.500,50` and `1,500.50` mean the same in every language. A lone sign with three digits after it could be either:
 * `1.500` is fifteen hundred where a point stands between thousands, and is refused where it stands before cents.
 */
export function readAmount(text: string, language: string): number | null | undefined {
  const typed = text.replace(/\s/g, '')
  if (typed === '') return null
  const [, whole, sign, cents = ''] =
    /^(\d+|[1-9]\d{0,2}(?:(?:\.\d{3})+|(?:,\d{3})+))(?:([.,])(\d{1,2}))?$/.exec(typed) ?? []
  if (whole === undefined) return undefined
  const [between] = whole.match(/[.,]/g) ?? []
  if (between !== undefined && between === (sign ?? loneSign(whole, language))) return undefined
  const amount = Number(`${whole.replace(/[.,]/g, '')}.${cents || '0'}`)
  return amount <= largest ? amount : undefined
}

/** What a single sign would stand before in the language: its cents. Two of a kind are between thousands anywhere. */
function loneSign(whole: string, language: string): string | undefined {
  if (whole.split(/[.,]/).length > 2) return undefined
  return new Intl.NumberFormat(language).formatToParts(1.1).find(({ type }) => type === 'decimal')?.value
}
