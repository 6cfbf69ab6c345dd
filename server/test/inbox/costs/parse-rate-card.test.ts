import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvalidInput } from '../../../src/base/errors.ts'
import { parseRateCards } from '../../../src/inbox/costs/parse-rate-card.ts'

const header = 'currency,market,category,from_message,price,valid_from'
const good = 'USD,Brazil,utility,1,0.0068,2026-10-01'

async function issuesOf(csv: string): Promise<string[]> {
  const error = await parseRateCards(csv).then(
    () => null,
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof InvalidInput)
  return error.issues.map(({ path, message }) => `${path}: ${message}`)
}

test('a file becomes one card per currency and day, with prices as written', async () => {
  const rows = [
    good,
    'USD,Brazil,marketing,0,0.0625,2026-10-01',
    'BRL,brazil,UTILITY,1,0.025,2026-10-01',
    'USD,Rest of Africa,Authentication-International,750001,1,2027-01-01',
  ]
  const cards = await parseRateCards([header, ...rows].join('\r\n'))
  const rate = (market: string, category: string, fromMessage: number, price: string) => ({
    market,
    category,
    fromMessage,
    price,
  })
  assert.deepEqual(cards, [
    {
      currency: 'USD',
      validFrom: '2026-10-01',
      rates: [rate('brazil', 'utility', 1, '0.0068'), rate('brazil', 'marketing', 1, '0.0625')],
    },
    { currency: 'BRL', validFrom: '2026-10-01', rates: [rate('brazil', 'utility', 1, '0.025')] },
    {
      currency: 'USD',
      validFrom: '2027-01-01',
      rates: [rate('rest of africa', 'authentication_international', 750_001, '1')],
    },
  ])
})

test('columns may be in any order, without tiers, and separated as spreadsheets do', async () => {
  const [card] = await parseRateCards(
    '\uFEFFValid from;Price;Category;Market;Currency\n2026-10-01;0.01;service;"India";inr\n2026-10-01;n/a;service;Chile;inr\n',
  )
  assert.deepEqual(card, {
    currency: 'INR',
    validFrom: '2026-10-01',
    rates: [{ market: 'india', category: 'service', fromMessage: 1, price: '0.01' }],
  })
})

const faults: [what: string, row: string, expected: RegExp][] = [
  ['a currency that is none', 'dollars,Brazil,utility,1,0.1,2026-10-01', /currency must have three letters/],
  ['a market that the platform does not have', 'USD,Atlantis,utility,1,0.1,2026-10-01', /market must be one of/],
  ['an unknown category', 'USD,Brazil,calls,1,0.1,2026-10-01', /category must be one of/],
  ['a day that is none', 'USD,Brazil,utility,1,0.1,2026-02-30', /valid_from must be a day/],
  ['a decimal comma', 'USD,Brazil,utility,1,"0,1",2026-10-01', /price must be a number with a point/],
  ['a negative price', 'USD,Brazil,utility,1,-1,2026-10-01', /price must be a number/],
  ['a tier that is no number', 'USD,Brazil,utility,many,0.1,2026-10-01', /from_message must be a whole number/],
  ['a cell that is too long', `USD,${'x'.repeat(200)},utility,1,0.1,2026-10-01`, /market must have at most 100/],
  ['a row that is there twice', good, /repeats an earlier row/],
  ['a row that is too short', 'USD', /market must be/],
]
for (const [what, row, expected] of faults) {
  test(`a faulty row is named: ${what}`, async () => {
    const issues = await issuesOf([header, good, row].join('\n'))
    assert.match(issues[0] ?? '', expected)
    assert.match(issues[0] ?? '', /^csv row 3: /)
  })
}

test('a file without the columns, without prices or with broken quotes is refused', async () => {
  assert.match((await issuesOf('market,price\nBrazil,1'))[0] ?? '', /has no column currency, category, valid_from/)
  assert.match((await issuesOf(header))[0] ?? '', /has no row with a price/)
  assert.match((await issuesOf(`${header}\n"USD,Brazil`))[0] ?? '', /is not valid CSV/)
  assert.match((await issuesOf(''))[0] ?? '', /has no column/)
})

test('of many faulty rows the first are named and the rest counted', async () => {
  const issues = await issuesOf([header, ...Array.from({ length: 50 }, () => 'x')].join('\n'))
  assert.equal(issues.length, 20)
  assert.match(issues.at(-1) ?? '', /^csv: has \d+ more/)
})
