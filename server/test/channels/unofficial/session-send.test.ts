import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findConnection } from '../../../src/channels/connection/queries.ts'
import { sessionConnector } from '../../../src/channels/unofficial/send/connector.ts'
import { forgetOldSends } from '../../../src/channels/unofficial/send/sends.ts'
import { customerPhone, type SessionWorld, sessionWorld } from '../../support/channels/session-world.ts'
import { conversationPath } from '../../support/inbox/inbox-world.ts'
import type { Answer } from '../../support/world.ts'

async function assertNotDelivered(w: SessionWorld, id: string, answer: Answer, reason: string): Promise<void> {
  assert.deepEqual([answer.status, answer.body.data.code], [502, 'DELIVERY_FAILED'])
  assert.equal((await w.messages(id)).at(-1).error_code, reason)
}

test('what was sent is known for three days, for a phone that asks for it again', async () => {
  const w = await sessionWorld()
  const { socket, conversationId } = await w.talk()
  await w.post(conversationId, 'Good morning')
  const { id } = await w.network.arrived(1)
  const { sentText } = socket.options
  assert.equal(await sentText('3EB0AAAAAAAAAAAAAAAAAA'), null)
  for (const [ms, known] of [
    [3 * 86_400_000, 'Good morning'],
    [1, null],
  ] as const) {
    w.clock.advance(ms)
    await forgetOldSends(w.db, w.clock.now())
    assert.equal(await sentText(id), known)
  }
})

test('a message that the socket refuses to take has surely not left', async () => {
  const w = await sessionWorld()
  const { conversationId } = await w.talk()
  w.network.beforeSend = () => Promise.reject(new Error('no session keys'))
  await assertNotDelivered(w, conversationId, await w.post(conversationId), 'not_sent')
})

test('without a holder nothing is sent, and nothing is left to be sent later', async () => {
  const w = await sessionWorld()
  const { conversationId } = await w.talk()
  await w.expireLease()
  await assertNotDelivered(w, conversationId, await w.post(conversationId), 'session_not_held')
  await w.reconnect()
  assert.equal(w.network.delivered.length, 0)
})

test('what nobody has claimed in time is taken back, and is never sent', async () => {
  const w = await sessionWorld()
  const { socket, conversationId } = await w.talk()
  await w.loseLine(socket)
  const posting = w.post(conversationId)
  await w.sendWaits()
  await w.endDeadlines()
  await assertNotDelivered(w, conversationId, await posting, 'session_not_open')
  await w.reconnect()
  assert.equal(w.network.delivered.length, 0)
})

test('a holder that dies with a message in hand leaves it unknown: it is never sent twice', async () => {
  const w = await sessionWorld()
  const { conversationId } = await w.talk()
  w.network.acknowledges = false
  const posting = w.post(conversationId)
  const { id } = await w.network.arrived(1)
  await w.expireLease()
  await assertNotDelivered(w, conversationId, await posting, 'outcome_unknown')
  const other = await w.addHolder()
  const next = await w.reconnect(other.holder)
  // Else it would wait for the word on it when it is stopped.
  await w.holder.renew()
  assert.equal(w.network.delivered.length, 1)
  await next.status(id, 2)
  assert.equal((await w.messages(conversationId)).at(-1).status, 'sent')
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
  const read = new Promise((resolve) => {
    w.network.onRead = resolve
  })
  await w.call('POST', `${conversationPath(conversationId)}/read`)
  assert.equal(await read, `${customerPhone}@s.whatsapp.net`)
})

test('a send that is slow to reach the database gets no more time by that: a takeover may have waited for it to end', async () => {
  const w = await sessionWorld()
  await w.talk()
  const { db, vault, clock, workspaceId } = w
  const connection = await findConnection(db.sql, await vault.keyring(workspaceId), workspaceId, w.connectionId)
  assert.ok(connection?.channel === 'unofficial')
  const keyring: typeof vault.keyring = async (scopeId) => {
    clock.advance(3_000)
    return vault.keyring(scopeId)
  }
  const connector = sessionConnector({ db, vault: { ...vault, keyring }, clock, ackMs: 100, pollMs: 20 })
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
