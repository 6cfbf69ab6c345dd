import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentsWorld } from '../support/agents/agents-world.ts'
import { customerMessage, marina } from '../support/inbox/inbox-world.ts'
import { signedInMember } from '../support/member.ts'
import { pick } from '../support/pick.ts'

test('an agent lists its own conversations by default, others on request', async () => {
  const w = await agentsWorld()
  const { id } = await w.customerWrites('Where is my order?')
  const { body } = await w.callTool('list_conversations', { waiting: true })
  assert.equal(body.conversations.length, 1)
  const [one] = body.conversations
  assert.deepEqual(
    [one.id, one.owner, one.last_message],
    [id, 'you', { kind: 'text', customer_text: 'Where is my order?' }],
  )
  await w.takeOver(id)
  assert.equal((await w.callTool('list_conversations')).body.conversations.length, 0)
  const { body: ofPeople } = await w.callTool('list_conversations', { owner: 'people' })
  assert.deepEqual([ofPeople.conversations[0].owner, ofPeople.conversations[0].may_take], ['people', false])
})

test('read_conversation returns messages, notes, owner with reason, and next steps', async () => {
  const w = await agentsWorld()
  const { id } = await w.customerWrites('I want my money back')
  const colleague = await signedInMember(w)
  const note = { text: 'She is a regular.' }
  await colleague.call('POST', `/inbox/conversations/${id}/notes`, note, { 'idempotency-key': 'n' })
  const mine = await w.callTool('read_conversation', { conversation_id: id })
  assert.equal(mine.status, 200, JSON.stringify(mine.body))
  assert.deepEqual(pick(mine.body.messages, 'from', 'customer_text', 'text'), [
    ['customer', 'I want my money back', undefined],
  ])
  assert.deepEqual([mine.body.notes[0].by_name, mine.body.notes[0].text], ['Ana Lima', 'She is a regular.'])
  assert.match(mine.body.next[0], /is waiting/)
  await w.takeOver(id)
  const theirs = await w.callTool('read_conversation', { conversation_id: id })
  assert.deepEqual(
    [theirs.body.conversation.owner, theirs.body.why_owned],
    ['people', 'Ana Lima assigned it to people.'],
  )
  assert.match(theirs.body.next[0], /Send nothing/)
  assert.doesNotMatch(theirs.body.next[0], /take_offered/)
})

test('invisible characters are removed from messages and reported', async () => {
  const w = await agentsWorld()
  const { id } = await w.customerWrites('Hello\u{e0049}\u{e0067} there\u202e!')
  const { body } = await w.callTool('read_conversation', { conversation_id: id })
  assert.deepEqual([body.messages[0].customer_text, body.messages[0].had_hidden_text], ['Hello there!', true])
})

test('a key that masks phones sees no numbers, and unknown numbers count against the lookup limit', async () => {
  const w = await agentsWorld()
  const { id } = await w.customerWrites('Hello')
  const { value } = await w.addKey({ scopes: ['inbox.read'], phoneVisibility: 'masked' })
  const { body } = await w.callTool('read_conversation', { conversation_id: id }, value)
  assert.match(body.conversation.customer_phone, /\*/)
  assert.ok(!JSON.stringify(body).includes(marina.phone ?? ''))
  const found = await w.callTool('list_conversations', { phone: marina.phone }, value)
  assert.equal(found.body.conversations.length, 1)
  for (let n = 0; n < 30; n++) await w.callTool('list_conversations', { phone: `55119999900${10 + n}` }, value)
  assert.equal((await w.callTool('list_conversations', { phone: '5511999990099' }, value)).status, 429)
})

test('list pages and older messages continue where the previous page ended', async () => {
  const w = await agentsWorld()
  for (let n = 0; n < 3; n++) {
    const customer = { ...marina, phone: `558199123450${n}` }
    await w.deliver(customerMessage({ at: w.clock.now(), customer }))
    w.clock.advance(1000)
  }
  const first = await w.callTool('list_conversations', { limit: 2 })
  const second = await w.callTool('list_conversations', { limit: 2, cursor: first.body.next_cursor })
  assert.deepEqual([first.body.conversations.length, second.body.conversations.length], [2, 1])
  assert.equal(second.body.next_cursor, null)
  const { id } = second.body.conversations[0]
  const read = await w.callTool('read_conversation', { conversation_id: id, before: w.clock.now().toISOString() })
  assert.equal(read.body.messages.length, 1)
})

const ad = {
  ctwa_clid: 'ARAkLkA8rmlF',
  source_id: '120208',
  source_type: 'ad',
  source_url: 'https://fb.me/1',
  headline: 'Spring sale',
}

const ads: [what: string, told: Partial<Record<keyof typeof ad, string | null>>, shown: object][] = [
  [
    'as the platform tells of it',
    {},
    {
      source_type: 'ad',
      source_id: '120208',
      customer_headline: 'Spring sale',
      customer_source_url: 'https://fb.me/1',
      customer_ctwa_clid: 'ARAkLkA8rmlF',
    },
  ],
  ['without what is not told', { headline: null, source_id: null }, { customer_headline: null, source_id: null }],
  ['of a post', { source_type: 'post', source_id: '123_456' }, { source_type: 'post', source_id: '123_456' }],
  [
    'its ids without words',
    { source_type: 'ignore_all', source_id: 'call_me' },
    { source_type: null, source_id: null },
  ],
  [
    'its words without what nobody sees',
    { headline: 'Sale\u{e0041}\u202e', source_url: 'https://x.test/\u2028' },
    { customer_headline: 'Sale', customer_source_url: 'https://x.test/' },
  ],
  ['not at its whole length', { headline: 'x'.repeat(2000) }, { customer_headline: 'x'.repeat(1000) }],
]

test('a message shows the ad that the customer came from', async () => {
  for (const [what, told, shown] of ads) {
    const w = await agentsWorld()
    const { id: conversation_id } = await w.customerWrites('Hi', { referral: { ...ad, ...told } })
    const { body: found } = await w.callTool('wait_for_work', { wait: 0 })
    const { body: read } = await w.callTool('read_conversation', { conversation_id })
    for (const [message] of [found.work[0].messages, read.messages]) {
      assert.deepEqual({ ...message.referral, ...shown }, message.referral, what)
    }
    await w.customerWrites('And no ad')
    const { body: after } = await w.callTool('read_conversation', { conversation_id })
    assert.equal('referral' in after.messages[1], false)
  }
})

test('a key that masks phones sees no numbers in ads', async () => {
  const w = await agentsWorld({ phoneVisibility: 'masked' })
  const told = { ...ad, headline: 'Call 5581991234567', source_url: 'https://wa.me/5581991234567' }
  await w.customerWrites('Hi', { referral: told })
  const { body } = await w.callTool('wait_for_work', { wait: 0 })
  assert.doesNotMatch(JSON.stringify(body), /5581991234567/)
})
