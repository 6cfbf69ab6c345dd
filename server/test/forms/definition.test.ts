import assert from 'node:assert/strict'
import { test } from 'node:test'
import { definitionIssues } from '../../src/forms/form/change.ts'
import type { FormDefinition, FormField } from '../../src/forms/form/schema.ts'
import { pick } from '../support/pick.ts'

const name: FormField = { key: 'firstName', label: 'Name', type: 'text', required: true }
const field = (more: Partial<FormField>): FormField => ({
  key: 'city',
  label: 'City',
  type: 'text',
  required: false,
  ...more,
})

function form(more: Partial<FormDefinition>): FormDefinition {
  return {
    slug: 'test',
    name: 'Test',
    title: 'Test',
    description: null,
    fields: [name],
    submitLabel: 'Send',
    thankYou: 'Thanks',
    redirectUrl: null,
    allowedOrigins: [],
    source: 'website',
    status: 'new',
    active: true,
    ...more,
  }
}

const many = (count: number) => Array.from({ length: count }, (_, n) => field({ key: `field_${n}` }))

const fieldRules: [rule: string, fields: FormField[], path: string | null][] = [
  ['a name alone is a form', [name], null],
  ['the name may not be missing', [field({})], 'fields'],
  ['the name may not be optional', [{ ...name, required: false }], 'fields'],
  ["the lead's own fields and ten more", [name, ...many(10)], null],
  ['eleven custom fields are too many', [name, ...many(11)], 'fields'],
  ['a key stands once', [name, field({}), field({})], 'fields[2].key'],
  ['keys are snake_case', [name, field({ key: 'City' })], 'fields[1].key'],
  ['keys have 40 characters', [name, field({ key: 'x'.repeat(41) })], 'fields[1].key'],
  ['k_ is for parameters', [name, field({ key: 'k_city' })], 'fields[1].key'],
  ['utm_ is for parameters', [name, field({ key: 'utm_source' })], 'fields[1].key'],
  ['the decoy is not a field', [name, field({ key: 'homepage' })], 'fields[1].key'],
  ['the token is not a field', [name, field({ key: '_token' })], 'fields[1].key'],
  ['no custom shadow of a field of the lead', [name, field({ key: 'last_name' })], 'fields[1].key'],
  ['an inherited name is no field of the lead', [name, field({ key: 'constructor' })], null],
  ['an e-mail has its type', [name, field({ key: 'email', type: 'text' })], 'fields[1].type'],
  ['a phone has its type', [name, field({ key: 'phone', type: 'phone' })], null],
  ['notes may be one line', [name, field({ key: 'notes', type: 'text' })], null],
  ['a label is not blank', [name, field({ label: '  ' })], 'fields[1].label'],
  ['a select has options', [name, field({ type: 'select' })], 'fields[1].options'],
  ['an option may hold a comma', [name, field({ type: 'select', options: ['Yes, now', 'No'] })], null],
  ['a chosen one may not', [name, field({ type: 'multiselect', options: ['Yes, now', 'No'] })], 'fields[1].options'],
  ['options differ', [name, field({ type: 'select', options: ['a', 'a'] })], 'fields[1].options'],
  ['options are not blank', [name, field({ type: 'select', options: ['a', ''] })], 'fields[1].options'],
  ['an option fits a value', [name, field({ type: 'select', options: ['x'.repeat(256)] })], 'fields[1].options'],
  ['a text has no options', [name, field({ options: ['a'] })], 'fields[1].options'],
  [
    'all options chosen fit a value',
    [name, field({ type: 'multiselect', options: Array.from({ length: 10 }, (_, n) => `${n}${'x'.repeat(210)}`) })],
    'fields[1].options',
  ],
]

for (const [rule, fields, path] of fieldRules) {
  test(`fields: ${rule}`, () => {
    assert.deepEqual(pick(definitionIssues(form({ fields })), 'path'), path === null ? [] : [path])
  })
}

const addresses: [part: 'redirectUrl' | 'allowedOrigins', value: string, isFine: boolean][] = [
  ['redirectUrl', 'https://example.com/thanks?x=1', true],
  ['redirectUrl', 'http://example.com', true],
  ['redirectUrl', 'javascript:alert(1)', false],
  ['redirectUrl', 'data:text/html,x', false],
  ['redirectUrl', '//example.com', false],
  ['redirectUrl', '/thanks', false],
  ['allowedOrigins', 'https://example.com', true],
  ['allowedOrigins', 'http://localhost:3000', true],
  ['allowedOrigins', '*', true],
  ['allowedOrigins', 'https://example.com/', false],
  ['allowedOrigins', 'https://example.com:443', false],
  ['allowedOrigins', 'https://Example.com', false],
  ['allowedOrigins', 'example.com', false],
  ['allowedOrigins', 'null', false],
  ['allowedOrigins', "https://example.com; script-src 'unsafe-inline'", false],
]

for (const [part, value, isFine] of addresses) {
  test(`${part}: ${value} is ${isFine ? 'fine' : 'refused'}`, () => {
    const issues = definitionIssues(form({ [part]: part === 'redirectUrl' ? value : [value] }))
    assert.equal(issues.length === 0, isFine)
  })
}
