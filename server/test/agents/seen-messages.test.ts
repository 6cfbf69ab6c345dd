import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AgentsWorld, agentsWorld, agentsWorldWithTemplate, template } from '../support/agents/agents-world.ts'
import { statementsOf } from '../support/database.ts'
import { addAgent, customerMessage, marina } from '../support/inbox/inbox-world.ts'
import { signedInMember } from '../support/member.ts'
import { clearStatistics, findBadPlans } from '../support/query-plans.ts'
import type { Answer } from '../support/world.ts'

// An agent answers what it has seen: later messages of the customer stay pending.

const work = async (w: AgentsWorld, more: object = {}, key?: string): Promise<Answer['body']> =>
  (await w.callTool('wait_for_work', { wait: 0, ...more }, key)).body
const waiting = async (w: AgentsWorld, id: string): Promise<string | null> =>
  (await w.callTool('list_conversations', { owner: 'anyone' })).body.conversations.find(
    (one: { id: string }) => one.id === id,
  ).waiting_since
const unread = async (w: AgentsWorld): Promise<number> => (await w.conversations())[0].unread_count
/** Customer messages that were reported to the platform as read. */
const ticks = ({ platform, connectionId }: AgentsWorld): string[] =>
  platform.reads.filter((read) => read.connectionId === connectionId).map(({ externalId }) => externalId)
const texts = (messages: { customer_text?: string }[]) => messages.map(({ customer_text }) => customer_text)

/** The customer writes, the agent reads it, and the customer writes again. */
async function overtaken() {
  const w = await agentsWorldWithTemplate()
  const { id } = await w.customerWrites('Where is my order?')
  const taken = await work(w)
  w.clock.advance(1000)
  await w.customerWrites('Forget it')
  const since = w.clock.now().toISOString()
  w.clock.advance(1000)
  return {
    w,
    id: id as string,
    taken,
    since,
    ask: (verb: string, more: object) => w.callTool(verb, { conversation_id: id, ...more }),
  }
}

const answers: [what: string, content: object][] = [
  ['a text', { text: 'It left.' }],
  ['choices', { choices: { text: 'Which one?', buttons: [{ title: 'Red' }] } }],
  ['a template', { template }],
]

for (const [what, content] of answers) {
  test(`${what} keeps unseen customer messages pending and returns them`, async () => {
    const { w, id, taken, since, ask } = await overtaken()
    const { status, body } = await ask('answer', content)
    assert.deepEqual([status, body.was_new, texts(body.arrived_meanwhile)], [200, true, ['Forget it']])
    assert.match(body.next[0], /written again.*arrived_meanwhile/)
    assert.equal(await waiting(w, id), since)
    for (const cursor of [{}, { cursor: taken.next_cursor }]) {
      const [found] = (await work(w, cursor)).work
      assert.deepEqual([found.conversation.id, found.why], [id, 'customer_wrote'])
    }
    const second = await ask('answer', content)
    assert.deepEqual([second.body.was_new, second.body.arrived_meanwhile], [true, []], 'it was shown that one since')
    assert.deepEqual([await waiting(w, id), (await work(w)).work], [null, []])
  })
}

test('with after_message_id, nothing is sent or stored if the customer has written since', async () => {
  const { w, id, taken, ask } = await overtaken()
  const first = taken.work[0].messages[0].id
  await ask('read_conversation', {})
  const stored = () => w.db.sql`
    select
      (select count(*) from messages where workspace_id = ${w.workspaceId}) as messages,
      (select count(*) from sends where workspace_id = ${w.workspaceId}) as sends,
      (select coalesce(sum(sends), 0) from key_sends where workspace_id = ${w.workspaceId}) as counted,
      (select jsonb_agg(to_jsonb(c)) from conversations c where workspace_id = ${w.workspaceId}) as conversations`
  const before = await stored()
  for (const [what, content] of answers) {
    const { status, body } = await ask('answer', { ...content, after_message_id: first.toUpperCase() })
    assert.deepEqual(
      [status, body.code, texts(body.arrived_meanwhile)],
      [409, 'CUSTOMER_WROTE_AGAIN', ['Forget it']],
      what,
    )
    assert.match(body.next[0], /arrived_meanwhile.*after_message_id/)
  }
  assert.deepEqual([await stored(), w.sent().length], [before, 0])

  const { body } = await ask('answer', { text: 'It left.', after_message_id: first })
  const [{ id: last }] = body.arrived_meanwhile
  const sent = await ask('answer', { text: 'As you like.', after_message_id: last })
  assert.deepEqual([sent.body.status, sent.body.arrived_meanwhile, await waiting(w, id)], ['sent', [], null])
  const again = await ask('answer', { text: 'Anything else?', after_message_id: last })
  assert.equal(again.body.was_new, true, 'own messages after it do not count')
  await w.customerWrites('Hello?')
  const refused = await ask('answer', { text: 'Yes?', after_message_id: first })
  assert.deepEqual(texts(refused.body.arrived_meanwhile), ['Forget it', 'Hello?'], 'all after the named message')
})

test('the new messages look as they do elsewhere, and are at most the ten newest', async () => {
  const w = await agentsWorld({ phoneVisibility: 'masked' })
  const { id: conversation_id } = await w.customerWrites('Hi')
  const [{ messages }] = (await work(w)).work
  for (let n = 0; n < 12; n++) {
    w.clock.advance(1000)
    await w.customerWrites(`Message ${n}`)
  }
  const answer = { conversation_id, text: 'Hello', after_message_id: messages[0].id }
  const { body } = await w.callTool('answer', answer)
  const { body: read } = await w.callTool('read_conversation', { conversation_id })
  assert.equal(body.arrived_meanwhile.length, 10)
  assert.deepEqual(body.arrived_meanwhile, read.messages.slice(-10), 'as the key sees them elsewhere')
  for (let n = 0; n < 12; n++) {
    const [named] = (await w.callTool('read_conversation', { conversation_id })).body.messages.slice(-1)
    w.clock.advance(1000)
    await w.customerWrites('More')
    const refused = await w.callTool('answer', { ...answer, after_message_id: named.id })
    assert.equal(refused.body.code, 'CUSTOMER_WROTE_AGAIN', 'a fast customer does not pause the key')
  }
})

test('a message in the same moment is either in the refusal or comes after the answer', async () => {
  const w = await agentsWorldWithTemplate()
  for (let round = 0; round < 6; round++) {
    const customer = { ...marina, phone: `558199120${String(round).padStart(4, '0')}` }
    const { id: conversation_id } = await w.customerWrites('One', { customer })
    const { body: read } = await w.callTool('read_conversation', { conversation_id })
    const answer = { conversation_id, text: 'Hi', after_message_id: read.messages[0].id }
    w.clock.advance(1000)
    const before = w.sent().length
    const [{ status, body }] = await Promise.all([w.callTool('answer', answer), w.customerWrites('Two', { customer })])
    assert.ok((await waiting(w, conversation_id)) !== null, 'it waits for an answer')
    if (status === 409) assert.deepEqual([texts(body.arrived_meanwhile), w.sent().length], [['Two'], before])
    else assert.deepEqual([body.was_new, w.sent().length], [true, before + 1])
    const { body: repeat } = await w.callTool('answer', answer)
    if (status === 200) assert.deepEqual([repeat.was_new, repeat.message_id], [false, body.message_id])
    else assert.equal(repeat.code, 'CUSTOMER_WROTE_AGAIN')
  }
})

test('after_message_id must be a message of the conversation', async () => {
  const { w, id, ask } = await overtaken()
  const other = await w.customerWrites('Hi', { customer: { ...marina, phone: '5581998765432' } })
  const { body } = await w.callTool('read_conversation', { conversation_id: other.id })
  for (const after_message_id of [body.messages[0].id, id]) {
    const refused = await ask('answer', { text: 'Hi', after_message_id })
    assert.deepEqual([refused.status, refused.body.issues[0].path], [400, 'after_message_id'])
  }
  const nowhere = await w.callTool('answer', { conversation_id: w.workspaceId, text: 'Hi', after_message_id: id })
  assert.equal(nowhere.status, 404)
  assert.equal(w.sent().length, 0)
})

test('an agent that was shown nothing answers all existing messages', async () => {
  const w = await agentsWorldWithTemplate()
  const { id } = await w.customerWrites('One')
  w.clock.advance(1000)
  await w.customerWrites('Two')
  const { body } = await w.callTool('answer', { conversation_id: id, text: 'Hi' })
  assert.deepEqual([body.arrived_meanwhile, await waiting(w, id)], [[], null])
})

test('what a previous owner was shown does not count', async () => {
  const { w, id, since } = await overtaken()
  const other = await addAgent(w)
  const handed = { conversation_id: id, key_id: other.id, summary: 'Asks for her order.' }
  assert.equal((await w.callTool('hand_to_agent', handed)).status, 200)
  assert.equal((await work(w, {}, other.value)).work.length, 1)
  w.clock.advance(1000)
  await w.customerWrites('Hello?')
  // A read by an agent that is not the owner changes nothing either.
  await w.callTool('read_conversation', { conversation_id: id })
  const { body } = await w.callTool('answer', { conversation_id: id, text: 'It left.' }, other.value)
  assert.deepEqual(texts(body.arrived_meanwhile), ['Hello?'])
  assert.ok(String(await waiting(w, id)) > since)
})

test('messages that arrive during the send stay pending', async () => {
  const w = await agentsWorldWithTemplate()
  const { id } = await w.customerWrites('One')
  await work(w)
  w.platform.onCall = async () => void (await w.customerWrites('Two'))
  const { body } = await w.callTool('answer', { conversation_id: id, text: 'Hi' })
  assert.equal(body.status, 'sent')
  assert.deepEqual((await work(w)).work.length, 1)
})

test('with concurrent answers and messages, unseen messages stay pending', async () => {
  const w = await agentsWorldWithTemplate()
  const customers = Array.from({ length: 12 }, (_, n) => ({
    ...marina,
    phone: `5581991200${String(n).padStart(3, '0')}`,
  }))
  for (const customer of customers) await w.customerWrites('One', { customer })
  const { work: taken } = await work(w, { limit: 10 })
  w.clock.advance(1000)
  const phones = taken.map((one: Answer['body']) => one.conversation.customer_phone)
  await Promise.all([
    ...taken.map((one: Answer['body']) => w.callTool('answer', { conversation_id: one.conversation.id, text: 'Hi' })),
    ...phones.map((phone: string) => w.customerWrites('Two', { customer: { ...marina, phone } })),
  ])
  for (const { conversation } of taken) assert.ok((await waiting(w, conversation.id)) !== null)
})

test('sends through API v1 and by people answer all existing messages', async () => {
  for (const by of ['contract', 'people'] as const) {
    const { w, id } = await overtaken()
    const body = { kind: 'text', text: 'It left.' }
    const headers = { 'idempotency-key': 'one' }
    const sent =
      by === 'contract'
        ? await w.call('POST', `/api/v1/inbox/conversations/${id}/messages`, { key: w.agent.value, body, headers })
        : await (await signedInMember(w)).call('POST', `/inbox/conversations/${id}/messages`, body, headers)
    assert.ok(sent.status < 300, JSON.stringify(sent.body))
    assert.equal(await waiting(w, id), null, by)
  }
})

test('a closing message leaves unseen messages pending for people', async () => {
  const { w, id, since, ask } = await overtaken()
  const { body } = await ask('hand_over', { summary: 'Asks for her order.', closing: 'A colleague will help.' })
  assert.deepEqual([body.closing, body.conversation.waiting_since, await waiting(w, id)], ['sent', since, since])
})

test('a retried answer is sent once, even if the customer wrote in between', async () => {
  for (const [what, content] of answers) {
    const w = await agentsWorldWithTemplate()
    const { id: conversation_id } = await w.customerWrites('One')
    const [{ messages }] = (await work(w)).work
    assert.equal((await w.callTool('answer', { conversation_id, ...content })).body.was_new, true)
    w.clock.advance(1000)
    await w.customerWrites('Two')
    for (const named of [{}, { after_message_id: messages[0].id }]) {
      const again = await w.callTool('answer', { conversation_id, ...content, ...named })
      assert.deepEqual([again.body.was_new, texts(again.body.arrived_meanwhile)], [false, ['Two']], what)
    }
    assert.equal(w.sent().length, 1, what)
    await w.callTool('read_conversation', { conversation_id })
    const meant = await w.callTool('answer', { conversation_id, ...content })
    assert.deepEqual([meant.body.was_new, w.sent().length], [true, 2], 'it has read the new message since')
  }
})

test('a retried note or first template takes effect once, even if the customer wrote in between', async () => {
  const w = await agentsWorldWithTemplate()
  const start = { connection_id: w.connectionId, phone: String(marina.phone), template }
  const { body } = await w.callTool('start_conversation', start)
  const conversation_id = body.conversation.id
  w.clock.advance(1000)
  await w.customerWrites('Which order?')
  const again = await w.callTool('start_conversation', start)
  assert.deepEqual([again.body.was_new, w.sent().length], [false, 1])
  assert.match(again.body.next[0], /Nothing was sent.*idempotency_key/)
  const other = await addAgent(w)
  for (const key of [w.agent.value, other.value]) {
    const note = { conversation_id, text: 'Called, no answer.' }
    if (key === w.agent.value) await work(w)
    assert.equal((await w.callTool('add_note', note, key)).body.was_new, true)
    w.clock.advance(1000)
    await w.customerWrites('Hello?')
    assert.equal((await w.callTool('add_note', note, key)).body.was_new, false)
  }
})

test('wait_for_work marks messages as read; later ones stay unread', async () => {
  const { w, ask } = await overtaken()
  assert.deepEqual([await unread(w), ticks(w).length], [1, 1])
  await ask('answer', { text: 'It left.' })
  assert.deepEqual([await unread(w), ticks(w).length], [1, 1])
  await work(w)
  assert.deepEqual([await unread(w), ticks(w).length], [0, 2])
  await work(w)
  await ask('read_conversation', {})
  assert.equal(ticks(w).length, 2, 'once')
})

test('an answer marks the answered messages as read; reading does not', async () => {
  const w = await agentsWorldWithTemplate()
  const { id: conversation_id } = await w.customerWrites('One', { externalId: 'wamid.one' })
  await w.callTool('read_conversation', { conversation_id })
  await w.callTool('list_conversations')
  assert.deepEqual([await unread(w), ticks(w).length], [1, 0])
  await w.customerWrites('Two')
  await w.callTool('answer', { conversation_id, text: 'Hi' })
  assert.equal(await unread(w), 1)
  assert.deepEqual(ticks(w), ['wamid.one'])
})

test('queries for unseen messages use indexes with any statistics', async () => {
  const { w, id, ask } = await overtaken()
  const tables = ['conversations', 'messages', 'moving_conversations']
  await clearStatistics(w.db, tables)
  const { body } = await ask('read_conversation', { messages: 5 })
  const [{ id: first }] = body.messages
  const statements = await statementsOf(async () => {
    await ask('answer', { text: 'It left.', after_message_id: first })
    await ask('answer', { text: 'Really.', quoted_message_id: first })
    await work(w)
  })
  const made = statements.filter(
    ({ text }) => /_inbound_id|direction = 'inbound'/.test(text) && !/picked as/.test(text),
  )
  assert.ok(made.length > 5, id)
  assert.deepEqual(await findBadPlans(w.db, made, tables), [])
})

test('resolve and snooze keep a conversation with unseen messages open', async () => {
  for (const verb of ['resolve', 'snooze']) {
    const { w, id, since, ask } = await overtaken()
    const { body } = await ask(verb, {})
    assert.deepEqual([body.conversation.status, body.conversation.waiting_since < since], ['open', true])
    assert.match(body.next[0], /written since you last read/)
    assert.equal((await work(w)).work[0].conversation.id, id)
    const seen = await ask(verb, {})
    assert.notEqual(seen.body.conversation.status, 'open')
    assert.equal(seen.body.next.length, 1)
  }
})

test('after a merge, unseen messages of both conversations stay pending', async () => {
  const w = await agentsWorldWithTemplate()
  const { id } = await w.customerWrites('By phone')
  await work(w)
  w.clock.advance(1000)
  const hidden = { userId: 'BR.1', parentUserId: null, phone: null, name: 'Marina' }
  await w.deliverOn(w.connectionId, customerMessage({ at: w.clock.now(), customer: hidden, text: 'Without a phone' }))
  w.clock.advance(1000)
  const both = { ...marina, userId: 'BR.1' }
  await w.deliverOn(w.connectionId, customerMessage({ at: w.clock.now(), customer: both, text: 'It is me' }))
  const { body } = await w.callTool('answer', { conversation_id: id, text: 'Hello' })
  assert.deepEqual(texts(body.arrived_meanwhile), ['Without a phone', 'It is me'])
  assert.ok((await waiting(w, id)) !== null)
})

test('concurrent answers keep messages pending that none of them has seen', async () => {
  const w = await agentsWorldWithTemplate()
  const { id: conversation_id } = await w.customerWrites('One')
  await w.callTool('read_conversation', { conversation_id })
  w.clock.advance(1000)
  const since = w.clock.now().toISOString()
  for (const text of ['Two', 'Three']) {
    await w.customerWrites(text)
    w.clock.advance(1000)
  }
  await Promise.all(['Hi', 'Hello'].map((text) => w.callTool('answer', { conversation_id, text })))
  assert.equal(await waiting(w, conversation_id), since)
  assert.equal(await unread(w), 2)
})
