import assert from 'node:assert/strict'
import { test } from 'node:test'
import { phoneCountry } from '../../../src/base/phone/phone.ts'
import { countryOf, marketCountries, marketKey } from '../../../src/inbox/costs/markets.ts'

const rows: [what: string, phone: string | null, userId: string | null, expected: string | null][] = [
  ['a country with a code of its own', '5581991234567', null, 'BR'],
  ['the United States for +1', '16505551234', null, 'US'],
  ['the United States for a number of +1 in no plan', '15550783881', null, 'US'],
  ['the country of an area code of +1', '18095551234', null, 'DO'],
  ['a country of +1 that is in no market', '12425551234', null, 'BS'],
  ['Kazakhstan, which shares the code of Russia', '77011234567', null, 'KZ'],
  ['Russia', '79161234567', null, 'RU'],
  ['the country whose code a territory has', '447797712345', null, 'GB'],
  ['a country that is in no market', '38344123456', null, 'XK'],
  ['nothing for a code of no country', '999123456789', null, null],
  ['the country of the user id of a hidden phone', null, 'BR.13491208655302741918', 'BR'],
  ['nothing without either', null, null, null],
]
for (const [what, phone, userId, expected] of rows) {
  test(`the country of a message is ${what}`, () => assert.equal(countryOf({ phone, userId }), expected))
}

test('every country of the list is there once, with its code and markets', () => {
  const codes = marketCountries.map(({ country }) => country)
  assert.equal(new Set(codes).size, codes.length)
  for (const { country, callingCode, ownKey, regionKey } of marketCountries) {
    assert.match(country, /^[A-Z]{2}$/)
    assert.match(callingCode, /^[1-9]\d{0,2}$/)
    assert.match(ownKey, /^[a-z]/)
    assert.match(regionKey, /^(rest of|north america|other)/)
  }
})

test('a calling code that one country has decides as the numbering plans do', () => {
  const shared = new Set(['1', '7'])
  for (const { country, callingCode } of marketCountries.filter((one) => !shared.has(one.callingCode))) {
    for (const rest of ['2025550123', '7797712345', '991234567', '612345678']) {
      const parsed = phoneCountry(callingCode + rest)
      assert.equal(parsed?.callingCode, callingCode, country)
      assert.equal(countryOf({ phone: callingCode + rest, userId: null }), country)
    }
  }
})

test('spellings of a market have one key', () => {
  assert.equal(marketKey('Rest of Central & Eastern Europe'), marketKey('rest of central  and eastern europe'))
  assert.notEqual(marketKey('Rest of Africa'), marketKey('South Africa'))
})
