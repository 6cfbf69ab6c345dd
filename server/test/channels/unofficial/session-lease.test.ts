import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LeaseLost } from '../../../src/channels/unofficial/session/session-lease.ts'
import { customerPhone, type SessionWorld, sessionWorld } from '../../support/channels/session-world.ts'

const openSockets = ({ network }: SessionWorld) => network.sockets.filter(({ isClosed }) => !isClosed)

test('when the holder stops renewing, another takes over as the same device; the old one stores and writes nothing', async () => {
  const w = await sessionWorld()
  const { socket: old, conversationId } = await w.talk()
  await w.expireLease()
  const other = await w.addHolder()
  await w.work(other.holder)
  const next = w.network.last()
  assert.notEqual(next, old)
  await next.open()
  await w.work(other.holder)

  // The old holder was stalled: it resumes, receives an event and tries to store its keys.
  await assert.rejects(old.options.auth.writeKeys([{ type: 'session', id: 'x', value: '"old"' }]), LeaseLost)
  await assert.rejects(old.options.auth.writeCreds('"old"'), LeaseLost)
  assert.equal(next.device, old.device)
  await old.customerWrites(customerPhone, 'heard by the old one')
  assert.ok(old.isClosed, 'it closes its socket as soon as it learns')
  assert.equal((await w.conversation()).unread_count, 1)
  assert.equal(w.holder.count(), 0)
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
  const other = await w.addHolder()
  await w.work(other.holder)
  await w.network.last().open()
  await old.close(440)
  await w.holder.idle()
  await w.holder.renew()
  assert.ok(old.isClosed)
  assert.equal(w.holder.count(), 0)
  assert.equal((await w.session()).state, 'open')
  assert.equal((await w.connection()).state, 'active')
})

test('a holder that cannot reach the database closes its socket before its lease ends', async (t) => {
  const w = await sessionWorld()
  const socket = await w.pair()
  const now = performance.now.bind(performance)
  let aheadMs = 5_000
  t.mock.method(performance, 'now', () => now() + aheadMs)
  w.holder.tick()
  assert.equal(socket.isClosed, false)
  aheadMs = 10_001
  w.holder.tick()
  assert.ok(socket.isClosed)
  t.mock.restoreAll()
})

test('a stopping holder releases the session at once', async () => {
  const w = await sessionWorld()
  const socket = await w.pair()
  await w.holder.stop()
  assert.ok(socket.isClosed)
  const other = await w.addHolder()
  await w.work(other.holder)
  assert.equal(other.holder.count(), 1)
  assert.equal(openSockets(w).length, 1)
})

test('events queued when a holder stops are processed, and its close is not an event', async () => {
  const w = await sessionWorld()
  const { socket } = await w.talk()
  w.network.beforeClose = async () => {
    await socket.customerWrites(customerPhone, 'just before')
    await socket.close(428)
  }
  await w.holder.stop()
  assert.equal((await w.conversation()).unread_count, 2)
  assert.equal((await w.session()).state, 'open')
})

test('a stopping holder waits briefly for acknowledgements', async () => {
  const w = await sessionWorld()
  const { socket, conversationId } = await w.talk()
  w.network.acknowledges = false
  const posting = w.post(conversationId)
  const { id } = await w.network.arrived(1)
  const stopping = w.holder.stop()
  await socket.status(id, 2)
  assert.equal((await posting).body.status, 'sent')
  await stopping
  assert.ok(socket.isClosed)
})

test('the sessions of a dead process are taken over before its lease expires, after three checks', async () => {
  const w = await sessionWorld()
  const dying = await w.addHolder()
  await w.team('POST', `/${w.connectionId}/pair`, { method: 'qr' })
  await w.work(dying.holder)
  assert.equal(dying.holder.count(), 1)
  const other = await w.addHolder()
  assert.equal(await other.holder.lookForDead(), false)
  await dying.db.close()
  assert.deepEqual(
    [await other.holder.lookForDead(), await other.holder.lookForDead(), await other.holder.lookForDead()],
    [false, false, true],
  )
  await w.work(other.holder)
  assert.equal(other.holder.count(), 1)
})

test('a pairing continues in another process when its holder dies', async () => {
  const w = await sessionWorld()
  await w.team('POST', `/${w.connectionId}/pair`, { method: 'qr' })
  await w.work()
  await w.network.last().qr('of the first')
  await w.expireLease()
  const other = await w.addHolder()
  await w.work(other.holder)
  await w.network.last().qr('of the second')
  assert.equal((await w.session()).qr, 'of the second')
  await w.network.last().login()
  await w.network.last().close(515)
  await w.work(other.holder)
  await w.network.last().open('5511955509999')
  assert.equal((await w.session()).state, 'open')
})

test('concurrent processes claim a session once, and none while it is held', async () => {
  const w = await sessionWorld()
  await w.pair()
  const others = await Promise.all(Array.from({ length: 5 }, () => w.addHolder()))
  const claimed = async () => (await Promise.all(others.map(({ holder }) => holder.look()))).toSorted()
  assert.deepEqual(await claimed(), [0, 0, 0, 0, 0])
  assert.equal(openSockets(w).length, 1)
  await w.expireLease()
  assert.deepEqual(await claimed(), [0, 0, 0, 0, 1])
})
