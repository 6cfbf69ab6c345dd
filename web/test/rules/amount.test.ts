import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  amountInputText,
  currencySign,
  formatAmount,
  formatAmountShort,
  normalizedAmount,
  normalizedNumber,
  parseAmount,
  parseNumber,
} from '../../src/ui/format/amount.ts'

const all = ['en', 'es', 'pt']

test('an amount means the same wherever and in whatever language it is typed', () => {
  const spellings: [value: number | null | undefined, typed: string[]][] = [
    [null, ['', ' ']],
    [0, ['0']],
    [1.5, ['1,50']],
    [5, ['$5']],
    [10, ['BRL 10', '10 Kz', '10 Kč', '10 kr']],
    [1500, ['1500', '1 500', 'R$ 1,5k']],
    [1150, ['1.15k €']],
    [1500.5, ['1 500,50', '1500,5', '1500.5', '1.500,50']],
    [1234.5, ['1.234,50', '1,234.50', 'R$ 1.234,50', 'US$ 1,234.50', '1.234,50 €']],
    [2500, ['2\u00a0500', '2\u202f500,00', '2.500', '2,500', 'R$2.500']],
    [2500.5, ["2'500.50"]],
    [10_000, ['10k', '10 K']],
    [1_234_567, ['1,234,567', '1.234.567']],
    [1_234_567.8, ['1,234,567.8']],
    [999_999_999_999.99, ['999999999999.99']],
    // Ambiguous between languages: thousand or million.
    [undefined, ['10 mil', '10M', '10 mi', '10k5', 'k', '1000000000k', 'lots', 'R$', '1e3', '-5', '.5', '1.']],
    [undefined, ['1.234.567.89', '1,500,50', '1.234,567', '0.500', '1.5000', '12,34,567', '1.2.3']],
    [undefined, ['1000000000000', '1'.repeat(10_000)]],
  ]
  for (const [value, typed] of spellings) for (const text of typed) assert.equal(parseAmount(text), value, text)
})

test('the interpreted amount is shown if it was typed in another notation than that of language and currency', () => {
  const table: [typed: string, language: string, currency: string | null, told: string | null][] = [
    ['2.500', 'en', null, '2,500'],
    ['2.500', 'pt', null, null],
    ['2,500', 'pt', null, '2.500'],
    ['1.234,50', 'en', null, '1,234.50'],
    ['R$ 1.234,50', 'pt', null, '1.234,50'],
    ['1500,5', 'pt', null, null],
    ['1500.5', 'pt', null, '1.500,50'],
    ['nothing', 'en', null, null],
    ['', 'en', null, null],
    ['R$ 2.500', 'pt', 'BRL', null],
    ['R$2.500,00', 'pt', 'BRL', 'R$\u00a02.500'],
    ['US$ 100', 'pt', 'BRL', 'R$\u00a0100'],
    ['1,500', 'es', 'EUR', '1500\u00a0€'],
    ['1.500,50', 'en', 'USD', '$1,500.50'],
  ]
  for (const [text, language, currency, expected] of table)
    assert.equal(normalizedAmount(text, language, currency), expected, `${text} ${language}`)
})

test('a displayed amount parses to the same value', () => {
  for (const language of all) {
    for (const value of [0, 7, 1500, 1500.5, 12_345.67, 1_234_567.89]) {
      assert.equal(parseAmount(amountInputText(value, language)), value)
      assert.equal(parseAmount(new Intl.NumberFormat(language).format(value)), value)
    }
  }
})

test('an amount is shown in the workspace currency, without decimals if whole, or as a plain number', () => {
  assert.deepEqual(
    [formatAmount(1500, 'BRL'), formatAmount(1500.5, 'BRL'), formatAmount(1500, 'JPY'), formatAmount(1500.5, null)],
    ['R$1,500', 'R$1,500.50', '¥1,500', '1,500.50'],
  )
  assert.deepEqual([formatAmountShort(38_200, 'BRL'), formatAmountShort(38_000, null)], ['R$38.2K', '38K'])
  assert.deepEqual(
    [currencySign('BRL', 'pt'), currencySign('EUR', 'es'), currencySign('PEN', 'es'), currencySign(null, 'pt')],
    ['R$', '€', 'PEN', undefined],
  )
})

test('an amount displayed in a currency can be typed in again unchanged', () => {
  const common = 'BRL USD EUR MXN ARS COP CLP PEN UYU PYG BOB GTQ HNL CRC DOP GBP PLN CZK SEK JPY INR NGN AOA'
  for (const currency of common.split(' ')) {
    for (const language of all) {
      const style = { style: 'currency', currency, currencyDisplay: 'narrowSymbol' } as const
      const shown = new Intl.NumberFormat(language, { ...style, minimumFractionDigits: 2, maximumFractionDigits: 2 })
      assert.equal(parseAmount(shown.format(12_345.67)), 12_345.67, shown.format(12_345.67))
    }
  }
})

test('a number is parsed like an amount, but keeps its sign and decimals', () => {
  const spellings: [value: string | null | undefined, typed: string[]][] = [
    [null, ['']],
    ['0', ['-0']],
    ['-5', ['-5', '−5', '- 5']],
    ['-10', ['R$ -10']],
    ['-10.5', ['-R$ 10,50']],
    ['-1234.56', ['-1.234,56', '-1,234.56']],
    ['1234.5678', ['1.234,5678']],
    ['1234567.8901', ['1,234,567.8901']],
    ['3.14159', ['3,14159']],
    ['-10000', ['-10k']],
    [undefined, ['5-3', '--5', '1.234.5678', '01310-100', '-', '1,'.repeat(10_000)]],
  ]
  for (const [value, typed] of spellings) for (const text of typed) assert.equal(parseNumber(text), value, text)
  const told: [typed: string, language: string, told: string | null][] = [
    ['1.235', 'en', '1,235'],
    ['1.235', 'pt', null],
    ['-12,5', 'en', '-12.5'],
    ['-12,5', 'es', null],
    ['three', 'en', null],
  ]
  for (const [text, language, expected] of told) assert.equal(normalizedNumber(text, language), expected, text)
})
