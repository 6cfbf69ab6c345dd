import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fillBody, normalizeLanguage, parseBody } from '../../../src/channels/templates/templates.ts'
import { parseTemplate } from '../../../src/channels/waba/templates.ts'

const bodies: [text: string, isNamed: boolean, body: string, names: string[] | null, count: number][] = [
  ['No variables.', false, 'No variables.', null, 0],
  ['Hi {{1}}, {{2}}!', false, 'Hi {{1}}, {{2}}!', null, 2],
  ['{{2}} before {{1}}', false, '{{2}} before {{1}}', null, 2],
  ['{{1}} and {{1}}', false, '{{1}} and {{1}}', null, 1],
  ['{{ 1 }}{{2 }}', false, '{{1}}{{2}}', null, 2],
  ['{{3}} of {{7}}', false, '{{1}} of {{2}}', null, 2],
  ['Hi {{first_name}}, {{order_id}}', true, 'Hi {{1}}, {{2}}', ['first_name', 'order_id'], 2],
  ['{{b}} {{a}} {{ b }}', true, '{{1}} {{2}} {{1}}', ['b', 'a'], 2],
  ['named all the same {{a}}', false, 'named all the same {{1}}', ['a'], 1],
  ['{{first name}} {{}} {x}', true, '{{first name}} {{}} {x}', null, 0],
]

test('placeholders of a body are numbered and their names kept', () => {
  for (const [text, isNamed, body, parameterNames, parameterCount] of bodies) {
    assert.deepEqual(parseBody(text, isNamed), { body, parameterNames, parameterCount }, text)
  }
})

test('values are inserted once and never treated as placeholders', () => {
  assert.equal(fillBody('Hi {{1}}, {{2}} {{1}}', ['{{2}}', '$1 $&']), 'Hi {{2}}, $1 $& {{2}}')
})

test('languages are normalized to an underscore', () => {
  assert.deepEqual(['en-US', 'pt_BR', 'en'].map(normalizeLanguage), ['en_US', 'pt_BR', 'en'])
})

const body = { type: 'BODY', text: 'Hi {{1}}' }
const header = (format: string, text?: string) => ({ type: 'HEADER', format, ...(text !== undefined && { text }) })
const buttons = (...all: object[]) => ({ type: 'BUTTONS', buttons: all })
const url = (path: string) => ({ type: 'URL', url: `https://x.example/${path}` })
const plain = buttons({ type: 'QUICK_REPLY' }, { type: 'PHONE_NUMBER' }, url(''))
const sendable: [what: string, parts: unknown, more: object, expected: boolean][] = [
  ['a body alone', [body], {}, true],
  ['a plain header and a footer', [header('TEXT', 'Shop'), body, { type: 'FOOTER', text: 'x' }], {}, true],
  ['lower-case types', [{ type: 'body', text: 'Hi' }], {}, true],
  ['plain buttons', [body, plain], {}, true],
  ['a header with a variable', [header('TEXT', 'Order {{1}}'), body], {}, false],
  ['a header with an image', [header('IMAGE'), body], {}, false],
  ['a header with a place', [header('LOCATION'), body], {}, false],
  ['a button with a variable', [body, buttons(url('{{1}}'))], {}, false],
  ['a code to copy', [body, buttons({ type: 'COPY_CODE' })], {}, false],
  ['a one-time code', [body, buttons({ type: 'OTP' })], {}, false],
  ['a form', [body, buttons({ type: 'FLOW' })], {}, false],
  ['a carousel', [body, { type: 'CAROUSEL', cards: [] }], {}, false],
  ['no body', [{ type: 'FOOTER', text: 'x' }], {}, false],
  ['no components', undefined, {}, false],
  ['the category of codes', [body], { category: 'AUTHENTICATION' }, false],
]

test('a template needs body parameters only, or more', () => {
  const told = { name: 'a', language: 'en-US', status: 'approved', category: 'UTILITY' }
  for (const [what, components, more, expected] of sendable) {
    const { bodyOnly, status, language } = parseTemplate({ ...told, components, ...more }) ?? {}
    assert.deepEqual([bodyOnly, status, language], [expected, 'APPROVED', 'en_US'], what)
  }
})

test('a template with a file header needs a file', () => {
  const told = { name: 'a', language: 'en', status: 'APPROVED', category: 'UTILITY' }
  for (const [components, expected] of [
    [[header('IMAGE'), body], 'image'],
    [[header('VIDEO'), body, buttons({ type: 'QUICK_REPLY' })], 'video'],
    [[header('DOCUMENT'), body], 'document'],
    [[header('LOCATION'), body], null],
    [[header('IMAGE'), body, buttons({ type: 'COPY_CODE' })], 'image'],
    // It needs more than a send can provide.
    [[header('IMAGE'), body, buttons({ type: 'FLOW' })], null],
    [[header('TEXT', 'x'), body], null],
  ] as const) {
    assert.equal(parseTemplate({ ...told, components })?.header, expected)
  }
})

test('invalid templates are skipped', () => {
  assert.equal(parseTemplate({ name: 'a', language: 'en' }), null)
  fc.assert(fc.property(fc.jsonValue(), (value) => parseTemplate(value) === null))
})

test('a template for authentication can be sent before the platform has listed its text', () => {
  const listed = { name: 'login', language: 'en', status: 'APPROVED' }
  const button = { type: 'OTP', otp_type: 'COPY_CODE' }
  const components = [
    { type: 'BODY', add_security_recommendation: true },
    { type: 'BUTTONS', buttons: [button] },
  ]
  const { parameterCount, inputs } = parseTemplate({ ...listed, category: 'AUTHENTICATION', components }) ?? {}
  assert.deepEqual([parameterCount, inputs?.buttons?.map(({ type }) => type)], [1, ['otp']])
})
