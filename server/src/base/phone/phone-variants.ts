/**
 * Returns the canonical form, in current use, of a number; equal for all numbers that reach the same phone. Takes and
 * returns digits with country code. Independent of numbering plans, so that stored keys don't change with an update.
 */
export function phoneClass(digits: string): string {
  const rule = mergeRules.get(startOf(digits))?.find(({ shape }) => shape.test(digits))
  return rule === undefined ? digits : digits.replace(rule.shape, rule.replacement)
}

/**
 * Returns the keys under which numbers of this class may be stored: the canonical form, and the former one, which was
 * its own class until Parley learned that the country had renumbered.
 */
export function phoneKeys(digits: string): string[] {
  const canonical = phoneClass(digits)
  return [canonical, ...applyRules(formerRules, canonical)]
}

/** Returns every form of a number, the given one first. */
export function phoneVariants(digits: string): string[] {
  const canonical = phoneClass(digits)
  return [
    ...new Set([digits, canonical, ...applyRules(alternativeRules, canonical), ...applyRules(formerRules, canonical)]),
  ]
}

interface Rule {
  shape: RegExp
  replacement: string
}

/** Rules by the first two digits of their numbers: most numbers have none, and a message looks its phone up six times. */
type Rules = ReadonlyMap<string, readonly Rule[]>

const startOf = (digits: string): string => digits.slice(0, 2)

const byStart = (rules: readonly Rule[]): Rules =>
  Map.groupBy(rules, ({ shape }) => startOf(shape.source.replace(/^\^(?:\(\?<\w+>)?/, '')))

const applyRules = (rules: Rules, digits: string): string[] =>
  (rules.get(startOf(digits)) ?? [])
    .filter(({ shape }) => shape.test(digits))
    .map(({ shape, replacement }) => digits.replace(shape, replacement))

/**
 * Prefix changes announced to the ITU: former prefix, current prefix, remaining digits. Old numbers were not
 * reassigned.
 */
const renumberings: readonly [former: string, now: string, rest: string][] = [
  // Cameroon, November 2014: mobiles.
  ['237', '2376', '[5-9]\\d{7}'],
  // Vietnam, autumn 2018: mobiles with eleven digits, differently for each network.
  ['8416', '843', '[2-9]\\d{7}'],
  ['84120', '8470', '\\d{7}'],
  ['84121', '8479', '\\d{7}'],
  ['84122', '8477', '\\d{7}'],
  ['84126', '8476', '\\d{7}'],
  ['84128', '8478', '\\d{7}'],
  ['8412', '848', '[345]\\d{7}'],
  ['84127', '8481', '\\d{7}'],
  ['84129', '8482', '\\d{7}'],
  ['8418', '845', '[68]\\d{7}'],
  ['84199', '8459', '\\d{7}'],
  // Gabon, September 2019: mobiles.
  ['2410', '2416', '[256]\\d{6}'],
  ['2410', '2417', '[47]\\d{6}'],
  // Ivory Coast, January 2021: mobiles; the second digit identified the network.
  ['225', '22501', '[04-9][0-3]\\d{6}'],
  ['225', '22505', '[04-9][4-6]\\d{6}'],
  ['225', '22507', '[04-9][7-9]\\d{6}'],
  // Benin, November 2024: all.
  ['229', '22901', '\\d{8}'],
]
const ruleOf = (from: string, to: string, rest: string): Rule => ({
  shape: new RegExp(`^${from}(?<rest>${rest})$`),
  replacement: `${to}$<rest>`,
})
const formerRules = byStart(renumberings.map(([former, now, rest]) => ruleOf(now, former, rest)))

const mergeRules = byStart([
  ...renumberings.map(([former, now, rest]) => ruleOf(former, now, rest)),
  // Brazil prefixed a 9 to the eight digits of mobiles, which began with 6 to 9. Landlines begin with 2 to 5.
  { shape: /^(?<area>55[1-9]{2})(?<local>[6-9]\d{7})$/, replacement: '$<area>9$<local>' },
  // Mexico dropped the 1 of mobiles.
  { shape: /^521(?<rest>\d{10})$/, replacement: '52$<rest>' },
  // Argentine mobiles have a 9 from abroad, and a 15 after the area code (11, 2xx, 3xx, 2xxx, 3xxx) within the country.
  { shape: /^549(?<rest>\d{10})$/, replacement: '54$<rest>' },
  { shape: /^54(?<area>11)15(?<local>\d{8})$/, replacement: '54$<area>$<local>' },
  { shape: /^54(?<area>[23]\d\d)15(?<local>\d{7})$/, replacement: '54$<area>$<local>' },
  { shape: /^54(?<area>[23]\d{3})15(?<local>\d{6})$/, replacement: '54$<area>$<local>' },
])

const alternativeRules = byStart([
  { shape: /^(?<area>55[1-9]{2})9(?<local>[6-9]\d{7})$/, replacement: '$<area>$<local>' },
  { shape: /^52(?<rest>\d{10})$/, replacement: '521$<rest>' },
  { shape: /^54(?<rest>\d{10})$/, replacement: '549$<rest>' },
  { shape: /^54(?<area>11)(?<local>\d{8})$/, replacement: '54$<area>15$<local>' },
  { shape: /^54(?<area>[23]\d\d)(?<local>\d{7})$/, replacement: '54$<area>15$<local>' },
  { shape: /^54(?<area>[23]\d{3})(?<local>\d{6})$/, replacement: '54$<area>15$<local>' },
])
