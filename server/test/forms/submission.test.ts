import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { PublicForm } from '../../src/forms/form/form.ts'
import type { FormField } from '../../src/forms/form/schema.ts'
import { carriedParameters, parseSubmission } from '../../src/forms/submit/submission.ts'
import { pick } from '../support/pick.ts'

const name: FormField = { key: 'firstName', label: 'Name', type: 'text', required: true }

function form(...fields: FormField[]): PublicForm {
  const at = new Date(0)
  return {
    workspaceId: 'w',
    id: 'f',
    slug: 'test',
    name: 'Test',
    title: 'Test',
    description: null,
    fields: [name, ...fields],
    submitLabel: 'Send',
    thankYou: 'Thanks',
    redirectUrl: null,
    allowedOrigins: [],
    source: 'ads',
    status: 'contacted',
    active: true,
    createdAt: at,
    updatedAt: at,
    leadSettings: { defaultCountry: 'BR' },
  }
}

const read = (field: FormField, value: unknown) =>
  parseSubmission(form(field), { firstName: 'Ana', [field.key]: value }, {}, true)

const custom = (type: FormField['type'], more: Partial<FormField> = {}): FormField => ({
  key: 'x',
  label: 'The label',
  type,
  required: false,
  ...more,
})

const options = ['Red', 'Green', 'Blue']
const readings: [what: string, field: FormField, raw: unknown, value: unknown][] = [
  ['text is trimmed', custom('text'), '  Recife ', 'Recife'],
  ['line breaks are one character', custom('textarea'), 'a\r\nb\rc', 'a\nb\nc'],
  ['control characters are dropped', custom('text'), 'a\0b\u0007c', 'abc'],
  ['a decimal comma is a point', custom('number'), '12,5', '12.5'],
  ['a JSON number is taken', custom('number'), 12.5, '12.5'],
  ['an address needs no scheme', custom('url'), 'example.com/x', 'https://example.com/x'],
  ['an address keeps its scheme', custom('url'), 'http://example.com', 'http://example.com'],
  ['an address may be a host alone', custom('url'), 'www.example.com', 'https://www.example.com'],
  ['one option', custom('select', { options }), 'Green', 'Green'],
  ['several options in their own order', custom('multiselect', { options }), ['Blue', 'Red'], 'Red, Blue'],
  ['one option of several', custom('multiselect', { options }), 'Blue', 'Blue'],
  ['a tick', custom('boolean'), 'true', true],
  ['a tick of HTML', custom('boolean'), 'on', true],
  ['a tick of JSON', custom('boolean'), true, true],
  ['no tick', custom('boolean'), undefined, false],
]

for (const [what, field, raw, value] of readings) {
  test(`value: ${what}, with label and type`, () => {
    const { patch, issues } = read(field, raw)
    assert.deepEqual(issues, [])
    assert.deepEqual(patch.typed, [{ key: 'x', label: 'The label', type: field.type, value }])
  })
}

const refusals: [what: string, field: FormField, raw: unknown][] = [
  ['a required text left empty', custom('text', { required: true }), '   '],
  ['a required box left empty', custom('boolean', { required: true }), undefined],
  ['required options left empty', custom('multiselect', { required: true, options }), []],
  ['an option that is none', custom('select', { options }), 'Black'],
  ['options of which one is none', custom('multiselect', { options }), ['Red', 'Black']],
  ['two values for one text', custom('text'), ['a', 'b']],
  ['an object', custom('text'), {}],
  ['a box that is neither', custom('boolean'), 'maybe'],
  ['a list of numbers', custom('multiselect', { options }), [1]],
]

for (const [what, field, raw] of refusals) {
  test(`refused: ${what}`, () => {
    assert.deepEqual(pick(read(field, raw).issues, 'path'), ['x'])
  })
}

test("the lead's own fields are normalized and stored with the form's source and status", () => {
  const own: FormField[] = [
    { key: 'phone', label: 'Phone', type: 'phone', required: false },
    { key: 'notes', label: 'Notes', type: 'textarea', required: false },
  ]
  const { patch, issues } = parseSubmission(
    form(...own),
    { firstName: ' Ana ', phone: '(11) 98765-4321', notes: 'Hi' },
    {},
    true,
  )
  assert.deepEqual(issues, [])
  assert.deepEqual(patch.fields, {
    firstName: 'Ana',
    phone: '5511987654321',
    notes: 'Hi',
    source: 'ads',
    status: 'contacted',
  })
})

const tooLong: [type: FormField['type'], text: string, max: number][] = [
  ['text', 'x'.repeat(256), 255],
  ['email', `${'x'.repeat(244)}@example.com`, 255],
  ['phone', `+55 11 98765-4321${'x'.repeat(48)}`, 64],
  ['url', 'a.'.repeat(1_001), 2_000],
  ['number', '1'.repeat(256), 255],
  ['textarea', 'x'.repeat(10_001), 10_000],
  ['multiselect', ','.repeat(2_001), 2_000],
]

for (const [type, text, max] of tooLong) {
  test(`a ${type} of more than ${max} characters is refused before parsing`, () => {
    assert.deepEqual(read(custom(type), text).issues, [{ path: 'x', message: `must have at most ${max} characters` }])
  })
}

test('a phone of invalid length is refused, naming its field', () => {
  const phone: FormField = { key: 'phone', label: 'Phone', type: 'phone', required: false }
  const { issues } = read(phone, `${' ('.repeat(500_000)}x`)
  assert.deepEqual(issues, [{ path: 'phone', message: 'must have at most 64 characters' }])
})

test('a URL without a host is invalid', () => {
  for (const text of ['example', 'example.', '.example', 'a b.example', 'x:y.example']) {
    assert.equal(read(custom('url'), text).patch.typed[0]?.value, text)
  }
})

test('an unknown field is refused in JSON and ignored from pages', () => {
  const body = { firstName: 'Ana', colour: 'red' }
  assert.deepEqual(parseSubmission(form(), body, {}, true).issues, [
    { path: 'colour', message: 'is not a known field' },
  ])
  assert.deepEqual(parseSubmission(form(), body, {}, false).issues, [])
})

const keysOf = (query: Record<string, string>, ...fields: FormField[]) => {
  const { patch, issues } = parseSubmission(form(...fields), { firstName: 'Ana' }, query, true)
  return { keys: patch.typed.map((field) => field.key), issues: issues.map((issue) => issue.path) }
}
const letters = [...'abcdefghijklmno']
const parameters = (count: number) => Object.fromEntries(letters.slice(0, count).map((letter) => [`k_${letter}`, '1']))

test('k_ parameters become fields, utm_ ones become k_utm_', () => {
  assert.deepEqual(keysOf({ k_city: 'Recife', utm_source: 'x', fbclid: 'y', k_empty: '' }), {
    keys: ['k_city', 'k_utm_source'],
    issues: [],
  })
})

test('an explicit k_utm_ parameter overrides the utm_ one', () => {
  const { patch } = parseSubmission(form(), { firstName: 'Ana' }, { k_utm_source: 'own', utm_source: 'other' }, true)
  assert.deepEqual(pick(patch.typed, 'value'), ['own'])
})

test('ten fields in total: utm_ tags are dropped, least important first', () => {
  const query = { utm_term: 't', utm_x: 'x', utm_source: 's', ...parameters(8) }
  assert.deepEqual(keysOf(query).keys.slice(8), ['k_utm_source', 'k_utm_term'])
  assert.deepEqual(keysOf(query).issues, [])
})

test('ten fields in total: an excess k_ parameter is refused by name', () => {
  assert.deepEqual(keysOf(parameters(10)).issues, [])
  assert.deepEqual(keysOf(parameters(11)).issues, ['k_k'])
  const filled = parseSubmission(form(custom('text')), { firstName: 'Ana', x: '1' }, parameters(10), true)
  assert.deepEqual(pick(filled.issues, 'path'), ['k_j'])
})

test('a long utm_ tag is cut, one with an invalid name omitted', () => {
  const { patch } = parseSubmission(
    form(),
    { firstName: 'Ana' },
    { utm_source: 'é'.repeat(300), 'utm_Bad-Name': 'x' },
    true,
  )
  assert.deepEqual(
    patch.typed.map((field) => [...String(field.value)].length),
    [255],
  )
})

test('a page never submits parameters that would be refused', () => {
  const names = fc.oneof(
    fc.constantFrom(...letters.map((letter) => `k_${letter}`), 'utm_source', 'utm_medium', 'k_', 'k_BAD', '__proto__'),
    fc.string(),
  )
  fc.assert(
    fc.property(fc.dictionary(names, fc.string({ maxLength: 300 }), { maxKeys: 20 }), (query) => {
      const target = form(custom('text'), custom('boolean', { key: 'y' }))
      const carried = Object.fromEntries(carriedParameters(target, query).map((field) => [field.key, field.value]))
      const { patch, issues } = parseSubmission(target, { ...carried, firstName: 'Ana', x: '1' }, {}, true)
      assert.deepEqual(issues, [])
      assert.ok(patch.typed.length <= 10)
    }),
  )
})
