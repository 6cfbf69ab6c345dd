import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LeadField } from '../../src/data/lead-fields.ts'
import { formFieldOf } from '../../src/forms/fields.ts'
import { defaultChoice, readChoice, toggleColumn, widthOf } from '../../src/leads/fields/column-choice.ts'
import {
  columnTitle,
  fieldCell,
  fieldColumns,
  fieldText,
  isNumberColumn,
  withFieldColumns,
} from '../../src/leads/fields/field-columns.ts'
import { definedTargets } from '../../src/leads/transfer/mapping.ts'
import { withTexts } from '../../src/text/index.ts'
import {
  type FieldType,
  formatValue,
  guessType,
  inputValue,
  isValidValue,
  keyFromName,
  parseTyped,
} from '../../src/ui/format/custom-value.ts'

await withTexts(async () => {})

const choices = ['Recife', 'Natal']
const rule = (type: FieldType) => ({ type, choices })

test('input is stored in one format regardless of language, and empty input removes the field', () => {
  const table: [FieldType, string, string | boolean | null | undefined][] = [
    ['text', ' Recife ', 'Recife'],
    ['text', ' ', null],
    ['amount', '1.500,50', '1500.5'],
    ['amount', '1,500.50', '1500.5'],
    ['amount', '-5', undefined],
    ['amount', 'much', undefined],
    ['number', '-12,5', '-12.5'],
    ['number', '3,14159', '3.14159'],
    ['number', '2.500', '2500'],
    ['number', 'three', undefined],
    ['number', '-1.234,56', '-1234.56'],
    ['text', '01310100', '01310100'],
    ['date', '2026-02-28', '2026-02-28'],
    ['boolean', 'true', true],
    ['boolean', 'false', false],
    ['url', 'example.com/a', 'https://example.com/a'],
    ['url', 'http://example.com', 'http://example.com'],
    ['multiselect', 'Recife, Natal', 'Recife, Natal'],
  ]
  for (const [type, text, kept] of table) assert.equal(parseTyped(rule(type), text), kept, `${type} ${text}`)
})

test('values are formatted for reading, and invalid ones shown unchanged', () => {
  const table: [FieldType, string | boolean, string, boolean][] = [
    ['amount', '1500.5', '1,500.50', true],
    ['amount', '1500', '1,500', true],
    ['amount', 'a lot', 'a lot', false],
    ['number', '-12345.678', '-12,345.678', true],
    ['date', '2026-02-28', 'Feb 28, 2026', true],
    ['date', '2026-02-30', '2026-02-30', false],
    ['phone', '5581991234567', '+55 81 99123-4567', true],
    ['phone', '+5581991234567', '+55 81 99123-4567', true],
    ['phone', '12', '12', false],
    ['phone', '08001234567', '08001234567', true],
    ['text', '01310100', '01310100', true],
    ['select', 'Olinda', 'Olinda', false],
    ['multiselect', 'Natal, Recife', 'Natal, Recife', true],
    ['boolean', true, 'Yes', true],
    ['boolean', 'true', 'true', false],
    ['text', true, 'Yes', false],
    ['url', 'javascript:alert(1)', 'javascript:alert(1)', false],
    ['email', 'ana@example.com', 'ana@example.com', true],
  ]
  for (const [type, value, shown, isFit] of table) {
    assert.deepEqual(
      [formatValue(rule(type), value, null), isValidValue(rule(type), value)],
      [shown, isFit],
      `${type} ${value}`,
    )
  }
  assert.deepEqual(
    [inputValue(rule('amount'), '1500.50'), inputValue(rule('amount'), 'a lot'), inputValue(rule('date'), undefined)],
    ['1500.5', 'a lot', ''],
  )
  for (const value of ['1.235', '-12.125', '0.125', '1234.125', '7']) {
    assert.equal(
      parseTyped(rule('number'), inputValue(rule('number'), value)),
      value,
      'it is read as it stood in the input',
    )
  }
})

test('the type of a value without a definition is guessed', () => {
  const table: [FieldType, (string | boolean)[]][] = [
    ['boolean', [true]],
    ['date', ['2026-01-31']],
    ['number', ['12.5', '0', '0.5']],
    ['phone', ['5581991234567', '+55 81 99123-4567']],
    ['url', ['https://example.com']],
    ['email', ['ana@example.com']],
    ['text', ['Recife', '01310100']],
  ]
  for (const [type, values] of table) for (const value of values) assert.equal(guessType(value), type, String(value))
  assert.equal(keyFromName(' 2ª Opção de visita '), 'opcao_de_visita')
})

const field = (key: string, more: Partial<LeadField> = {}): LeadField => ({
  id: key,
  key,
  label: key.toUpperCase(),
  type: 'text',
  choices: [],
  required: false,
  shownIn: ['panel', 'table', 'forms'],
  isArchived: false,
  ...more,
})

test('fields are columns by key: those of the workspace by default, never archived ones', () => {
  const fields = [field('city'), field('sum', { type: 'amount', shownIn: [] }), field('old', { isArchived: true })]
  assert.deepEqual(fieldColumns(fields), ['field:city', 'field:sum'])
  const first = withFieldColumns(defaultChoice, fields)
  assert.deepEqual(first.shown.slice(-2), ['createdAt', 'field:city'])
  const chosen = toggleColumn(toggleColumn(first, 'field:sum'), 'field:city')
  const kept = readChoice(JSON.stringify({ ...chosen, widths: { 'field:sum': 200, 'field:no!': 200 } }))
  assert.deepEqual([kept.shown.at(-1), kept.widths], ['field:sum', { 'field:sum': 200 }])
  assert.deepEqual(withFieldColumns(kept, fields).shown, kept.shown)
  const withOld = readChoice(JSON.stringify({ shown: ['field:old', 'field:gone', 'constructor'] }))
  assert.deepEqual(withFieldColumns(withOld, fields).shown, ['name', 'field:gone'])
  assert.equal(widthOf(first, 'field:city'), 160)
  assert.deepEqual([columnTitle('field:city', fields), columnTitle('field:k_utm_term', fields)], ['CITY', 'UTM term'])
  assert.deepEqual([isNumberColumn('field:sum', fields), isNumberColumn('field:city', fields)], [true, false])
  assert.equal(fieldCell('field:sum', { customFieldValues: { sum: '1500.5' } }, { fields, currency: null }), '1,500.50')
  assert.equal(
    fieldCell('field:sum', { customFieldValues: { sum: '1500.5' } }, { fields, currency: 'BRL' }),
    'R$1,500.50',
  )
  assert.equal(fieldCell('field:sum', {}, { fields, currency: 'BRL' }), '')
  for (const text of ['01310100', '5581991234567', '50030230', '1500.5', '2026-01-31']) {
    assert.equal(
      fieldCell('field:cep', { customFieldValues: { cep: text } }, { fields, currency: 'BRL' }),
      text,
      'of nobody’s type',
    )
  }
  const words = { fields, currency: 'BRL' }
  assert.deepEqual(
    [fieldText('sum', '1500.5', words), fieldText('gone', '1500.5', words), fieldText('gone', true, words)],
    ['R$1,500.50', '1500.5', 'Yes'],
  )
})

test('forms and imports offer defined fields in the types they support', () => {
  assert.deepEqual(formFieldOf(field('sum', { type: 'amount', required: true })), {
    key: 'sum',
    label: 'SUM',
    type: 'number',
    required: true,
  })
  assert.deepEqual(formFieldOf(field('city', { type: 'select', choices })).options, choices)
  assert.deepEqual(definedTargets([field('city'), field('k_utm'), field('old', { isArchived: true })]), [
    { value: 'customFieldValues.city', label: 'CITY' },
    { value: 'k_utm', label: 'K_UTM' },
  ])
})
