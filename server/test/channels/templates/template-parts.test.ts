import assert from 'node:assert/strict'
import { test } from 'node:test'
import { componentsOf, contentOf, hasSameTexts } from '../../../src/channels/templates/template-components.ts'
import { emptyContent, emptyOtp, type TemplateContent } from '../../../src/channels/templates/template-content.ts'
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

const codes: TemplateContent = {
  ...emptyContent,
  ...{ name: 'code', language: 'en_US', category: 'AUTHENTICATION' },
  otp: {
    ...emptyOtp,
    ...{ type: 'zero_tap', autofillText: 'Fill in', acceptsTerms: true },
    apps: [{ packageName: 'com.example.shop', signatureHash: 'K8a/AINcGX7' }],
  },
}

test('a template for authentication has flags for the texts of the platform, and one button', () => {
  const button = (otp: object) => componentsOf({ ...codes, otp: { ...emptyOtp, ...otp } }, null).at(-1)?.buttons
  assert.deepEqual(componentsOf(codes, null), [
    { type: 'BODY', add_security_recommendation: true },
    { type: 'FOOTER', code_expiration_minutes: 10 },
    {
      type: 'BUTTONS',
      buttons: [
        {
          ...{ type: 'OTP', otp_type: 'ZERO_TAP', autofill_text: 'Fill in', zero_tap_terms_accepted: true },
          supported_apps: [{ package_name: 'com.example.shop', signature_hash: 'K8a/AINcGX7' }],
        },
      ],
    },
  ])
  assert.deepEqual(button({ autofillText: 'x' }), [{ type: 'OTP', otp_type: 'COPY_CODE' }])
  assert.deepEqual(button({ buttonText: ' Copy ' }), [{ type: 'OTP', otp_type: 'COPY_CODE', text: 'Copy' }])
  assert.equal(componentsOf({ ...codes, otp: { ...emptyOtp, expiresInMinutes: null } }, null).length, 2)
})

test('a template for authentication is read as it was submitted, and as the platform lists it', () => {
  const { name, language, category } = codes
  const read = (components: object[]) => contentOf({ name, language, category, components })
  assert.deepEqual(read(componentsOf(codes, null)), codes)
  const link = (query: string) => `https://www.whatsapp.com/otp/code/?otp_type=${query}&code=otp{{1}}`
  const listed = (url: string) => [
    { type: 'BODY', text: '*{{1}}* is your verification code.', add_security_recommendation: false },
    { type: 'FOOTER', text: 'This code expires in 5 minutes.', code_expiration_minutes: 5 },
    { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'Copy code', url }] },
  ]
  const copied = read(listed(link('COPY_CODE&code_expiration_minutes=5')))
  assert.deepEqual(
    [copied?.body, copied?.footer, copied?.otp],
    [
      ...['*{{1}}* is your verification code.', 'This code expires in 5 minutes.'],
      { ...emptyOtp, hasSecurityNote: false, expiresInMinutes: 5, buttonText: 'Copy code' },
    ],
  )
  const app = 'cta_display_name=Fill+in&package_name=com.example.shop&signature_hash=K8a%2FAINcGX7'
  const tapped = read(listed(link(`ZERO_TAP&${app}`)))?.otp
  assert.deepEqual([tapped?.type, tapped?.autofillText, tapped?.apps], ['zero_tap', 'Fill in', codes.otp?.apps])
  assert.equal(read([...listed('https://shop.example/{{1}}')]), null)
  assert.equal(read(listed(link('COPY_CODE')).slice(0, 2)), null)
  assert.ok(copied !== null && hasSameTexts(copied, { ...copied, body: '', footer: '' }))
  assert.ok(copied !== null && !hasSameTexts(copied, codes))
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

const codeButton = (type: string) => {
  const url = 'https://www.whatsapp.com/otp/code/?otp_type=COPY_CODE&code=otp{{1}}'
  return { type: 'BUTTONS', buttons: [{ type, text: 'Copy code', ...(type === 'URL' && { url }) }] }
}
const otpInput = { index: 0, type: 'otp', text: 'Copy code', url: null }

const needs: [components: object[], inputs: object | null, isAuthentication?: boolean][] = [
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
  // Only templates for authentication have codes.
  [[codeButton('URL')], null],
  [[{ type: 'BODY', text: '*{{1}}* is your code.' }, codeButton('URL')], { buttons: [otpInput] }, true],
  [[codeButton('OTP')], { buttons: [otpInput] }, true],
  [[{ type: 'BODY', text: '*{{1}}* is your code.' }], null, true],
]

test('what a send must provide is read from the components; null if it cannot', () => {
  for (const [components, inputs, isAuthentication] of needs) {
    assert.deepEqual(inputsOf(components as never, isAuthentication), inputs, JSON.stringify(components))
  }
})
