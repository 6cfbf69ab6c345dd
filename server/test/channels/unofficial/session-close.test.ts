import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownMessageId } from '../../../src/channels/unofficial/send/connector.ts'
import { customerPhone, sessionWorld } from '../../support/channels/session-world.ts'

// The meaning of each code is tested in session-disconnect.test.ts.

const keyCount = async ({ db, connectionId }: Awaited<ReturnType<typeof sessionWorld>>) => {
  const [keys] = await db.sql`select count(*) as count from session_keys where connection_id = ${connectionId}`
  return keys?.count
}

test('a close that logs the device out stops the session and deletes its keys', async () => {
  const w = await sessionWorld()
  await (await w.pair()).close(401)
  await w.work()
  assert.partialDeepStrictEqual(await w.session(), { state: 'stopped', reason: 'logged_out', paired: false })
  assert.equal(await keyCount(w), 0)
})

test('a close that replaces the device stops the session, until a member resumes the connection', async () => {
  const w = await sessionWorld()
  await (await w.pair()).close(440)
  await w.work()
  assert.partialDeepStrictEqual(await w.session(), { state: 'stopped', reason: 'replaced', paired: true })
  assert.partialDeepStrictEqual(await w.connection(), { state: 'unavailable', stateReason: 'replaced' })
  assert.notEqual(await keyCount(w), 0)
  w.clock.advance(3_600_000)
  await w.work()
  assert.equal(w.network.sockets.length, 2, 'it is not opened again by itself')
  const resumed = await w.team('POST', `/${w.connectionId}/resume`)
  assert.equal(resumed.status, 200)
  assert.partialDeepStrictEqual(resumed.body.connection, { state: 'unavailable', stateReason: 'reconnecting' })
  await w.work()
  await w.network.last().open()
  assert.equal((await w.connection()).state, 'active')
})

test('a lost connection is retried with increasing delays', async () => {
  const w = await sessionWorld()
  await w.pair()
  const { device } = w.network.last()
  for (const [n, seconds] of [1, 2, 4, 8].entries()) {
    await w.network.last().close(n % 2 === 0 ? 428 : null)
    await w.work()
    const { state, reason, nextAttemptAt } = await w.session()
    assert.deepEqual([state, reason], ['waiting', 'reconnecting'])
    assert.equal(Date.parse(nextAttemptAt) - w.clock.now().getTime(), seconds * 1000)
    assert.equal((await w.connection()).state, 'unavailable')
    w.clock.advance(seconds * 1000 - 1)
    await w.work()
    assert.equal(w.network.sockets.length, 2 + n)
    w.clock.advance(1)
    await w.work()
    assert.equal(w.network.sockets.length, 3 + n)
    assert.equal((await w.session()).state, 'connecting')
  }
  await w.network.last().open()
  assert.equal(w.network.last().device, device)
  assert.equal((await w.connection()).state, 'active')
  assert.equal((await w.session()).state, 'open')
})

test('a pairing that lacked Baileys starts again when a member resumes the connection', async () => {
  const w = await sessionWorld()
  await w.team('POST', `/${w.connectionId}/pair`, { method: 'qr' })
  await w.work()
  await w.network.last().close(424)
  await w.work()
  assert.equal((await w.connection()).stateReason, 'baileys_missing')
  assert.equal((await w.team('POST', `/${w.connectionId}/resume`)).body.connection.stateReason, 'pairing')
  await w.work()
  await w.network.last().qr('code')
  assert.equal((await w.session()).qr, 'code')
})

test('a paused connection still receives, and stays paused whatever happens to its socket', async () => {
  const w = await sessionWorld()
  const { socket } = await w.startConversation()
  await w.team('POST', `/${w.connectionId}/pause`)
  await socket.customerWrites('5581991234567', 'Are you there?')
  assert.equal((await w.conversation()).unread_count, 2)
  await socket.close(428)
  await w.work()
  assert.equal((await w.connection()).state, 'paused')
  await w.reconnect()
  assert.equal((await w.connection()).state, 'paused')
  assert.equal((await w.team('POST', `/${w.connectionId}/resume`)).body.connection.state, 'active')
})

test('modified credentials stop the session', async () => {
  const w = await sessionWorld()
  await w.pair()
  await w.db.sql`
    update session_keys
    set value = set_byte(value, 40, 255 - get_byte(value, 40))
    where connection_id = ${w.connectionId}`
  await w.network.last().close(428)
  await w.work()
  w.clock.advance(60_000)
  await w.work()
  const { state, reason } = await w.session()
  assert.deepEqual([state, reason], ['stopped', 'bad_session'])
  assert.equal(w.network.sockets.length, 2)
})

test('a hidden address and its phone become one conversation once the network links them', async () => {
  const w = await sessionWorld()
  const socket = await w.pair()
  const lid = '210000000000001@lid'
  const message = { key: { remoteJid: lid, fromMe: false, id: 'L1' }, message: { conversation: 'Hidden' } }
  await socket.sendEvent('messages.upsert', {
    type: 'notify',
    messages: [{ ...message, messageTimestamp: 1_772_000_000 }],
  })
  assert.equal((await w.conversation()).contact.phone, null)
  await socket.sendEvent('lid-mapping.update', { lid, pn: `${customerPhone}@s.whatsapp.net` })
  assert.equal((await w.conversation()).contact.phone, customerPhone)
})

test('events that fail to store are retried before acknowledgement; permanently failing ones are dropped', async () => {
  const heard: string[] = []
  let failures = 3
  const w = await sessionWorld({
    retryMs: 1,
    receive: async (_connection, events) => {
      for (const event of events) {
        if (event.type !== 'message') continue
        if (event.text === 'poison') throw new Error('It does not fit')
        if (failures-- > 0) throw new Error('The database is away')
        heard.push(event.text)
      }
    },
  })
  const socket = await w.pair()
  await socket.customerWrites(customerPhone, 'Hello')
  assert.deepEqual(heard, ['Hello'])
  await socket.customerWrites(customerPhone, 'poison')
  await socket.customerWrites(customerPhone, 'fine')
  assert.deepEqual(heard, ['Hello', 'fine'])
})

test('an id is derived from the message and differs between connections', () => {
  const id = ownMessageId('01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e:1', 'a')
  assert.match(id, /^3EB0[0-9A-F]{18}$/)
  assert.equal(id, ownMessageId('01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e:1', 'a'))
  assert.notEqual(id, ownMessageId('01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e:1', 'b'))
  assert.notEqual(id, ownMessageId('01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e:2', 'a'))
})
