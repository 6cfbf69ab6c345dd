import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentColumns } from '../../../src/inbox/conversation/activity-columns.ts'
import { addAgent, inboxPath, inboxWorld } from '../../support/inbox/inbox-world.ts'

const path = `${inboxPath}/echoes`
const to = '5581991234567'

async function echoWorld() {
  const w = await inboxWorld()
  const agent = await addAgent(w)
  const echo = (fields: object = {}) =>
    w.call('POST', path, {
      key: agent.value,
      body: { connection_id: w.connectionId, to, external_id: 'wamid.e', kind: 'text', body: 'Hello', ...fields },
    })
  return { w, agent, echo }
}

test('an echo creates a conversation of people without a name and emits a webhook event with actor null', async () => {
  const { w, echo } = await echoWorld()
  const { status, body } = await echo()
  assert.deepEqual([status, body.inserted], [202, true])
  const [conversation] = await w.conversations({ phone: to })
  assert.deepEqual(
    [conversation.owner, conversation.contact, conversation.window_expires_at, conversation.unread_count],
    ['human', { name: null, phone: to }, null, 0],
  )
  const [message] = await w.messages(conversation.id)
  assert.deepEqual(
    [message.id, message.direction, message.status, message.actor],
    [body.message_id, 'outbound', 'sent', null],
  )
  assert.deepEqual(await w.events(conversation.id), [
    {
      name: 'inbox.message.sent',
      payload: {
        conversation: { id: conversation.id, connection_id: w.connectionId, channel: 'waba', owner: 'human' },
        message: {
          id: body.message_id,
          kind: 'text',
          text: 'Hello',
          status: 'sent',
          occurred_at: w.clock.now().toISOString(),
        },
        actor: null,
      },
    },
  ])
})

test('a repeat is 200 with inserted false, and any number of parallel ones store one message', async () => {
  const { w, echo } = await echoWorld()
  const answers = await Promise.all(Array.from({ length: 10 }, () => echo()))
  assert.deepEqual(answers.map((one) => one.status).sort(), [...Array(9).fill(200), 202])
  const again = await echo({ body: 'Other', to: '5511988887777' })
  assert.deepEqual([again.status, again.body], [200, { message_id: answers[0]?.body.message_id, inserted: false }])
  const conversations = await w.conversations()
  assert.equal(conversations.length, 1)
  assert.equal((await w.messages(conversations[0].id)).length, 1)
})

test('an echo ends the waiting and changes neither owner, status, unread count nor window', async () => {
  const { w, agent, echo } = await echoWorld()
  const before = await w.customerWrites('Hi')
  await w.patch(before.id, { status: 'pending' }, agent.value)
  w.clock.advance(1000)
  await echo()
  const [after] = await w.conversations()
  assert.deepEqual(
    [after.owner, after.status, after.unread_count, after.window_expires_at, after.contact],
    [`agent:${agent.id}`, 'pending', 1, before.window_expires_at, before.contact],
  )
  assert.equal(after.last_message_at, w.clock.now().toISOString())
  const [row] = await w.db.sql<{ unanswered_since: Date | null }[]>`
    select ${currentColumns.unansweredSince(w.db.sql)} as unanswered_since from conversations c where workspace_id = ${w.workspaceId}`
  assert.equal(row?.unanswered_since, null)
})

const kinds: [sent: string, stored: string][] = [
  ['text', 'text'],
  ['template', 'template'],
  ['interactive', 'text'],
]

test('an echo is stored with its time and kind as in the contract', async () => {
  const { w, echo } = await echoWorld()
  for (const [kind] of kinds)
    await echo({ kind, occurred_at: '2026-03-10T08:30:00+02:00', external_id: `wamid.${kind}` })
  const [{ id }] = await w.conversations()
  const shown = (await w.messages(id)).map(({ kind, occurred_at: at }) => [kind, at])
  assert.deepEqual(
    shown,
    kinds.map(([, stored], n) => [stored, `2026-03-10T06:30:00.00${n}Z`]),
  )
})

const refused: object[] = [
  { to: '+5581991234567' },
  { to: '123' },
  { external_id: '' },
  { kind: 'image' },
  { body: 'x'.repeat(16_385) },
  { body: undefined },
  { occurred_at: '2026-03-10T08:30:00' },
  { occurred_at: '2026-03-10' },
  { occurred_at: 'now' },
  { connection_id: undefined },
  { connection_id: 7 },
  { colour: 'red' },
]

test('an invalid echo is 400 INVALID_REQUEST', async () => {
  const { echo } = await echoWorld()
  for (const fields of refused) {
    const { status, body } = await echo(fields)
    assert.deepEqual([status, body.data.code], [400, 'INVALID_REQUEST'], JSON.stringify(fields).slice(0, 50))
  }
})

test('16,384 characters are accepted', async () => {
  const { echo } = await echoWorld()
  assert.equal((await echo({ body: 'é'.repeat(16_384) })).status, 202)
})

test('a connection that the key cannot see, or that is not official, is 404, even if the rest is invalid', async () => {
  const { w } = await echoWorld()
  const hidden = await w.addConnection()
  const unofficial = await w.addConnection('unofficial')
  const foreign = (await inboxWorld()).connectionId
  const { value: key } = await addAgent(w, { connectionIds: [w.connectionId, unofficial] })
  for (const connection_id of [hidden, unofficial, foreign, 'x']) {
    const answer = await w.call('POST', path, { key, body: { connection_id, to: 'x' } })
    assert.deepEqual([answer.status, answer.body.data], [404, { code: 'NOT_FOUND' }], connection_id)
  }
})

test('a status never changes an echo', async () => {
  const { w, echo } = await echoWorld()
  await echo()
  await w.deliver(w.status('wamid.e', 'read'))
  const [{ id }] = await w.conversations()
  assert.equal((await w.messages(id))[0].status, 'sent')
  assert.equal((await w.events(id)).length, 1)
})
