import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findConnection } from '../../../src/channels/connection/queries.ts'
import { sessionConnector } from '../../../src/channels/unofficial/send/connector.ts'
import { forgetOldSends } from '../../../src/channels/unofficial/send/sends.ts'
import { customerPhone, type SessionWorld, sessionWorld } from '../../support/channels/session-world.ts'
import { conversationPath } from '../../support/inbox/inbox-world.ts'

async function lastMessage(w: SessionWorld, conversationId: string) {
  return (await w.messages(conversationId)).at(-1)
}

test('a message goes to the customer under an id of ours, and its statuses find it', async () => {
  const w = await sessionWorld()
  const { socket, conversationId } = await w.talk()
  const answer = await w.post(conversationId, 'Good morning')
  assert.equal(answer.status, 202)
  assert.equal(answer.body.status, 'sent')
  const [sent] = w.network.delivered
  assert.partialDeepStrictEqual(sent, { jid: `${customerPhone}@s.whatsapp.net`, text: 'Good morning' })
  await socket.status(sent?.id ?? '', 3)
  assert.equal((await lastMessage(w, conversationId)).status, 'delivered')
  await socket.status(sent?.id ?? '', 4)
  assert.equal((await lastMessage(w, conversationId)).status, 'read')
  assert.equal(await socket.options.sentText(sent?.id ?? ''), 'Good morning')
  assert.equal(await socket.options.sentText('3EB0AAAAAAAAAAAAAAAAAA'), null)
})

test('what the network refuses is failed with its code', async () => {
  const w = await sessionWorld()
  const { socket, conversationId } = await w.talk()
  w.network.acknowledges = false
  const posting = w.post(conversationId)
  const { id } = await w.network.arrived(1)
  await socket.status(id, 0, '463')
  const answer = await posting
  assert.deepEqual([answer.status, answer.body.status], [202, 'failed'])
  assert.equal((await lastMessage(w, conversationId)).error_code, '463')
  assert.equal((await w.connection()).state, 'active')
})

test('a message that is not acknowledged is unknown, and a late status repairs it', async () => {
  const w = await sessionWorld()
  const { socket, conversationId } = await w.talk()
  w.network.acknowledges = false
  w.ackWithin(-2_500)
  const answer = await w.post(conversationId)
  assert.deepEqual([answer.status, answer.body.data.code], [502, 'DELIVERY_FAILED'])
  const failed = await lastMessage(w, conversationId)
  assert.deepEqual([failed.status, failed.error_code], ['failed', 'outcome_unknown'])
  await socket.status(w.network.delivered[0]?.id ?? '', 3)
  const repaired = await lastMessage(w, conversationId)
  assert.deepEqual([repaired.status, repaired.error_code], ['delivered', null])
})

test('a message that the socket refuses to take has surely not left', async () => {
  const w = await sessionWorld()
  const { conversationId } = await w.talk()
  w.network.beforeSend = () => Promise.reject(new Error('no session keys'))
  const answer = await w.post(conversationId)
  assert.deepEqual([answer.status, answer.body.data.code], [502, 'DELIVERY_FAILED'])
  assert.equal((await lastMessage(w, conversationId)).error_code, 'not_sent')
})

test('without a holder nothing is sent, and nothing is left to be sent later', async () => {
  const w = await sessionWorld()
  const { conversationId } = await w.talk()
  await w.expireLease()
  const answer = await w.post(conversationId)
  assert.deepEqual([answer.status, answer.body.data.code], [502, 'DELIVERY_FAILED'])
  assert.equal((await lastMessage(w, conversationId)).error_code, 'session_not_held')
  await w.work()
  await w.network.last().open()
  await w.work()
  assert.equal(w.network.delivered.length, 0)
})

test('what nobody has claimed in time is taken back, and is never sent', async () => {
  const w = await sessionWorld()
  const { socket, conversationId } = await w.talk()
  // The line is lost, and nobody has noticed yet that it is.
  await w.db.sql`update connections set state = 'active' where id = ${w.connectionId}`
  await socket.close(428)
  await w.holder.idle()
  await w.db.sql`update connections set state = 'active', state_reason = null where id = ${w.connectionId}`
  const answer = await w.post(conversationId)
  assert.deepEqual([answer.status, answer.body.data.code], [502, 'DELIVERY_FAILED'])
  assert.equal((await lastMessage(w, conversationId)).error_code, 'session_not_open')
  w.clock.advance(60_000)
  await w.work()
  await w.network.last().open()
  await w.work()
  assert.equal(w.network.delivered.length, 0)
})

test('a holder that dies with a message in hand leaves it unknown: it is never sent twice', async () => {
  const w = await sessionWorld()
  const { conversationId } = await w.talk()
  w.network.acknowledges = false
  const posting = w.post(conversationId)
  const { id } = await w.network.arrived(1)
  await w.expireLease()
  const answer = await posting
  assert.deepEqual([answer.status, answer.body.data.code], [502, 'DELIVERY_FAILED'])
  assert.equal((await lastMessage(w, conversationId)).error_code, 'outcome_unknown')
  const other = await w.addHolder()
  await w.work(other.holder)
  const next = w.network.last()
  await next.open()
  await w.work(other.holder)
  assert.equal(w.network.delivered.length, 1)
  await next.status(id, 2)
  assert.equal((await lastMessage(w, conversationId)).status, 'sent')
})

test('a send waits for the risk to be confirmed, and for the session to be open', async () => {
  const w = await sessionWorld()
  const { socket, conversationId } = await w.talk()
  await w.db.sql`update connections set acknowledged_at = null where id = ${w.connectionId}`
  const unconfirmed = await w.post(conversationId)
  assert.deepEqual([unconfirmed.status, unconfirmed.body.data.code], [409, 'ACKNOWLEDGEMENT_REQUIRED'])
  await w.acknowledge()
  await socket.close(428)
  await w.work()
  const closed = await w.post(conversationId)
  assert.deepEqual([closed.status, closed.body.data.code], [409, 'CONNECTION_UNAVAILABLE'])
})

test('the customer is told that their message was read', async () => {
  const w = await sessionWorld()
  const { conversationId } = await w.talk()
  const [message] = await w.messages(conversationId)
  assert.ok(message)
  await w.call('POST', `${conversationPath(conversationId)}/read`)
  for (let n = 0; n < 50 && w.network.reads.length === 0; n++) await w.work()
  assert.equal(w.network.reads[0]?.jid, `${customerPhone}@s.whatsapp.net`)
})

test('what was sent is forgotten after three days', async () => {
  const w = await sessionWorld()
  const { socket, conversationId } = await w.talk()
  await w.post(conversationId)
  const id = w.network.delivered[0]?.id ?? ''
  w.clock.advance(3 * 86_400_000)
  await forgetOldSends(w.db, w.clock.now())
  assert.equal(await socket.options.sentText(id), 'Good morning')
  w.clock.advance(1)
  await forgetOldSends(w.db, w.clock.now())
  assert.equal(await socket.options.sentText(id), null)
})

test('a send that is slow to reach the database gets no more time by that: a takeover may have waited for it to end', async () => {
  const w = await sessionWorld()
  await w.talk()
  const { db, vault, clock, workspaceId } = w
  const keyring = await vault.keyring(workspaceId)
  const connection = await findConnection(db.sql, keyring, workspaceId, w.connectionId)
  assert.ok(connection?.channel === 'unofficial')
  const slowVault = {
    ...vault,
    keyring: async (scopeId: string) => {
      clock.advance(3_000)
      return vault.keyring(scopeId)
    },
  }
  const connector = sessionConnector({ db, vault: slowVault, clock, ackMs: 100 })
  const result = await connector.send(connection, {
    recipient: { phone: customerPhone, userId: null },
    message: { kind: 'text', text: 'Too late', previewUrl: false },
    correlator: 'slow',
    deadline: new Date(clock.now().getTime() + 3_000),
  })
  await w.work()
  assert.deepEqual(result, { outcome: 'unreachable', errorCode: 'session_not_open' })
  assert.deepEqual(w.network.delivered, [])
})
