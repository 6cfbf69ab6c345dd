import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ListedTemplate, TemplateContent } from '../../src/data/team/templates.ts'
import { hasInputProblem, inputFields, inputProblems, noInputs } from '../../src/shared/template-inputs.ts'
import { problemOf } from '../../src/shared/template-preview.ts'
import { emptyOtp, shownCode } from '../../src/templates/code-texts.ts'
import {
  convertFormat,
  fillVariables,
  moved,
  nextVariable,
  variablesIn,
  withSample,
} from '../../src/templates/draft-content.ts'
import { filterTemplates, noFilters, type TemplateFilters } from '../../src/templates/template-filters.ts'

const content: TemplateContent = {
  ...{ name: 'order_update', language: 'en', category: 'UTILITY', format: 'positional' },
  header: { type: 'text', text: 'Order {{1}}', sample: 'A-17' },
  body: 'Hi {{2}}, {{1}} ships. {{2}}!',
  samples: [
    { name: '1', value: 'A-17' },
    { name: '2', value: 'Ana' },
  ],
  ...{ footer: '', buttons: [] },
}

test('variables are found once each, numbered or named next, and filled with samples', () => {
  assert.deepEqual(variablesIn(content.body), ['2', '1'])
  assert.equal(nextVariable(content.body, 'positional'), '{{3}}')
  assert.equal(nextVariable('Hi {{2}}', 'positional'), '{{1}}')
  assert.equal(nextVariable('Hi {{value_1}}', 'named'), '{{value_2}}')
  assert.equal(
    fillVariables(content.body, (name) => (name === '2' ? 'Ana' : '')),
    'Hi Ana, {{1}} ships. Ana!',
  )
})

test('numbered variables become named ones and back, with their samples', () => {
  const named = convertFormat(content, 'named')
  assert.deepEqual([named.format, named.body], ['named', 'Hi {{value_2}}, {{value_1}} ships. {{value_2}}!'])
  assert.equal(named.header.text, 'Order {{value_1}}')
  assert.deepEqual(named.samples, [
    { name: 'value_2', value: 'Ana' },
    { name: 'value_1', value: 'A-17' },
  ])
  const back = convertFormat(named, 'positional')
  assert.equal(back.body, 'Hi {{1}}, {{2}} ships. {{1}}!')
  assert.deepEqual(back.samples, [
    { name: '1', value: 'Ana' },
    { name: '2', value: 'A-17' },
  ])
  assert.equal(convertFormat(content, 'positional'), content)
})

test('samples of variables that are gone are dropped', () => {
  assert.deepEqual(withSample({ ...content, body: 'Hi {{2}}.' }, '2', 'Bia'), [{ name: '2', value: 'Bia' }])
})

test('an item moves by one place, not beyond the ends', () => {
  assert.deepEqual(moved(['a', 'b', 'c'], 1, -1), ['b', 'a', 'c'])
  assert.deepEqual(moved(['a', 'b'], 1, 1), ['a', 'b'])
})

const template = (name: string, fields: Partial<ListedTemplate> = {}) =>
  ({
    ...{ id: name, connectionId: 'one', name, language: 'en', category: 'UTILITY', status: 'APPROVED', body: 'Olá' },
    ...fields,
  }) as ListedTemplate

test('templates are found by words of name and text, and filtered', () => {
  const all = [
    template('order_update', { language: 'pt_BR' }),
    template('order_update'),
    template('summer_sale', { category: 'MARKETING', status: 'PENDING', connectionId: 'two' }),
  ]
  const found = (filters: Partial<TemplateFilters>) =>
    filterTemplates(all, { ...noFilters, ...filters }).map(({ name, language }) => `${name} ${language}`)
  assert.deepEqual(found({}), ['order_update en', 'order_update pt_BR', 'summer_sale en'])
  assert.deepEqual(found({ term: 'update OLA' }), ['order_update en', 'order_update pt_BR'])
  assert.deepEqual(found({ language: 'pt_BR' }), ['order_update pt_BR'])
  assert.deepEqual(found({ category: 'MARKETING' }), ['summer_sale en'])
  assert.deepEqual(found({ status: 'PENDING', connectionId: 'two' }), ['summer_sale en'])
  assert.deepEqual(found({ status: 'PENDING', connectionId: 'one' }), [])
})

test('a send has the values that the template needs, and each is checked', () => {
  const url = { type: 'url' as const, text: 'Track', url: 'https://shop.example/{{1}}' }
  const code = { type: 'copy_code' as const, text: 'Copy', url: null }
  const inputs = { headerText: 'Order {{1}}', headerLocation: true, buttons: [url, code] }
  const empty = inputProblems({ inputs }, noInputs)
  assert.deepEqual(empty, { headerText: 'empty', latitude: 'empty', longitude: 'empty', buttons: ['empty', 'empty'] })
  const location = { latitude: '-8,05', longitude: '-34.9', name: ' Shop ', address: '' }
  const values = { headerText: ' A-17 ', location, buttons: ['A-17', 'SAVE10'] }
  assert.ok(!hasInputProblem(inputProblems({ inputs }, values)))
  assert.deepEqual(inputFields({ inputs }, values, 'Ana'), {
    header_param: 'A-17',
    header_location: { latitude: -8.05, longitude: -34.9, name: 'Shop' },
    button_params: ['A-17', 'SAVE10'],
  })
  const wrong = { ...values, location: { ...location, latitude: '91' }, buttons: ['A 17', 'x'.repeat(21)] }
  assert.deepEqual(inputProblems({ inputs }, wrong), {
    ...{ headerText: null, latitude: 'number', longitude: null },
    buttons: ['url', 'code'],
  })
  assert.deepEqual(inputFields({ inputs: null }, values, 'Ana'), {})
  assert.ok(!hasInputProblem(inputProblems({ inputs: null }, noInputs)))
})

test('the button of a one-time password takes the code of the text, which is short', () => {
  const otp = { type: 'otp' as const, text: 'Copy code', url: null }
  const template = { inputs: { headerText: null, headerLocation: false, buttons: [otp] } }
  assert.ok(!hasInputProblem(inputProblems(template, noInputs)))
  assert.deepEqual(inputFields(template, noInputs, '482913'), { button_params: ['482913'] })
  assert.deepEqual(
    ['482913', 'J$FpnYnP', '1'.repeat(15), '1'.repeat(16), '48👍', ''].map((code) => problemOf(code, template)),
    [null, null, null, 'otp', 'otp', 'empty'],
  )
})

test('the preview of a code has the fixed texts of the platform, in the language of the template', () => {
  const shown = (language: string, changes: object = {}) => shownCode({ language, otp: { ...emptyOtp, ...changes } })
  assert.deepEqual(shown('en_US'), {
    header: { type: 'none', text: '' },
    body: '*123456* is your verification code. For your security, do not share this code.',
    footer: 'This code expires in 10 minutes.',
    buttons: [{ type: 'copy_code', text: 'Copy code' }],
  })
  assert.equal(shown('pt_BR', { hasSecurityNote: false }).body, '*123456* é o seu código de verificação.')
  assert.equal(shown('es', { expiresInMinutes: null }).footer, '')
  assert.equal(shown('ja').footer, 'This code expires in 10 minutes.')
  const label = (changes: object) => shown('en', changes).buttons.map(({ text }) => text)
  assert.deepEqual(label({ buttonText: 'Take it' }), ['Take it'])
  assert.deepEqual(label({ type: 'one_tap', autofillText: 'Fill in' }), ['Fill in'])
  assert.deepEqual(label({ type: 'zero_tap' }), [])
})
