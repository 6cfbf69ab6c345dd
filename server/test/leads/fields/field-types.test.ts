import assert from 'node:assert/strict'
import { test } from 'node:test'
import { choicesProblem, type LeadFieldType, normalizeValue } from '../../../src/leads/fields/lead-fields.ts'
import { parseFieldValue } from '../../../src/leads/transfer/file/field-values.ts'

const choices = ['Recife', 'São Paulo', 'Natal']
const fitted = (type: LeadFieldType, value: string | boolean) => {
  const fitting = normalizeValue({ type, choices }, value, 'BR')
  return 'problem' in fitting ? null : fitting.value
}

test('valid values of a type are stored in one form, and others are rejected', () => {
  const table: [LeadFieldType, string | boolean, string | boolean | null][] = [
    ['text', ' Recife ', 'Recife'],
    ['text', 'x'.repeat(256), null],
    ['text', true, null],
    ['number', '-12.5', '-12.5'],
    ['number', '12,5', null],
    ['amount', '1500.50', '1500.50'],
    ['amount', '1500.505', null],
    ['amount', '-1', null],
    ['date', '2026-02-28', '2026-02-28'],
    ['date', '2026-02-30', null],
    ['date', '28/02/2026', null],
    ['select', 'Recife', 'Recife'],
    ['select', 'recife', null],
    ['multiselect', 'Natal, Recife,Natal', 'Recife, Natal'],
    ['multiselect', 'Natal, Olinda', null],
    ['boolean', false, false],
    ['boolean', 'false', null],
    ['url', 'https://example.com/a', 'https://example.com/a'],
    ['url', 'javascript:alert(1)', null],
    ['phone', '(81) 99123-4567', '5581991234567'],
    ['phone', '12', null],
    ['email', 'ana@example.com', 'ana@example.com'],
    ['email', 'ana@', null],
  ]
  for (const [type, value, expected] of table) assert.equal(fitted(type, value), expected, `${type} ${value}`)
})

test('errors name the expected format, shortened if there are many choices', () => {
  const many = Array.from({ length: 100 }, (_, n) => `${'choice '.repeat(30)}${n}`)
  const said = normalizeValue({ type: 'select', choices }, 'Olinda', null)
  assert.deepEqual(said, { problem: 'must be one of Recife, São Paulo, Natal' })
  const long = normalizeValue({ type: 'multiselect', choices: many }, 'x', null)
  assert.ok('problem' in long && long.problem.length < 400 && long.problem.endsWith(' and others'))
})

test('choices are only allowed for select and multiselect, differ, and can be distinguished in a value', () => {
  const table: [LeadFieldType, string[], boolean][] = [
    ['text', [], true],
    ['text', ['a'], false],
    ['select', [], false],
    ['select', ['a', 'A'], false],
    ['select', ['a', ' b'], false],
    ['select', ['a, b'], true],
    ['multiselect', ['a, b'], false],
    ['multiselect', Array.from({ length: 100 }, (_, n) => `${'x'.repeat(200)}${n}`), false],
    ['multiselect', ['a', 'b'], true],
  ]
  for (const [type, list, fits] of table) {
    assert.equal(choicesProblem({ type, choices: list }) === null, fits, `${type} ${list.slice(0, 3)}`)
  }
})

test('amounts, choices and yes or no in files are parsed as people write them; ambiguous amounts are rejected', () => {
  const table: [LeadFieldType, string, string | boolean | null][] = [
    ['amount', 'R$ 1.234,50', '1234.5'],
    ['amount', '2.500', null],
    ['number', '-3,5', '-3.5'],
    ['number', 'three', null],
    ['select', 'sao paulo', 'São Paulo'],
    ['select', 'Olinda', null],
    ['multiselect', 'natal; RECIFE', 'Recife, Natal'],
    ['boolean', 'Sim', true],
    ['boolean', 'não', false],
    ['boolean', 'maybe', null],
    ['date', '2026-01-31', '2026-01-31'],
    ['phone', '(81) 99123-4567', '5581991234567'],
  ]
  for (const [type, text, expected] of table) {
    const read = parseFieldValue({ type, choices }, text, { decimal: null, country: 'BR' })
    assert.equal('problem' in read ? null : read.value, expected, `${type} ${text}`)
  }
})
