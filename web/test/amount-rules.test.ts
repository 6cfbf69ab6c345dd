import assert from 'node:assert/strict'
import { test } from 'node:test'
import { amountText, readAmount } from '../src/ui/format/amount.ts'

const all = ['en', 'es', 'pt']
const pointed = ['es', 'pt']

test('an amount means what it means in the language of its reader, and is refused when that is not clear', () => {
  const table: [string, string[], number | null | undefined][] = [
    ['', all, null],
    [' ', all, null],
    ['0', all, 0],
    ['1500', all, 1500],
    ['1 500', all, 1500],
    ['1 500,50', all, 1500.5],
    ['1500,5', all, 1500.5],
    ['1500.5', all, 1500.5],
    ['1,50', all, 1.5],
    ['1.500,50', all, 1500.5],
    ['1,500.50', all, 1500.5],
    ['1,234,567', all, 1_234_567],
    ['1.234.567', all, 1_234_567],
    ['1,234,567.8', all, 1_234_567.8],
    ['1.500', pointed, 1500],
    ['1.500', ['en'], undefined],
    ['1,500', ['en'], 1500],
    ['1,500', pointed, undefined],
    ['1.234.567.89', all, undefined],
    ['1,500,50', all, undefined],
    ['1.234,567', all, undefined],
    ['0.500', all, undefined],
    ['1.5000', all, undefined],
    ['12,34,567', all, undefined],
    ['1.2.3', all, undefined],
    ['1.', all, undefined],
    ['.5', all, undefined],
    ['-5', all, undefined],
    ['1e3', all, undefined],
    ['lots', all, undefined],
    ['999999999999.99', all, 999_999_999_999.99],
    ['1000000000000', all, undefined],
  ]
  for (const [text, languages, expected] of table) {
    for (const language of languages) assert.equal(readAmount(text, language), expected, `${text} in ${language}`)
  }
})

test('an amount is read as it is shown', () => {
  for (const language of all) {
    for (const value of [0, 7, 1500, 1500.5, 12_345.67, 1_234_567.89]) {
      assert.equal(readAmount(amountText(value, language), language), value)
      assert.equal(readAmount(new Intl.NumberFormat(language).format(value), language), value)
    }
  }
})
