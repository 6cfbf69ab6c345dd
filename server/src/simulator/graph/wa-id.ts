/**
 * The key under which the platform knows a number that nobody has written from yet. Accounts of most of Brazil are
 * older than the ninth digit, and Mexican mobiles keep their 1, whatever people dial today.
 */
export function waIdOf(digits: string): string {
  const rule = oldSpellings.find(({ shape }) => shape.test(digits))
  return rule === undefined ? digits : digits.replace(rule.shape, rule.waId)
}

const oldSpellings = [
  { shape: /^55(?<area>[3-9][1-9])9(?<local>[6-9]\d{7})$/, waId: '55$<area>$<local>' },
  { shape: /^52(?<rest>[2-9]\d{9})$/, waId: '521$<rest>' },
]
