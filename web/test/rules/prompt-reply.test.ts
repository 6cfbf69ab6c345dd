import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type emptyForm, promptProblem, promptReply } from '../../src/inbox/prompt/prompt-reply.ts'

const judged: [field: keyof typeof emptyForm, typed: string, problem: string | null][] = [
  ['text', ' \n', 'empty'],
  ['text', ' Hi ', null],
  ['url', 'https://shop.example/1042', null],
  ['url', ' http://shop.example ', null],
  ['url', 'shop.example', 'url'],
  ['url', 'javascript:alert(1)', 'url'],
  ['url', 'https://localhost', 'url'],
  ['url', 'https://me:secret@shop.example', 'url'],
  ['flowId', '1042', null],
  ['flowId', 'my form', 'flowId'],
]

test('the form names what is wrong with each field', () => {
  for (const [field, typed, problem] of judged) assert.equal(promptProblem(field, typed), problem, `${field} ${typed}`)
})

test('a form becomes the message of its type, without fields of the other types', () => {
  const form = { text: ' Hi ', title: ' See ', url: ' https://shop.example ', flowId: ' 42 ' }
  assert.deepEqual(promptReply('link', form), {
    kind: 'link',
    link: { text: 'Hi', title: 'See', url: 'https://shop.example' },
  })
  assert.deepEqual(promptReply('location_request', form), {
    kind: 'location_request',
    location_request: { text: 'Hi' },
  })
  assert.deepEqual(promptReply('contact_request', form), { kind: 'contact_request', contact_request: { text: 'Hi' } })
  assert.deepEqual(promptReply('address_request', form), { kind: 'address_request', address_request: { text: 'Hi' } })
  assert.deepEqual(promptReply('flow', form), { kind: 'flow', flow: { text: 'Hi', title: 'See', flow_id: '42' } })
})
