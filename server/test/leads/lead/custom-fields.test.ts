import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CustomField, keyProblem, setCustomFields, valueProblem } from '../../../src/leads/lead/custom-fields.ts'
import { pick } from '../../support/pick.ts'

const text = (key: string, value: string): CustomField => ({ key, label: key, type: 'text', value })

test('a key has at most 40 characters, lowercase snake_case, and starts with a letter', () => {
  const good = ['a', 'k_city', 'k_1', 'utm_source', `k_${'a'.repeat(38)}`, 'constructor']
  const bad = ['', '_a', '1a', 'K_city', 'k-city', 'k_cidade_ção', 'k_', 'a b', `k_${'a'.repeat(39)}`, '__proto__']
  for (const key of good) assert.equal(keyProblem(key), null, key)
  for (const key of bad) assert.notEqual(keyProblem(key), null, key)
})

test('each type accepts only its own values', () => {
  const rows: [CustomField['type'], string | boolean, boolean][] = [
    ['text', 'x'.repeat(255), true],
    ['text', 'x'.repeat(256), false],
    ['text', '🙂'.repeat(255), true],
    ['text', true, false],
    ['textarea', 'x'.repeat(10_000), true],
    ['textarea', 'x'.repeat(10_001), false],
    ['email', 'ana@example.com', true],
    ['email', 'ana@', false],
    ['phone', '+55 81 99123-4567', true],
    ['phone', '12', false],
    ['url', 'https://example.com/a?b=c', true],
    ['url', 'javascript:alert(1)', false],
    ['number', '-12.50', true],
    ['number', '1e9', false],
    ['date', '2024-02-29', true],
    ['date', '2023-02-29', false],
    ['date', '2023-02-01T00:00:00Z', false],
    ['select', 'north', true],
    ['multiselect', 'north,south', true],
    ['boolean', true, true],
    ['boolean', 'true', false],
  ]
  for (const [type, value, fits] of rows) {
    assert.equal(valueProblem(type, value) === null, fits, `${type} ${String(value).slice(0, 30)}`)
  }
})

test('null and the empty string remove a field, which allows another to be added', () => {
  const ten = Array.from({ length: 10 }, (_, n) => text(`f${n}`, 'x'))
  const { fields, issues } = setCustomFields(ten, [], { f0: null, f1: '', added: 'y' }, '')
  assert.deepEqual(issues, [])
  assert.deepEqual(pick(fields, 'key'), ['f2', 'f3', 'f4', 'f5', 'f6', 'f7', 'f8', 'f9', 'added'])
})

test('a value under an alias sets the field behind it; the key takes precedence over its alias', () => {
  const current = [text('k_city', 'Recife')]
  assert.deepEqual(setCustomFields(current, [], { city: 'Olinda' }, '').fields, [text('k_city', 'Olinda')])
  assert.deepEqual(setCustomFields(current, [], { k_city: 'Natal', city: 'Recife' }, '').fields, [
    text('k_city', 'Natal'),
  ])
  assert.deepEqual(setCustomFields(current, [], { city: 'Recife', k_city: 'Natal' }, '').fields, [
    text('k_city', 'Natal'),
  ])
})

test('a field keeps its label and type when a parameter or a map sets its value', () => {
  const current: CustomField[] = [{ key: 'k_size', label: 'Team size', type: 'number', value: '5' }]
  assert.deepEqual(setCustomFields(current, [text('k_size', '7')], {}, '').fields, [
    { key: 'k_size', label: 'Team size', type: 'number', value: '7' },
  ])
  assert.deepEqual(setCustomFields(current, [], { k_size: 'many' }, 'customFieldValues').issues, [
    { path: 'customFieldValues.k_size', message: 'must be a number such as 12.5' },
  ])
})
