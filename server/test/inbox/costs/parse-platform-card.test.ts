import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvalidInput } from '../../../src/base/errors.ts'
import { parseRateCards } from '../../../src/inbox/costs/parse-rate-card.ts'

// Made-up prices in the form of the platform's files.
const header = 'Market,Currency,Marketing,Utility,Authentication,"Authentication-\nInternational",Service'
const prices = (...rows: string[]) => ['"Cost per message in USD",,,,,,', header, ...rows].join('\n')
const labels = ',,Utility,,,,,Authentication,,,,'
const group = 'From,To,Rate type,Rate,vs. List rate'
const tiers = (...rows: string[]) =>
  ['Volume tiers,,,,,,,,,,,', labels, `,Currency,${group},${group}`, ...rows].join('\n')
const none = 'n/a,n/a,n/a,n/a,n/a'
const day = '2026-10-01'

const rate = (market: string, category: string, price: string, fromMessage = 1) => ({
  ...{ market, category, fromMessage, price },
})

async function issuesOf(csv: string, validFrom: string | null = day): Promise<string[]> {
  const error = await parseRateCards(csv, validFrom).catch((thrown: unknown) => thrown)
  assert.ok(error instanceof InvalidInput, String(error))
  return error.issues.map(({ path, message }) => `${path}: ${message}`)
}

test("the platform's prices become one card, with a price for each column that has one", async () => {
  const csv = prices(
    'Brazil,$US,0.0625,0.0068,0.0068,n/a,0.0068',
    'Rest of Africa,USD,0.0225,"1,000.5",,0.1,n/a',
    ',,,,,,',
  )
  assert.deepEqual(await parseRateCards(csv, day), [
    {
      currency: 'USD',
      validFrom: day,
      rates: [
        rate('brazil', 'marketing', '0.0625'),
        rate('brazil', 'utility', '0.0068'),
        rate('brazil', 'authentication', '0.0068'),
        rate('brazil', 'service', '0.0068'),
        rate('rest of africa', 'marketing', '0.0225'),
        rate('rest of africa', 'utility', '1000.5'),
        rate('rest of africa', 'authentication_international', '0.1'),
      ],
    },
  ])
})

test("the platform's tiers are added to a card, each with its first message", async () => {
  const csv = tiers(
    `Brazil,BRL,0,"250,000",List rate,0.0350,0%,${none}`,
    `,BRL,"250,001",--,Tier rate,0.0333,-5%,${none}`,
    'India,INR,0,--,List rate,0.115,0%,0,"500,000",List rate,0.115,0%',
  )
  const [reais, rupees] = await parseRateCards(csv, day)
  assert.deepEqual(reais, {
    ...{ currency: 'BRL', validFrom: day, isAddition: true },
    rates: [rate('brazil', 'utility', '0.0350'), rate('brazil', 'utility', '0.0333', 250_001)],
  })
  assert.deepEqual(rupees?.rates, [rate('india', 'utility', '0.115'), rate('india', 'authentication', '0.115')])
})

test('the day comes from the request, else from the notes', async () => {
  const row = 'Brazil,USD,0.1,0.1,0.1,0.1,0.1'
  const noted = prices(row).replace('Cost per message in USD', 'Cost per message in USD, effective July 1, 2026')
  assert.equal((await parseRateCards(noted))[0]?.validFrom, '2026-07-01')
  assert.equal((await parseRateCards(noted, day))[0]?.validFrom, day)
  assert.match((await issuesOf(prices(row), null)).join(), /^validFrom: is required/)
  assert.match((await issuesOf(prices(row), '2026-13-01')).join(), /^validFrom: must be a day/)
})

const faults: [what: string, csv: string, expected: RegExp][] = [
  ['an unknown market', prices('Atlantis,USD,1,1,1,1,1'), /^csv row 3 column Market: must be one of/],
  ['a currency that is none', prices('Brazil,Real,1,1,1,1,1'), /^csv row 3 column Currency: must have three/],
  ['words in place of a price', prices('Brazil,USD,1,cheap,1,1,1'), /^csv row 3 column utility: must be a number/],
  ['a market twice', prices('Brazil,USD,1,,,,', 'brazil,USD,2,,,,'), /^csv row 4 column marketing: repeats/],
  [
    'a tier that begins nowhere',
    tiers(`Brazil,USD,some,--,Tier rate,0.1,0%,${none}`),
    /^csv row 4 column utility: must begin/,
  ],
  ['no column of a category', 'Market,Currency,Price\nBrazil,USD,1', /^csv: has no column of a category/],
  ['no price', prices('Brazil,USD,n/a,n/a,n/a,n/a,n/a'), /^csv: has no row with a price/],
]

for (const [what, csv, expected] of faults) {
  test(`a file of the platform with ${what} is rejected, naming the place`, async () => {
    assert.match((await issuesOf(csv)).join('\n'), expected)
  })
}

test('the form with one price per row may begin with the market too', async () => {
  const [card] = await parseRateCards(`market,currency,category,price,valid_from\nIndia,INR,service,0.01,${day}`)
  assert.deepEqual(card?.rates, [rate('india', 'service', '0.01')])
})
