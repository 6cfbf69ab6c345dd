import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentsWorld } from '../support/agents/agents-world.ts'
import { addLabel } from '../support/inbox/inbox-world.ts'
import { signedInMember } from '../support/member.ts'
import { pick } from '../support/pick.ts'

test('the same content after the same customer message is sent once, and was_new tells', async () => {
  const w = await agentsWorld()
  const { id: conversation_id } = await w.customerWrites('Where is my order?')
  const first = await w.callTool('answer', { conversation_id, text: 'It left this morning.' })
  assert.deepEqual(
    [first.status, first.body.was_new, first.body.status],
    [200, true, 'sent'],
    JSON.stringify(first.body),
  )
  const again = await w.callTool('answer', { conversation_id, text: 'It left this morning.' })
  assert.deepEqual([again.body.was_new, again.body.message_id, w.sent().length], [false, first.body.message_id, 1])
  assert.match(again.body.next[0], /Nothing was sent/)
  await w.callTool('answer', { conversation_id, text: 'It comes tomorrow.' })
  assert.equal(w.sent().length, 2, 'other words are another message')
  w.clock.advance(1000)
  await w.customerWrites('And where is it now?')
  const later = await w.callTool('answer', { conversation_id, text: 'It left this morning.' })
  assert.deepEqual(
    [later.body.was_new, w.sent().length],
    [true, 3],
    'after another message of the customer they are new',
  )
  const named = { conversation_id, text: 'It left this morning.', idempotency_key: 'mine' }
  assert.deepEqual([(await w.callTool('answer', named)).body.was_new, w.sent().length], [true, 4])
})

test('an answer can quote a message of the conversation', async () => {
  const w = await agentsWorld()
  const { id: conversation_id } = await w.customerWrites('Red or blue?')
  const { body: read } = await w.callTool('read_conversation', { conversation_id })
  const [{ id: quoted_message_id }] = read.messages
  const { status } = await w.callTool('answer', { conversation_id, text: 'Red.', quoted_message_id })
  assert.equal(status, 200)
  const { body: after } = await w.callTool('read_conversation', { conversation_id })
  assert.deepEqual([after.messages[1].from, after.messages[1].answers_message_id], ['you', quoted_message_id])
})

test('a refused send returns the reason and the next steps', async () => {
  const w = await agentsWorld()
  const { id: conversation_id } = await w.customerWrites('Hello')
  const nothing = await w.callTool('answer', { conversation_id })
  assert.deepEqual([nothing.status, nothing.body.issues[0].path], [400, 'text'])
  w.clock.advance(25 * 3_600_000)
  const closed = await w.callTool('answer', { conversation_id, text: 'Hello' })
  assert.deepEqual([closed.status, closed.body.code], [422, 'WINDOW_CLOSED'])
  assert.match(closed.body.next[0], /list_templates/)
  await w.takeOver(conversation_id)
  const theirs = await w.callTool('answer', { conversation_id, text: 'Hello' })
  assert.deepEqual([theirs.status, theirs.body.code, theirs.body.owner], [409, 'HELD_BY_PEOPLE', 'people'])
  assert.ok(Date.parse(theirs.body.since) > 0)
  assert.match(theirs.body.next[0], /Leave this conversation alone/)
  assert.equal(w.sent().length, 0)
})

test('an unowned conversation must be taken before it is answered', async () => {
  const w = await agentsWorld({ answersNewConversations: false })
  const { id: conversation_id } = await w.customerWrites('Hello')
  const refused = await w.callTool('answer', { conversation_id, text: 'Hello' })
  assert.deepEqual([refused.status, refused.body.code, w.sent().length], [409, 'NOT_TAKEN', 0])
  assert.match(refused.body.next[0], /take_offered/)
  await w.callTool('take_offered', { conversation_id })
  assert.equal((await w.callTool('answer', { conversation_id, text: 'Hello' })).body.was_new, true)
})

test('a rejection by the platform is status failed, a failed delivery is a problem', async () => {
  const w = await agentsWorld()
  const { id: conversation_id } = await w.customerWrites('Hello')
  w.platform.answers.push({ outcome: 'refused', errorCode: '131049', effect: 'none' })
  const refused = await w.callTool('answer', { conversation_id, text: 'One' })
  assert.deepEqual([refused.status, refused.body.status], [200, 'failed'])
  assert.match(refused.body.next[0], /error_code/)
})

test('a note is added once, and mentioned members are notified', async () => {
  const w = await agentsWorld()
  const { id: conversation_id } = await w.customerWrites('Hello')
  const member = await signedInMember(w)
  const note = { conversation_id, text: 'Asked for 20 units.', mentions: [member.userId] }
  assert.equal((await w.callTool('add_note', note)).body.was_new, true)
  assert.equal((await w.callTool('add_note', note)).body.was_new, false)
  const { body } = await w.callTool('read_conversation', { conversation_id })
  assert.deepEqual(pick(body.notes, 'by', 'text'), [['you', 'Asked for 20 units.']])
})

test('labels are added and removed, other labels stay', async () => {
  const w = await agentsWorld()
  const { id: conversation_id } = await w.customerWrites('Hello')
  const [vip, late] = [await addLabel(w, 'VIP'), await addLabel(w, 'Late')]
  await w.callTool('label', { conversation_id, label_ids: [vip] })
  const { body } = await w.callTool('label', { conversation_id, label_ids: [late] })
  assert.deepEqual(pick(body.conversation.labels, 'name'), ['VIP', 'Late'])
  const { body: urgent } = await w.callTool('label', { conversation_id, priority: 'urgent' })
  assert.deepEqual([urgent.conversation.priority, urgent.conversation.labels.length], ['urgent', 2])
  const { body: after } = await w.callTool('label', { conversation_id, remove_label_ids: [vip] })
  assert.equal(after.conversation.labels.length, 1)
  const { status, body: problem } = await w.callTool('label', { conversation_id, label_ids: [conversation_id] })
  assert.deepEqual([status, problem.issues[0].path], [400, 'label_ids'])
})

test('an agent can snooze and resolve only its own conversations', async () => {
  const w = await agentsWorld()
  const { id: conversation_id } = await w.customerWrites('Hello')
  const until = new Date(w.clock.now().getTime() + 3_600_000).toISOString()
  const { body: asleep } = await w.callTool('snooze', { conversation_id, until })
  assert.deepEqual([asleep.conversation.status, asleep.conversation.snoozed_until], ['snoozed', until])
  assert.equal((await w.callTool('resolve', { conversation_id })).body.conversation.status, 'resolved')
  const past = await w.callTool('snooze', { conversation_id, until: '2020-01-01T00:00:00Z' })
  assert.deepEqual([past.status, past.body.issues[0].path], [400, 'until'])
  await w.takeOver(conversation_id)
  for (const verb of ['snooze', 'resolve']) {
    const refused = await w.callTool(verb, { conversation_id })
    assert.deepEqual([refused.status, refused.body.code, refused.body.owner], [409, 'HELD_BY_PEOPLE', 'people'], verb)
  }
})
