/** Reads an amount as people type it: `1500`, `1.500,50`, `1,500.50`. Null: nothing typed; undefined: no amount. */
export function readAmount(text: string): number | null | undefined {
  const typed = text.replace(/\s/g, '')
  if (typed === '') return null
  if (!/^\d[\d.,]*$/.test(typed)) return undefined
  // The last sign with one or two digits behind it stands before the cents; all others are between thousands.
  const [, whole = '', cents = ''] = /^(.*?)(?:[.,](\d{1,2}))?$/.exec(typed) ?? []
  if (!/^\d{1,3}(?:[.,]?\d{3})*$|^\d+$/.test(whole)) return undefined
  const amount = Number(`${whole.replace(/[.,]/g, '')}.${cents || '0'}`)
  return amount <= 999_999_999_999.99 ? amount : undefined
}
