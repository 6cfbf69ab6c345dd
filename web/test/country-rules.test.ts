import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getCountries } from 'libphonenumber-js/max'
import { countries } from '../src/settings/countries.ts'

test('the countries that a workspace may choose are those that the phone engine knows', () => {
  const offered = countries()
  assert.deepEqual(offered.map(({ value }) => value).sort(), getCountries().sort())
  for (const { value, label } of offered) assert.notEqual(label, value, `${value} has a name`)
})
