/**
 * Numbers that reach the same phone have one class, whose key is a spelling in use today. Takes and gives digits
 * with the country code. Asks no numbering plan, so that stored keys never change under an updated one.
 */
export function phoneClass(digits: string): string {
  const rule = mergers.find(({ shape }) => shape.test(digits))
  return rule === undefined ? digits : digits.replace(rule.shape, rule.canonical)
}

/** Every spelling of the number's class, the given one first. */
export function phoneVariants(digits: string): string[] {
  const canonical = phoneClass(digits)
  const others = alternatives
    .filter(({ shape }) => shape.test(canonical))
    .map(({ shape, variant }) => canonical.replace(shape, variant))
  return [...new Set([digits, canonical, ...others])]
}

const mergers = [
  // Brazil put a 9 before the eight digits of every mobile, which had begun with 6 to 9. Landlines begin with 2 to 5.
  { shape: /^(?<area>55[1-9]{2})(?<local>[6-9]\d{7})$/, canonical: '$<area>9$<local>' },
  // Mexico dropped the 1 of mobiles.
  { shape: /^521(?<rest>\d{10})$/, canonical: '52$<rest>' },
  // Argentina writes mobiles with a 9 from abroad, with a 15 after the area code (11, 2xx, 3xx, 2xxx, 3xxx) at home.
  { shape: /^549(?<rest>\d{10})$/, canonical: '54$<rest>' },
  { shape: /^54(?<area>11)15(?<local>\d{8})$/, canonical: '54$<area>$<local>' },
  { shape: /^54(?<area>[23]\d\d)15(?<local>\d{7})$/, canonical: '54$<area>$<local>' },
  { shape: /^54(?<area>[23]\d{3})15(?<local>\d{6})$/, canonical: '54$<area>$<local>' },
]

const alternatives = [
  { shape: /^(?<area>55[1-9]{2})9(?<local>[6-9]\d{7})$/, variant: '$<area>$<local>' },
  { shape: /^52(?<rest>\d{10})$/, variant: '521$<rest>' },
  { shape: /^54(?<rest>\d{10})$/, variant: '549$<rest>' },
  { shape: /^54(?<area>11)(?<local>\d{8})$/, variant: '54$<area>15$<local>' },
  { shape: /^54(?<area>[23]\d\d)(?<local>\d{7})$/, variant: '54$<area>15$<local>' },
  { shape: /^54(?<area>[23]\d{3})(?<local>\d{6})$/, variant: '54$<area>15$<local>' },
]
