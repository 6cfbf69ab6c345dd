import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getCountries } from 'libphonenumber-js/max'
import { countryCodes } from '../../src/settings/country-codes.ts'
import { currencyCodes } from '../../src/settings/currencies.ts'

test('the countries that a workspace may choose are those that the phone engine knows, and all have names', () => {
  assert.deepEqual(countryCodes.toSorted(), getCountries().toSorted())
  const names = new Intl.DisplayNames('en', { type: 'region' })
  for (const code of countryCodes) assert.notEqual(names.of(code), code)
})

test('the currencies that a workspace may choose are those that the service takes, and all have names', () => {
  const taken = new Set(Intl.supportedValuesOf('currency'))
  const names = new Intl.DisplayNames('en', { type: 'currency' })
  for (const code of currencyCodes) assert.ok(taken.has(code) && names.of(code) !== code, code)
  assert.equal(new Set(currencyCodes).size, currencyCodes.length)
})
