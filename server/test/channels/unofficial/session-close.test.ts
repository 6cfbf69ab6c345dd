import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newShopPhone, sessionWorld } from '../../support/channels/session-world.ts'

const stops: [code: number, reason: string, isForgotten: boolean][] = [
  [401, 'logged_out', true],
  [402, 'banned_temporarily', false],
  [403, 'forbidden', false],
  [405, 'client_outdated', false],
  [406, 'banned', false],
  [409, 'bad_user_agent', false],
  [411, 'device_mismatch', false],
  [424, 'baileys_missing', false],
  [440, 'replaced', false],
]

for (const [code, reason, isForgotten] of stops) {
  test(`a close with ${code} stops the session: ${reason}`, async () => {
    const w = await sessionWorld()
    const socket = await w.pair()
    await socket.close(code)
    await w.work()
    const session = await w.session()
    assert.deepEqual([session.state, session.reason, session.paired], ['stopped', reason, !isForgotten])
    const connection = await w.connection()
    assert.deepEqual([connection.state, connection.stateReason], ['unavailable', reason])
    w.clock.advance(3_600_000)
    await w.work()
    assert.equal(w.network.sockets.length, 2, 'it is not opened again by itself')
    const [keys] = await w.db.sql`select count(*) as count from session_keys where connection_id = ${w.connectionId}`
    assert.equal(keys?.count === 0, isForgotten)
  })
}

for (const code of [408, 428, 503, 999, null]) {
  test(`a close with ${code} is followed by another socket after a while, longer each time`, async () => {
    const w = await sessionWorld()
    await w.pair()
    const device = w.network.last().device
    for (const [n, seconds] of [1, 2, 4, 8].entries()) {
      await w.network.last().close(code)
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
}

test('a bad session is tried a few times, then stops', async () => {
  const w = await sessionWorld()
  await w.pair()
  for (let n = 0; n < 4; n++) {
    await w.network.last().close(500)
    await w.work()
    w.clock.advance(60_000)
    await w.work()
  }
  const { state, reason } = await w.session()
  assert.deepEqual([state, reason], ['stopped', 'bad_session'])
})

test('a stopped session is tried again when a member resumes the connection', async () => {
  const w = await sessionWorld()
  const socket = await w.pair()
  await socket.close(440)
  await w.work()
  const resumed = await w.team('POST', `/${w.connectionId}/resume`)
  assert.equal(resumed.status, 200)
  assert.deepEqual(
    [resumed.body.connection.state, resumed.body.connection.stateReason],
    ['unavailable', 'reconnecting'],
  )
  await w.work()
  await w.network.last().open()
  assert.equal((await w.connection()).state, 'active')
})

test('a pairing for which Baileys was missing is begun again when a member resumes the connection', async () => {
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

test('to resume a connection that was never paired leaves it so', async () => {
  const w = await sessionWorld()
  await w.team('POST', `/${w.connectionId}/pause`)
  const resumed = await w.team('POST', `/${w.connectionId}/resume`)
  assert.deepEqual(
    [resumed.body.connection.state, resumed.body.connection.stateReason],
    ['unavailable', 'never_paired'],
  )
})

test('a paused connection goes on hearing, and stays paused whatever becomes of the line', async () => {
  const w = await sessionWorld()
  const { socket } = await w.talk()
  await w.team('POST', `/${w.connectionId}/pause`)
  await socket.customerWrites('5581991234567', 'Are you there?')
  assert.equal((await w.conversation()).unread_count, 2)
  await socket.close(428)
  await w.work()
  assert.equal((await w.connection()).state, 'paused')
  w.clock.advance(60_000)
  await w.work()
  await w.network.last().open()
  assert.equal((await w.connection()).state, 'paused')
  assert.equal((await w.team('POST', `/${w.connectionId}/resume`)).body.connection.state, 'active')
})

test('credentials that were tampered with stop the session', async () => {
  const w = await sessionWorld()
  await w.pair(newShopPhone())
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
