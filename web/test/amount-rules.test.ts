import assert from 'node:assert/strict'
import { test } from 'node:test'
import { amountText, readAmount, understood } from '../src/ui/format/amount.ts'

const all = ['en', 'es', 'pt']

test('an amount means the same wherever it is typed and in whatever language', () => {
  const table: [string, number | null | undefined][] = [
    ['', null],
    [' ', null],
    ['0', 0],
    ['1500', 1500],
    ['1 500', 1500],
    ['2\u00a0500', 2500],
    ['2\u202f500,00', 2500],
    ["2'500.50", 2500.5],
    ['1 500,50', 1500.5],
    ['1500,5', 1500.5],
    ['1500.5', 1500.5],
    ['1,50', 1.5],
    ['1.500,50', 1500.5],
    ['1.234,50', 1234.5],
    ['1,234.50', 1234.5],
    ['1,234,567', 1_234_567],
    ['1.234.567', 1_234_567],
    ['1,234,567.8', 1_234_567.8],
    ['2.500', 2500],
    ['2,500', 2500],
    ['R$ 1.234,50', 1234.5],
    ['R$2.500', 2500],
    ['US$ 1,234.50', 1234.5],
    ['1.234,50 €', 1234.5],
    ['BRL 10', 10],
    ['$5', 5],
    ['1.234.567.89', undefined],
    ['1,500,50', undefined],
    ['1.234,567', undefined],
    ['0.500', undefined],
    ['1.5000', undefined],
    ['12,34,567', undefined],
    ['1.2.3', undefined],
    ['1.', undefined],
    ['.5', undefined],
    ['-5', undefined],
    ['1e3', undefined],
    ['lots', undefined],
    ['R$', undefined],
    ['999999999999.99', 999_999_999_999.99],
    ['1000000000000', undefined],
    ['1'.repeat(10_000), undefined],
  ]
  for (const [text, expected] of table) assert.equal(readAmount(text), expected, text)
})

test('what was read is told where it was typed in another way than the language writes it', () => {
  const table: [string, string, string | null][] = [
    ['2.500', 'en', '2,500'],
    ['2.500', 'pt', null],
    ['2,500', 'pt', '2.500'],
    ['2,500', 'en', null],
    ['1.234,50', 'en', '1,234.50'],
    ['1.234,50', 'pt', null],
    ['R$ 1.234,50', 'pt', '1.234,50'],
    ['1500', 'en', null],
    ['1500,5', 'pt', null],
    ['1500.5', 'pt', '1.500,50'],
    ['nothing', 'en', null],
    ['', 'en', null],
  ]
  for (const [text, language, expected] of table)
    assert.equal(understood(text, language), expected, `${text} ${language}`)
})

test('an amount is read as it is shown', () => {
  for (const language of all) {
    for (const value of [0, 7, 1500, 1500.5, 12_345.67, 1_234_567.89]) {
      assert.equal(readAmount(amountText(value, language)), value)
      assert.equal(readAmount(new Intl.NumberFormat(language).format(value)), value)
    }
  }
})
