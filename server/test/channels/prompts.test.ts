import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canAskForAddress, findPromptProblem, type Prompt, promptMessage } from '../../src/channels/prompts.ts'

const link = (more: object = {}): Prompt => ({ type: 'link', title: 'See', url: 'https://shop.example/a?b=1', ...more })
const flow = (more: object = {}): Prompt => ({ type: 'flow', flowId: '42', title: 'Book', ...more })

const judged: [what: string, text: string, prompt: Prompt, field: string | null][] = [
  ['a link that fits in everything', 'x'.repeat(1024), link({ title: 'x'.repeat(20), footer: 'y'.repeat(60) }), null],
  ['an http address', 'Hi', link({ url: 'http://shop.example' }), null],
  ['a blank text', ' \n', link(), 'link.text'],
  ['1,025 characters', 'x'.repeat(1025), { type: 'location_request' }, 'location_request.text'],
  ['a blank text of a contact request', '\u2003', { type: 'contact_request' }, 'contact_request.text'],
  ['a title of 11 emoji, which are 22 units', 'Hi', link({ title: '😀'.repeat(11) }), 'link.title'],
  ['a title of two lines', 'Hi', link({ title: 'a\nb' }), 'link.title'],
  ['a blank footer', 'Hi', link({ footer: ' ' }), 'link.footer'],
  ...[
    'javascript:alert(1)',
    'ftp://shop.example',
    'shop.example',
    'https://',
    'https:///path',
    'https://localhost',
    'https://user:secret@shop.example',
    'https://shop.example/a b',
    `https://shop.example/${'x'.repeat(2000)}`,
  ].map((url): [string, string, Prompt, string] => [
    `the address ${url.slice(0, 40)}`,
    'Hi',
    link({ url }),
    'link.url',
  ]),
  ['a form', 'Hi', flow({ screen: 'DATES', data: { city: 'Recife' } }), null],
  ['a form whose button has an emoji', 'Hi', flow({ title: 'Book 📅' }), 'flow.title'],
  ['data without a screen', 'Hi', flow({ data: { city: 'Recife' } }), 'flow.data'],
]
for (const [what, text, prompt, field] of judged) {
  test(`a prompt with ${what} ${field === null ? 'is valid' : `is rejected, naming ${field}`}`, () => {
    const problem = findPromptProblem(text, prompt)
    if (field === null) assert.equal(problem, null)
    else assert.ok(problem?.startsWith(`${field} `), String(problem))
  })
}

test('only customers in India can be asked for an address, and those who hide their number', () => {
  const phones = ['919876543210', null, '5581991234567', '447700900123']
  assert.deepEqual(phones.map(canAskForAddress), [true, true, false, false])
})

test('prompts have the format of the platform', () => {
  const body = { text: 'Hi' }
  assert.deepEqual(promptMessage('Hi', link({ footer: 'Bye' }), 'one'), {
    type: 'cta_url',
    body,
    footer: { text: 'Bye' },
    action: { name: 'cta_url', parameters: { display_text: 'See', url: 'https://shop.example/a?b=1' } },
  })
  assert.deepEqual(promptMessage('Hi', { type: 'location_request' }, 'one'), {
    type: 'location_request_message',
    body,
    action: { name: 'send_location' },
  })
  assert.deepEqual(promptMessage('Hi', { type: 'contact_request' }, 'one'), {
    type: 'request_contact_info',
    body,
    action: { name: 'request_contact_info' },
  })
  assert.deepEqual(promptMessage('Hi', { type: 'address_request' }, 'one'), {
    type: 'address_message',
    body,
    action: { name: 'address_message', parameters: { country: 'IN' } },
  })
  const form = { flow_message_version: '3', flow_token: 'one', flow_id: '42', flow_cta: 'Book' }
  assert.deepEqual(promptMessage('Hi', flow(), 'one'), {
    type: 'flow',
    body,
    action: { name: 'flow', parameters: form },
  })
  const opened = { flow_action: 'navigate', flow_action_payload: { screen: 'DATES', data: { city: 'Recife' } } }
  assert.partialDeepStrictEqual(promptMessage('Hi', flow({ screen: 'DATES', data: { city: 'Recife' } }), 'one'), {
    action: { parameters: { ...form, ...opened } },
  })
})
