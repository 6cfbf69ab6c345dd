import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LeaseLostError } from '../../../src/channels/unofficial/session/session-lease.ts'
import { customerPhone, type SessionWorld, sessionWorld } from '../../support/channels/session-world.ts'

const openSockets = ({ network }: SessionWorld) => network.sockets.filter(({ isClosed }) => !isClosed)

test('when the holder stops renewing, another takes over as the same device; the old one stores and writes nothing', async () => {
  const w = await sessionWorld()
  const { socket: old, conversationId } = await w.startConversation()
  await w.expireLease()
  const other = await w.addManager()
  await w.work(other.manager)
  const next = w.network.last()
  assert.notEqual(next, old)
  await next.open()
  await w.work(other.manager)

  // The old holder was stalled: it resumes, receives an event and tries to store its keys.
  await assert.rejects(old.options.auth.writeKeys([{ type: 'session', id: 'x', value: '"old"' }]), LeaseLostError)
  await assert.rejects(old.options.auth.writeCreds('"old"'), LeaseLostError)
  assert.equal(next.device, old.device)
  await old.customerWrites(customerPhone, 'heard by the old one')
  assert.ok(old.isClosed, 'it closes its socket as soon as it learns')
  assert.equal((await w.conversation()).unread_count, 1)
  assert.equal(w.manager.count(), 0)
  await next.customerWrites(customerPhone, 'heard by the new one')
  assert.equal((await w.conversation()).unread_count, 2)
  assert.equal((await w.post(conversationId)).status, 202)
  assert.equal(w.network.delivered.length, 1)
  assert.equal((await w.session()).state, 'open')
})

test('a close at the old holder stops nothing; it detects the lost session when renewing', async () => {
  const w = await sessionWorld()
  const old = await w.pair()
  await w.expireLease()
  const other = await w.addManager()
  await w.work(other.manager)
  await w.network.last().open()
  await old.close(440)
  await w.manager.whenIdle()
  await w.manager.renew()
  assert.ok(old.isClosed)
  assert.equal(w.manager.count(), 0)
  assert.equal((await w.session()).state, 'open')
  assert.equal((await w.connection()).state, 'active')
})

test('a holder that cannot reach the database closes its socket before its lease ends', async (t) => {
  const w = await sessionWorld()
  const socket = await w.pair()
  const now = performance.now.bind(performance)
  let aheadMs = 5_000
  t.mock.method(performance, 'now', () => now() + aheadMs)
  w.manager.tick()
  assert.equal(socket.isClosed, false)
  aheadMs = 10_001
  w.manager.tick()
  assert.ok(socket.isClosed)
  t.mock.restoreAll()
})

test('a stopping holder releases the session at once', async () => {
  const w = await sessionWorld()
  const socket = await w.pair()
  await w.manager.stop()
  assert.ok(socket.isClosed)
  const other = await w.addManager()
  await w.work(other.manager)
  assert.equal(other.manager.count(), 1)
  assert.equal(openSockets(w).length, 1)
})

test('events queued when a holder stops are processed, and its close is not an event', async () => {
  const w = await sessionWorld()
  const { socket } = await w.startConversation()
  w.network.beforeClose = async () => {
    await socket.customerWrites(customerPhone, 'just before')
    await socket.close(428)
  }
  await w.manager.stop()
  assert.equal((await w.conversation()).unread_count, 2)
  assert.equal((await w.session()).state, 'open')
})

test('a stopping holder waits briefly for acknowledgements', async () => {
  const w = await sessionWorld()
  const { socket, conversationId } = await w.startConversation()
  w.network.acknowledges = false
  const posting = w.post(conversationId)
  const { id } = await w.network.arrived(1)
  const stopping = w.manager.stop()
  await socket.status(id, 2)
  assert.equal((await posting).body.status, 'sent')
  await stopping
  assert.ok(socket.isClosed)
})

test('the sessions of a dead process are taken over before its lease expires, after three checks', async () => {
  const w = await sessionWorld()
  const dying = await w.addManager()
  await w.team('POST', `/${w.connectionId}/pair`, { method: 'qr' })
  await w.work(dying.manager)
  assert.equal(dying.manager.count(), 1)
  const other = await w.addManager()
  assert.equal(await other.manager.endDeadLeases(), false)
  await dying.db.close()
  assert.deepEqual(
    [await other.manager.endDeadLeases(), await other.manager.endDeadLeases(), await other.manager.endDeadLeases()],
    [false, false, true],
  )
  await w.work(other.manager)
  assert.equal(other.manager.count(), 1)
})

test('a pairing continues in another process when its holder dies', async () => {
  const w = await sessionWorld()
  await w.team('POST', `/${w.connectionId}/pair`, { method: 'qr' })
  await w.work()
  await w.network.last().qr('of the first')
  await w.expireLease()
  const other = await w.addManager()
  await w.work(other.manager)
  await w.network.last().qr('of the second')
  assert.equal((await w.session()).qr, 'of the second')
  await w.network.last().login()
  await w.network.last().close(515)
  await w.work(other.manager)
  await w.network.last().open('5511955509999')
  assert.equal((await w.session()).state, 'open')
})

test('concurrent processes claim a session once, and none while it is held', async () => {
  const w = await sessionWorld()
  await w.pair()
  const others = await Promise.all(Array.from({ length: 5 }, () => w.addManager()))
  const claimed = async () => (await Promise.all(others.map(({ manager }) => manager.claimFreeSessions()))).toSorted()
  assert.deepEqual(await claimed(), [0, 0, 0, 0, 0])
  assert.equal(openSockets(w).length, 1)
  await w.expireLease()
  assert.deepEqual(await claimed(), [0, 0, 0, 0, 1])
})
