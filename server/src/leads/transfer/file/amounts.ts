/** What stands before the cents of a file's amounts. */
export type DecimalSign = '.' | ','

const longest = 60
// A currency may stand before the number or behind it: `US$`, `€`, `PEN`, `S/`.
const sign = String.raw`(?:[A-Z]{0,3}\p{Sc}|[A-Z]{3}|S/\.?|Bs\.?|Gs\.?|Kz|Kč|kr\.?|zł|lei|Ft|R[Mps]|[LQ])?`
const shape = new RegExp(String.raw`^(-?)${sign}(-?)(\d[\d.,]*)${sign}$`, 'u')

/**
 * An amount as a file writes it: `1500`, `R$ 1.500,50`, `1 500.50`. Nothing is guessed: a lone sign with three digits after
 * it, as in `1.500`, is read when it is told what stands before cents, and otherwise null, as whatever is no amount.
 */
export function readFileAmount(text: string, decimal: DecimalSign | null): number | null {
  if (text.length > longest) return null
  const [, before = '', after = '', digits = ''] = shape.exec(text.replace(/[\s'’]/g, '')) ?? []
  const amount = readDigits(digits, decimal)
  if (amount === null) return null
  return `${before}${after}` === '' ? amount : -amount
}

function readDigits(digits: string, told: DecimalSign | null): number | null {
  const decimal = told ?? decimalOf(digits)
  if (decimal === null) return null
  const [whole = '', cents = '', more] = digits.split(decimal)
  const between = decimal === '.' ? ',' : '.'
  const groups = whole.split(between)
  const isGrouped = groups.length === 1 || (/^\d{1,3}$/.test(groups[0] ?? '') && groups.slice(1).every(isThree))
  if (more !== undefined || !isGrouped || !/^\d+$/.test(groups.join('')) || !/^\d*$/.test(cents)) return null
  if (digits.endsWith(decimal)) return null
  return Number(`${groups.join('')}.${cents || '0'}`)
}

const isThree = (group: string): boolean => /^\d{3}$/.test(group)

/** What a number's own signs say of what stands before its cents; null when they can be read in two ways. */
function decimalOf(digits: string): DecimalSign | null {
  const signs = [...digits].filter((sign): sign is DecimalSign => sign === '.' || sign === ',')
  const last = signs.at(-1)
  if (last === undefined) return '.'
  const other = last === '.' ? ',' : '.'
  if (signs.includes(other)) return last
  // Two of a kind stand between thousands.
  if (signs.length > 1) return other
  return digits.length - digits.indexOf(last) === 4 ? null : last
}
