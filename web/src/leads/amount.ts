/** An amount as it is typed in a language: `1500,5` where a comma stands before cents. */
export const amountText = (value: number, language: string): string =>
  new Intl.NumberFormat(language, { useGrouping: false, maximumFractionDigits: 2 }).format(value)

/** Reads what was typed, with signs between thousands or without; undefined when it is no amount. */
export function readAmount(text: string, language: string): number | undefined {
  const plain = text.replace(/\s/g, '')
  if (/^\d+[.,]\d{1,2}$/.test(plain)) return Number(plain.replace(',', '.'))
  const decimal = new Intl.NumberFormat(language).formatToParts(1.1).find(({ type }) => type === 'decimal')?.value
  const [group, sign] = decimal === ',' ? ['.', ','] : [',', '.']
  const bare = plain.replaceAll(group, '').replace(sign, '.')
  return /^\d+(?:\.\d*)?$/.test(bare) ? Number(bare) : undefined
}
