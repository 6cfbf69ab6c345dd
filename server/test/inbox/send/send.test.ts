import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentColumns } from '../../../src/inbox/conversation/activity-columns.ts'
import { outcomeUnknown } from '../../../src/inbox/conversation/message.ts'
import { freshKey, noon, type SendWorld, sendWorld, text } from '../../support/inbox/send-world.ts'

test('a text is sent to the platform once, with our id, and returns sent', async () => {
  const { conversation, post, platform, message, events, keyId, connectionId, db } = await sendWorld()
  const { id, contact } = await conversation()
  const reply = await post(id, { body: { kind: 'text', text: 'See https://a.example', preview_url: true } })
  assert.equal(reply.status, 202)
  assert.deepEqual(reply.body, { message_id: reply.body.message_id, status: 'sent' })
  assert.equal(reply.isReplay, false)

  const [call, ...others] = platform.calls
  assert.equal(others.length, 0)
  assert.deepEqual(call?.recipient, { phone: contact.phone, userId: null })
  assert.deepEqual(call?.message, { kind: 'text', text: 'See https://a.example', previewUrl: true })
  assert.equal(call?.correlator, `${reply.body.message_id}:1`)
  const row = await message(reply.body.message_id)
  assert.deepEqual([row.status, row.error_code, row.settle_by], ['sent', null, null])

  assert.deepEqual(await events(id), [
    {
      name: 'inbox.message.sent',
      payload: {
        conversation: { id, connection_id: connectionId, channel: 'waba', owner: `agent:${keyId}` },
        message: {
          id: reply.body.message_id,
          kind: 'text',
          text: 'See https://a.example',
          status: 'sent',
          occurred_at: noon.toISOString(),
        },
        actor: { type: 'agent', id: keyId },
      },
    },
  ])
  const left = await db.sql`select message_id from dispatches`
  assert.equal(left.length, 0)
  const [now] = await db.sql`
    select ${currentColumns.unansweredSince(db.sql)} as unanswered_since, status from conversations c where id = ${id}`
  assert.deepEqual([now?.unanswered_since, now?.status], [null, 'open'])
  const [number] = await db.sql`select last_event_out_at from connections where id = ${connectionId}`
  assert.deepEqual(number?.last_event_out_at, noon)
})

const silences: [what: string, behave: (platform: SendWorld['platform']) => void, errorCode: string][] = [
  ['that is unreachable', (platform) => (platform.behave = () => 'unreachable'), 'econnrefused'],
  ['that does not respond', (platform) => (platform.behave = () => 'lose'), outcomeUnknown],
  [
    'whose connector throws',
    (platform) => (platform.onCall = () => Promise.reject(new Error('broken'))),
    outcomeUnknown,
  ],
]
for (const [what, behave, errorCode] of silences) {
  test(`a platform ${what} returns 502 DELIVERY_FAILED, fails the message, and is not called again`, async () => {
    const { conversation, post, platform, message } = await sendWorld()
    behave(platform)
    const { id } = await conversation()
    const idempotencyKey = freshKey()
    const first = await post(id, { idempotencyKey })
    assert.deepEqual([first.status, first.body.data.code], [502, 'DELIVERY_FAILED'])
    const row = await message(first.body.data.message_id)
    assert.deepEqual([row.status, row.error_code], ['failed', errorCode])
    const again = await post(id, { idempotencyKey })
    assert.deepEqual([again.status, again.text, again.isReplay], [502, first.text, true])
    assert.equal(platform.calls.length, 1)
  })
}

test('a long text is sent as parts in order, each after the response to the previous one, and is one message', async () => {
  const { conversation, post, platform, db, message } = await sendWorld()
  platform.delayMs = 5
  const { id } = await conversation()
  const long = 'All work and no play makes Jack a dull boy. '.repeat(372)
  const { status, body } = await post(id, { body: text(long.slice(0, 16_384)) })
  assert.deepEqual([status, body.status], [202, 'sent'])
  assert.equal(platform.accepted.map((part) => part.text).join(''), long.slice(0, 16_384))
  const numbers = platform.calls.map(({ correlator }) => correlator)
  assert.deepEqual(
    numbers,
    numbers.map((_, index) => `${body.message_id}:${index + 1}`),
  )
  assert.ok(platform.accepted.every((part, n, all) => n === 0 || part.at - (all[n - 1]?.at ?? 0) >= 4))
  assert.equal((await message(body.message_id)).status, 'sent')
  const parts = await db.sql`select status from message_parts where message_id = ${body.message_id}`
  assert.ok(parts.length === numbers.length && parts.every((part) => part.status === 'sent'))
})

for (const [behaviour, status, code] of [
  [{ refuse: '131026' }, 202, '131026'],
  ['lose', 502, 'outcome_unknown'],
] as const) {
  test(`a part that ends in ${JSON.stringify(behaviour)} stops the rest and fails the message`, async () => {
    const { conversation, post, platform, message, db } = await sendWorld()
    platform.behave = ({ correlator }) => (correlator.endsWith(':2') ? behaviour : 'accept')
    const reply = await post((await conversation()).id, { body: text('word '.repeat(3000)) })
    assert.equal(reply.status, status)
    assert.equal(platform.calls.length, 2)
    const messageId = reply.body.message_id ?? reply.body.data.message_id
    const row = await message(messageId)
    assert.deepEqual([row.status, row.error_code], ['failed', code])
    const parts = await db.sql`
      select status, error_code from message_parts where message_id = ${messageId} order by part`
    assert.deepEqual(
      parts.map((part) => `${part.status} ${part.error_code}`),
      ['sent null', `failed ${code}`, 'failed not_sent', 'failed not_sent'],
    )
  })
}

test('sends of one conversation reach the platform in the order of their reservation, over two nodes', async () => {
  const { conversation, post, platform, addNode, node, db } = await sendWorld()
  const other = await addNode()
  const { id } = await conversation()
  const count = 16
  const replies = await Promise.all(
    Array.from({ length: count }, (_, n) => post(id, { body: text(`${n}`), node: n % 2 === 0 ? node : other })),
  )
  assert.ok(replies.every(({ status }) => status === 202))
  const rows = await db.sql<{ id: string }[]>`
    select id from messages where conversation_id = ${id} order by occurred_at`
  assert.deepEqual(
    platform.accepted.map(({ correlator }) => correlator.slice(0, 36)),
    rows.map((row) => row.id),
  )
  assert.equal(rows.length, count)
})
