import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyContent, emptyOtp, type TemplateContent } from '../../../src/channels/templates/template-content.ts'
import {
  type EditedTemplate,
  findEditProblem,
  findTemplateProblems,
} from '../../../src/channels/templates/template-rules.ts'

const valid: TemplateContent = {
  ...emptyContent,
  name: 'order_update',
  body: 'Hi {{1}}, your order {{2}} ships today.',
  samples: [
    { name: '1', value: 'Ana' },
    { name: '2', value: 'A-17' },
  ],
}
const withBody = (body: string, ...samples: string[]): Partial<TemplateContent> => ({
  body,
  samples: samples.map((value, n) => ({ name: `${n + 1}`, value })),
})
const named = (body: string, name: string): Partial<TemplateContent> => ({
  ...{ format: 'named', body, samples: [{ name, value: 'Ana' }] },
})
const header = (text: string, sample = ''): Partial<TemplateContent> => ({ header: { type: 'text', text, sample } })
const button = (fields: object) => ({ type: 'quick_reply' as const, text: 'Yes', value: '', sample: '', ...fields })
const buttons = (...all: object[]): Partial<TemplateContent> => ({
  buttons: all.map((fields, n) => button({ text: `Yes ${n}`, ...fields })),
})
const url = (value: string, sample = '') => ({ type: 'url', value, sample })
const app = { packageName: 'com.example.shop', signatureHash: 'K8a/AINcGX7' }
const code = (changes: Partial<typeof emptyOtp>): Partial<TemplateContent> => ({
  ...{ category: 'AUTHENTICATION', otp: { ...emptyOtp, ...changes } },
})
const longest = (n: number) => 'x'.repeat(n)
const nineWords = 'one two three four five six seven eight nine'

/** What is wrong with a template that differs from a valid one in these fields: path and beginning of the message. */
const table: [changes: Partial<TemplateContent>, ...problems: string[]][] = [
  [{}],
  [{ name: longest(512) }],
  [{ name: '' }, 'name is required'],
  [{ name: longest(513) }, 'name must have at most 512 characters'],
  [{ name: 'Order-Update' }, 'name must have only lowercase letters'],
  [{ language: 'en' }],
  [{ language: 'english' }, 'language must be a language code'],

  [{ body: '', samples: [] }, 'body is required'],
  [withBody(longest(1024))],
  [withBody(longest(1025)), 'body must have at most 1024 characters'],
  // An emoji is one character.
  [withBody(`${'👍'.repeat(1023)}x`)],
  [withBody('{{1}} is here today', 'Ana'), 'body must not begin or end with a variable'],
  [withBody('Your order is {{1}}', 'A-17'), 'body must not begin or end with a variable'],
  [withBody('Your order is {{1}}.', 'A-17'), '~body should not have only punctuation'],
  [withBody(`${nineWords} {{1}} {{2}} today`, 'a', 'b'), 'body must have text between variables'],
  [withBody(`${nineWords} {{1}}{{2}} today`, 'a', 'b'), 'body must have text between variables'],
  [withBody('Hi {{1}} there', 'Ana'), '~body has few words for its variables'],
  [withBody(`${nineWords} {{1}} and {{3}} today`, 'a', 'b', 'c'), 'body must number its variables'],
  [withBody(`${nineWords} {{0}} today`, 'a'), 'body must number its variables'],
  // The order of appearance is free, and a variable may repeat.
  [withBody(`${nineWords} {{2}} and {{1}} and {{1}} today`, 'a', 'b')],
  [withBody(`${nineWords} {{name}} today`, 'a'), 'body must number its variables'],
  [withBody(`${nineWords} {1}} today`, 'a'), 'body must have two braces'],
  [withBody(`${nineWords} {{1}} today`), 'samples.1 needs a sample value for {{1}}'],
  [withBody(`${nineWords} {{1}} today`, 'a\nb'), 'samples.1 must not contain a line break'],
  [named(`${nineWords} {{first_name}} today`, 'first_name')],
  [named(`${nineWords} {{First}} today`, 'First'), 'body must name its variables'],
  [named(`${nineWords} {{1}} today`, '1'), 'body must name its variables'],

  [header(longest(60))],
  [header(longest(61)), 'header.text must have at most 60 characters'],
  [header(''), 'header.text is required'],
  [header('Order {{1}}', 'A-17')],
  [header('Order {{1}}'), 'header.sample needs a sample value'],
  [header('Order {{1}} of {{2}}', 'A-17'), 'header.text may contain one variable'],
  [header('*Order*'), 'header.text must not contain line breaks, emojis'],
  [header('Order 🎉'), 'header.text must not contain line breaks, emojis'],
  [{ header: { type: 'location', text: '', sample: '' } }],
  [{ header: { type: 'image', text: '', sample: '' } }, 'header.file needs a sample file'],

  [{ footer: longest(60) }],
  [{ footer: longest(61) }, 'footer must have at most 60 characters'],
  [{ footer: 'Order {{1}}' }, 'footer must not contain a variable'],
  [{ footer: 'Two\nlines' }, 'footer must not contain a line break'],

  [buttons(...Array.from({ length: 10 }, () => ({})))],
  [
    buttons(...Array.from({ length: 11 }, () => ({}))),
    'buttons must have at most 10 buttons',
    'buttons must have at most 10 of the kind quick_reply',
  ],
  [buttons({ text: longest(25) })],
  [buttons({ text: longest(26) }), 'buttons[0].text must have at most 25 characters'],
  [buttons({ text: '' }), 'buttons[0].text is required'],
  [buttons({ text: 'Order {{1}}' }), 'buttons[0].text must not contain a variable'],
  [buttons({ text: 'Yes 👍' }), 'buttons[0].text must not contain line breaks, emojis'],
  [buttons({ text: 'Yes' }, { text: 'Yes ' }), 'buttons[1].text must differ'],
  [buttons(url('https://shop.example/'), {}, {})],
  [buttons({}, {}, url('https://shop.example/'))],
  [buttons({}, url('https://shop.example/'), {}), 'buttons must have its quick replies together'],
  [buttons(...[1, 2, 3].map((n) => url(`https://shop.example/${n}`))), 'buttons must have at most 2 of the kind url'],
  [buttons(url('https://shop.example/{{1}}', 'A-17'))],
  [buttons(url('https://shop.example/{{1}}')), 'buttons[0].sample needs a sample value'],
  [buttons(url('https://shop.example/{{1}}/x', 'a')), 'buttons[0].value may have one variable'],
  [buttons(url('https://shop.example/{{1}}{{2}}', 'a')), 'buttons[0].value may have one variable'],
  [buttons(url('https://{{1}}', 'a')), 'buttons[0].value must be an http or https URL'],
  [buttons(url('ftp://shop.example')), 'buttons[0].value must be an http or https URL'],
  [buttons(url('https://shop.example/a b')), 'buttons[0].value must be an http or https URL'],
  [buttons(url(`https://shop.example/${longest(1979)}`))],
  [buttons(url(`https://shop.example/${longest(1980)}`)), 'buttons[0].value must have at most 2000 characters'],
  [buttons({ type: 'phone', value: '+55 81 99123-4567' })],
  [buttons({ type: 'phone', value: '12' }), 'buttons[0].value must be a phone number'],
  [buttons({ type: 'phone', value: '+55 (81) 9 9123 - 4567' }), 'buttons[0].value must have at most 20 characters'],
  [
    buttons({ type: 'phone', value: '+5581991234567' }, { type: 'phone', value: '+5581991234568' }),
    'buttons must have at most 1 of the kind phone',
  ],
  [{ category: 'MARKETING', ...buttons({ type: 'copy_code', text: '', value: 'SUMMER25' }) }],
  [buttons({ type: 'copy_code', value: 'SUMMER25' }), 'buttons[0].value is only for marketing templates'],
  [
    { category: 'MARKETING', ...buttons({ type: 'copy_code', value: longest(16) }) },
    'buttons[0].value must have at most 15 characters',
  ],
  [
    { category: 'MARKETING', ...buttons({ type: 'copy_code', value: 'SAVE 10' }) },
    'buttons[0].value must have only letters and digits',
  ],

  [code({})],
  // The platform writes the texts.
  [{ ...code({}), body: '', samples: [], footer: longest(61) }],
  [code({ expiresInMinutes: null })],
  [code({ expiresInMinutes: 90, buttonText: longest(25) })],
  [code({ expiresInMinutes: 0 }), 'otp.expiresInMinutes must be from 1 to 90'],
  [code({ expiresInMinutes: 91 }), 'otp.expiresInMinutes must be from 1 to 90'],
  [code({ buttonText: longest(26) }), 'otp.buttonText must have at most 25 characters'],
  [code({ buttonText: 'Copy 👍' }), 'otp.buttonText must not contain line breaks, emojis'],
  [code({ buttonText: 'Copy {{1}}' }), 'otp.buttonText must not contain line breaks, emojis'],
  [code({ type: 'one_tap', apps: [app] })],
  [code({ type: 'one_tap' }), 'otp.apps needs at least one app'],
  [code({ type: 'one_tap', apps: Array(6).fill(app) }), 'otp.apps must have at most 5 items'],
  [code({ type: 'one_tap', apps: [app], autofillText: longest(26) }), 'otp.autofillText must have at most 25'],
  ...['shop', 'com.1shop', 'com.shop-a', `com.${longest(221)}`].map(
    (packageName): [Partial<TemplateContent>, string] => [
      code({ type: 'one_tap', apps: [{ ...app, packageName }] }),
      'otp.apps[0].packageName must be the name of an Android package',
    ],
  ),
  ...['K8a/AINcGX', 'K8a/AINcGX77', 'K8a_AINcGX7'].map((signatureHash): [Partial<TemplateContent>, string] => [
    code({ type: 'one_tap', apps: [{ ...app, signatureHash }] }),
    'otp.apps[0].signatureHash must have the 11 letters',
  ]),
  [code({ type: 'zero_tap', apps: [app], acceptsTerms: true })],
  [code({ type: 'zero_tap', apps: [app] }), 'otp.acceptsTerms must be accepted'],
]

test('a template is refused for what the platform refuses, at its field', () => {
  for (const [changes, ...expected] of table) {
    const found = findTemplateProblems({ ...valid, ...changes }, false)
    const shown = found.map(({ path, message, isWarning }) => `${isWarning ? '~' : ''}${path} ${message}`)
    const label = JSON.stringify(changes).slice(0, 120)
    assert.equal(shown.length, expected.length, `${label}: ${shown.join('; ')}`)
    for (const [n, problem] of expected.entries()) assert.ok(shown[n]?.startsWith(problem), `${label}: ${shown[n]}`)
  }
})

test('a header with a file needs an uploaded sample', () => {
  const content = { ...valid, header: { type: 'video' as const, text: '', sample: '' } }
  assert.deepEqual(findTemplateProblems(content, true), [])
})

const now = new Date('2026-03-31T12:00:00.000Z')
const hoursAgo = (hours: number) => new Date(now.getTime() - hours * 3_600_000)
const template = (fields: Partial<EditedTemplate>): EditedTemplate => ({
  ...{ name: 'order_update', language: 'en_US', category: 'UTILITY', status: 'APPROVED', editedAt: [] },
  ...fields,
})
const tenEdits = Array.from({ length: 10 }, (_, n) => hoursAgo(25 + n * 24))

const edits: [one: Partial<EditedTemplate>, changes: Partial<TemplateContent> | null, problem: string | null][] = [
  [{}, null, null],
  [{ status: 'PENDING' }, null, 'status'],
  [{ status: 'DISABLED' }, null, 'status'],
  [{ editedAt: [hoursAgo(23)] }, null, 'daily'],
  [{ editedAt: [hoursAgo(24)] }, null, null],
  [{ editedAt: tenEdits.slice(1) }, null, null],
  [{ editedAt: tenEdits }, null, 'monthly'],
  [{ editedAt: [...tenEdits.slice(1), hoursAgo(31 * 24)] }, null, null],
  // Rejected and paused templates can be edited as often as needed.
  [{ status: 'REJECTED', editedAt: [hoursAgo(1), ...tenEdits] }, null, null],
  [{ status: 'PAUSED', editedAt: [hoursAgo(1)] }, null, null],
  [{}, {}, null],
  [{}, { name: 'other' }, 'name'],
  [{}, { language: 'pt_BR' }, 'language'],
  [{}, { category: 'MARKETING' }, 'category'],
  [{ status: 'REJECTED' }, { category: 'MARKETING' }, null],
]

test('an edit is refused by status, by earlier edits, and for what cannot change', () => {
  for (const [one, changes, expected] of edits) {
    const content = changes === null ? null : { ...valid, ...changes }
    assert.equal(findEditProblem(template(one), content, now), expected, JSON.stringify([one, changes]))
  }
})
