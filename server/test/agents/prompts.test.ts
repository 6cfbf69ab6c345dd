import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentsWorld } from '../support/agents/agents-world.ts'
import { marina } from '../support/inbox/inbox-world.ts'
import { signedInMember } from '../support/member.ts'

const link = { text: 'Your order:', title: 'Follow it', url: 'https://shop.example/1042', footer: 'Any time' }
const flow = { text: 'When?', title: 'Book', flow_id: '42', screen: 'DATES', data: { city: 'Recife' } }
const ask = { text: 'Where to?' }
// The platform asks for addresses only in India.
const asha = { ...marina, phone: '919876543210', name: 'Asha Rao' }

const sent: [field: string, content: object, prompt: object, shown: object][] = [
  [
    'link',
    link,
    { type: 'link', title: 'Follow it', url: link.url, footer: 'Any time' },
    { type: 'link', title: 'Follow it', url: link.url, footer: 'Any time' },
  ],
  ['location_request', ask, { type: 'location_request' }, { type: 'location_request' }],
  ['contact_request', ask, { type: 'contact_request' }, { type: 'contact_request' }],
  ['address_request', ask, { type: 'address_request' }, { type: 'address_request' }],
  [
    'flow',
    flow,
    { type: 'flow', title: 'Book', flowId: '42', screen: 'DATES', data: { city: 'Recife' } },
    { type: 'flow', title: 'Book', flow_id: '42' },
  ],
]

for (const [field, content, prompt, shown] of sent) {
  test(`an agent sends a ${field}, which the timeline shows, and the reply of the customer is linked to it`, async () => {
    const w = await agentsWorld()
    const { id: conversation_id } = await w.customerWrites('Hello', { customer: asha })
    const { status, body } = await w.callTool('answer', { conversation_id, [field]: content })
    assert.deepEqual([status, body.was_new], [200, true], JSON.stringify(body))
    const again = await w.callTool('answer', { conversation_id, [field]: content })
    assert.deepEqual([again.body.was_new, w.sent().length], [false, 1])
    const { text } = content as { text: string }
    assert.deepEqual(w.sent()[0]?.order.message, { kind: 'prompt', text, prompt })
    w.clock.advance(1000)
    await w.customerWrites('Here', {
      customer: asha,
      detail: { quoted: { externalId: `wamid.${body.message_id}:1`, text: null } },
    })
    const { body: read } = await w.callTool('read_conversation', { conversation_id })
    const [ours, theirs] = read.messages.slice(-2)
    assert.deepEqual([ours.text, ours.prompt, theirs.answers_message_id], [text, shown, body.message_id])
    const member = await signedInMember(w)
    const { body: timeline } = await member.call('GET', `/inbox/conversations/${conversation_id}/timeline`)
    const messages = timeline.items.flatMap(({ message }: { message?: object }) => message ?? [])
    assert.deepEqual(
      messages.slice(-2).map((one: { prompt: object | null }) => one.prompt),
      [shown, null],
    )
    assert.equal(messages.at(-1).quoted.messageId, body.message_id)
  })
}

const refused: [what: string, content: object, status: number, field: string][] = [
  ['an address of another scheme', { link: { ...link, url: 'ftp://shop.example' } }, 422, 'link.url'],
  ['a link without a title', { link: { text: 'Hi', url: link.url } }, 400, 'link.title'],
  ['a long title', { link: { ...link, title: 'x'.repeat(21) } }, 400, 'link.title'],
  ['a blank request', { location_request: { text: ' ' } }, 422, 'location_request.text'],
  ['a footer of a request', { contact_request: { ...ask, footer: 'Bye' } }, 400, 'contact_request.footer'],
  ['an id that is not a number', { flow: { ...flow, flow_id: 'my form' } }, 400, 'flow.flow_id'],
  ['no data', { flow: { ...flow, data: {} } }, 400, 'flow.data'],
  ['two kinds', { link, location_request: ask }, 400, 'text'],
  [
    'an address of a customer in Brazil',
    { address_request: ask },
    422,
    'address_request works only between numbers in India',
  ],
]

test('invalid prompts are rejected before the send, naming the field', async () => {
  const w = await agentsWorld()
  const { id: conversation_id } = await w.customerWrites('Hello')
  for (const [what, content, status, field] of refused) {
    const { status: got, body } = await w.callTool('answer', { conversation_id, ...content })
    assert.equal(got, status, `${what}: ${JSON.stringify(body)}`)
    const named = status === 400 ? body.issues[0].path : body.detail
    assert.ok(named.startsWith(field), `${what}: ${JSON.stringify(body)}`)
  }
  w.clock.advance(25 * 3_600_000)
  const late = await w.callTool('answer', { conversation_id, link })
  assert.deepEqual([late.status, late.body.code], [422, 'WINDOW_CLOSED'])
  assert.equal(w.sent().length, 0)
})

test('members send prompts; API v1 accepts none', async () => {
  const w = await agentsWorld({ answersNewConversations: false })
  const { id } = await w.customerWrites('Hello')
  const member = await signedInMember(w)
  const body = { kind: 'location_request', location_request: ask }
  const by = { 'idempotency-key': 'one' }
  const { status } = await member.call('POST', `/inbox/conversations/${id}/messages`, body, by)
  assert.equal(status, 202)
  assert.deepEqual(w.sent()[0]?.order.message, { kind: 'prompt', text: 'Where to?', prompt: { type: body.kind } })
  const path = `/api/v1/inbox/conversations/${id}/messages`
  const contract = await w.call('POST', path, { key: w.agent.value, body, headers: by })
  assert.equal(contract.status, 400)
})
