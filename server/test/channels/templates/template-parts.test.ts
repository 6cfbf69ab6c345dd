import assert from 'node:assert/strict'
import { test } from 'node:test'
import { componentsOf, contentOf, hasSameTexts } from '../../../src/channels/templates/template-components.ts'
import { emptyContent, type TemplateContent } from '../../../src/channels/templates/template-content.ts'
import { inputsOf } from '../../../src/channels/templates/template-inputs.ts'

const whole: TemplateContent = {
  ...emptyContent,
  ...{ name: 'offer', language: 'pt_BR', category: 'MARKETING' },
  header: { type: 'text', text: 'Order {{1}}', sample: 'A-17' },
  body: 'Hi {{2}}, {{1}} is yours.',
  samples: [
    { name: '2', value: 'Ana' },
    { name: '1', value: 'a lamp' },
  ],
  footer: 'Shop Ltd.',
  buttons: [
    { type: 'quick_reply', text: 'Stop', value: '', sample: '' },
    { type: 'url', text: 'Track', value: 'https://shop.example/{{1}}', sample: 'A-17' },
    { type: 'phone', text: 'Call', value: '+5581991234567', sample: '' },
    { type: 'copy_code', text: '', value: 'SUMMER25', sample: '' },
  ],
}

test('a template is written in the structure of the platform, with samples in the order of their numbers', () => {
  assert.deepEqual(componentsOf(whole, null), [
    { type: 'HEADER', format: 'TEXT', text: 'Order {{1}}', example: { header_text: ['A-17'] } },
    { type: 'BODY', text: 'Hi {{2}}, {{1}} is yours.', example: { body_text: [['a lamp', 'Ana']] } },
    { type: 'FOOTER', text: 'Shop Ltd.' },
    {
      type: 'BUTTONS',
      buttons: [
        { type: 'QUICK_REPLY', text: 'Stop' },
        { type: 'URL', text: 'Track', url: 'https://shop.example/{{1}}', example: ['https://shop.example/A-17'] },
        { type: 'PHONE_NUMBER', text: 'Call', phone_number: '+5581991234567' },
        { type: 'COPY_CODE', example: 'SUMMER25' },
      ],
    },
  ])
})

test('named variables carry their names, and the file of a header its handle', () => {
  const content: TemplateContent = {
    ...emptyContent,
    format: 'named',
    header: { type: 'image', text: '', sample: '' },
    body: 'Hi {{first_name}}, welcome.',
    samples: [{ name: 'first_name', value: 'Ana' }],
  }
  const example = { body_text_named_params: [{ param_name: 'first_name', example: 'Ana' }] }
  assert.deepEqual(componentsOf(content, '4:handle'), [
    { type: 'HEADER', format: 'IMAGE', example: { header_handle: ['4:handle'] } },
    { type: 'BODY', text: 'Hi {{first_name}}, welcome.', example },
  ])
})

test('what the platform lists is read back as it was written', () => {
  for (const content of [
    whole,
    { ...emptyContent, ...whole, header: { type: 'location' as const, text: '', sample: '' } },
  ]) {
    const { name, language, category } = content
    const listed = { name, language: 'pt-BR', category, components: componentsOf(content, null) }
    assert.deepEqual(contentOf(listed), { ...content, language })
  }
})

test('parts that cannot be written here are not lost by an edit: the template is not read', () => {
  const listed = (component: object, category = 'MARKETING') =>
    contentOf({ ...whole, category, components: [component] })
  assert.equal(listed({ type: 'CAROUSEL' }), null)
  assert.equal(listed({ type: 'BUTTONS', buttons: [{ type: 'FLOW', text: 'Fill in' }] }), null)
  assert.equal(listed({ type: 'HEADER', format: 'GIF' }), null)
  assert.equal(listed({ type: 'BODY', text: 'x' }, 'AUTHENTICATION'), null)
  assert.notEqual(listed({ type: 'BODY', text: 'x' }), null)
})

test('texts decide whether two templates are the same, not samples', () => {
  assert.ok(hasSameTexts(whole, { ...whole, samples: [], header: { ...whole.header, sample: '' } }))
  assert.ok(!hasSameTexts(whole, { ...whole, body: `${whole.body}.` }))
  assert.ok(!hasSameTexts(whole, { ...whole, buttons: whole.buttons.slice(1) }))
})

const needs: [components: object[], inputs: object | null][] = [
  [[{ type: 'BODY', text: 'Hi {{1}}' }], {}],
  [[{ type: 'HEADER', text: 'Order {{1}}' }], { headerText: { text: 'Order {{1}}', name: null } }],
  [
    [{ type: 'HEADER', format: 'TEXT', text: 'Order {{order_id}}' }],
    { headerText: { text: 'Order {{1}}', name: 'order_id' } },
  ],
  [[{ type: 'HEADER', format: 'LOCATION' }], { headerLocation: true }],
  [[{ type: 'HEADER', format: 'IMAGE' }], {}],
  [[{ type: 'HEADER', format: 'PRODUCT' }], null],
  [
    [
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'QUICK_REPLY', text: 'Stop' },
          { type: 'URL', text: 'Track', url: 'https://shop.example/{{1}}' },
          { type: 'URL', text: 'Shop', url: 'https://shop.example' },
          { type: 'COPY_CODE', text: 'Copy offer code' },
        ],
      },
    ],
    {
      buttons: [
        { index: 1, type: 'url', text: 'Track', url: 'https://shop.example/{{1}}' },
        { index: 3, type: 'copy_code', text: 'Copy offer code', url: null },
      ],
    },
  ],
  [[{ type: 'BUTTONS', buttons: [{ type: 'FLOW', text: 'Fill in' }] }], null],
  [[{ type: 'LIMITED_TIME_OFFER' }], null],
]

test('what a send must provide is read from the components; null if it cannot', () => {
  for (const [components, inputs] of needs) {
    assert.deepEqual(inputsOf(components as never), inputs, JSON.stringify(components))
  }
})
