import assert from 'node:assert/strict'
import { test } from 'node:test'
import { customerPhone, newShopPhone, type SessionWorld, sessionWorld } from '../../support/channels/session-world.ts'
import { signedInMember } from '../../support/member.ts'

test('pairing by QR: each code is shown until the next, then a restart, then the session is open', async () => {
  const w = await sessionWorld()
  const phone = newShopPhone()
  const never = { state: 'unpaired', reason: 'never_paired', paired: false, phone: null, qr: null }
  assert.partialDeepStrictEqual(await w.session(), never)
  assert.equal((await w.connection()).stateReason, 'never_paired')
  assert.equal((await w.team('POST', `/${w.connectionId}/pair`, { method: 'qr' })).status, 202)
  await w.work()
  const first = w.network.last()
  await first.qr('first code')
  const shown = await w.session()
  assert.deepEqual([shown.state, shown.method, shown.qr], ['pairing', 'qr', 'first code'])
  assert.equal(shown.shownUntil, new Date(w.clock.now().getTime() + 60_000).toISOString())
  await first.qr('second code')
  assert.equal((await w.session()).qr, 'second code')
  assert.equal((await w.session()).shownUntil, new Date(w.clock.now().getTime() + 20_000).toISOString())
  assert.equal((await w.connection()).stateReason, 'pairing')
  w.clock.advance(20_001)
  assert.equal((await w.session()).qr, null, 'a code that is over is not shown')

  await first.qr('third code')
  await first.login()
  assert.equal((await w.session()).qr, null)
  await first.close(515)
  await w.work()
  const second = w.network.last()
  assert.notEqual(second, first)
  assert.ok(first.isClosed)
  await second.open(phone)
  const open = await w.session()
  assert.deepEqual([open.state, open.reason, open.paired, open.phone], ['open', null, true, phone])
  const connection = await w.connection()
  assert.deepEqual([connection.state, connection.stateReason, connection.numberId], ['active', null, phone])
  assert.ok(second.device !== null, 'the second socket is the device that was linked')
})

test('pairing by code: the code is requested once, with the phone in digits', async () => {
  const w = await sessionWorld()
  const asked = await w.team('POST', `/${w.connectionId}/pair`, { method: 'code', phone: '+55 11 95550-1234' })
  assert.equal(asked.status, 202)
  await w.work()
  await w.network.last().qr('not shown')
  await w.network.last().qr('not shown either')
  await w.work()
  assert.deepEqual(w.network.pairingCodes, ['5511955501234'])
  const { method, qr, pairingCode } = await w.session()
  assert.deepEqual({ method, qr, pairingCode }, { method: 'code', qr: null, pairingCode: 'K7QX2M9P' })
  const wrong = await w.team('POST', `/${w.connectionId}/pair`, { method: 'code', phone: 'abc' })
  assert.equal(wrong.status, 400)
  assert.equal(wrong.body.data.issues[0].path, 'phone')
})

test('a pairing without a scan ends, and can be started again', async () => {
  const w = await sessionWorld()
  await w.team('POST', `/${w.connectionId}/pair`, { method: 'qr' })
  await w.work()
  await w.network.last().qr('code')
  await w.network.last().close(408)
  await w.work()
  const { state, reason } = await w.session()
  assert.deepEqual({ state, reason }, { state: 'stopped', reason: 'pairing_ended' })
  assert.equal(w.network.sockets.length, 1)
  await w.pair()
  assert.equal((await w.session()).state, 'open')
})

test('a person confirms the risk of a paired number; a new pairing unlinks the old device, deletes its keys and voids the confirmation', async () => {
  const w = await sessionWorld()
  const old = await w.pair()
  const member = await signedInMember(w)
  const confirmed = await member.call('POST', `/connections/${w.connectionId}/acknowledge`)
  assert.equal(confirmed.body.connection.acknowledgement.by, member.userId)
  await w.team('POST', `/${w.connectionId}/pair`, { method: 'qr' })
  assert.equal((await w.connection()).state, 'unavailable')
  await w.work()
  assert.equal(w.network.logouts, 1)
  assert.ok(old.isClosed)
  const fresh = w.network.last()
  assert.equal(fresh.device, null)
  await fresh.qr('code')
  await fresh.login()
  await fresh.close(515)
  await w.work()
  await w.network.last().open(newShopPhone())
  assert.equal((await w.connection()).acknowledgement, null)
  assert.equal((await w.connection()).state, 'active')
})

test('unpairing logs out and deletes the keys; messages received meanwhile are not lost', async () => {
  const w = await sessionWorld()
  const { socket } = await w.startConversation()
  w.network.beforeLogout = async () => {
    await socket.customerWrites(customerPhone, 'one more thing')
    await socket.close(401)
  }
  const answer = await w.team('POST', `/${w.connectionId}/unpair`)
  assert.equal(answer.status, 202)
  const unlinked = { state: 'unpaired', reason: 'logged_out', paired: false, phone: null }
  assert.partialDeepStrictEqual(answer.body.session, unlinked)
  assert.partialDeepStrictEqual(await w.session(), unlinked, 'before the holder has come to it')
  await w.work()
  assert.equal(w.network.logouts, 1)
  assert.ok(socket.isClosed)
  assert.partialDeepStrictEqual(await w.session(), unlinked)
  const [keys] = await w.db.sql`select count(*) as count from session_keys where connection_id = ${w.connectionId}`
  assert.equal(keys?.count, 0)
  assert.equal(w.manager.count(), 0)
  assert.equal((await w.conversation()).unread_count, 2)
})

test('a removed connection logs out and deletes its session', async () => {
  const w = await sessionWorld()
  await w.pair()
  assert.equal((await w.team('DELETE', `/${w.connectionId}`)).status, 200)
  await w.work()
  assert.equal(w.network.logouts, 1)
  const rows = await w.db.sql`select state from channel_sessions where connection_id = ${w.connectionId}`
  assert.equal(rows.length, 0)
})

test('a phone that is already connected cannot be linked to another connection', async () => {
  const w = await sessionWorld()
  const phone = newShopPhone()
  await w.pair(phone)
  const other = await sessionWorld()
  await other.pair(phone)
  await other.work()
  const { state, reason, paired } = await other.session()
  assert.deepEqual({ state, reason, paired }, { state: 'stopped', reason: 'number_taken', paired: false })
  assert.equal(other.network.logouts, 1)
  assert.equal((await other.connection()).numberId, other.connectionId)
  assert.equal((await w.session()).state, 'open')
})

test('another workspace cannot see a session, and only QR connections have one', async () => {
  const [w, other] = [await sessionWorld(), await sessionWorld()]
  const statuses = async (by: SessionWorld) => [
    (await by.team('GET', `/${w.connectionId}/session`)).status,
    (await by.team('POST', `/${w.connectionId}/pair`, { method: 'qr' })).status,
    (await by.team('POST', `/${w.connectionId}/unpair`)).status,
  ]
  assert.deepEqual(await statuses(other), [404, 404, 404])
  assert.equal((await w.session()).state, 'unpaired')
  await w.db.sql`update connections set channel = 'partner' where id = ${w.connectionId}`
  assert.deepEqual(await statuses(w), [409, 409, 409])
})

test("members can read a session's state; only admins can pair it and see pairing codes", async () => {
  const w = await sessionWorld()
  const [member, admin] = [await signedInMember(w), await signedInMember(w, 'admin')]
  const path = `/connections/${w.connectionId}`
  assert.equal((await member.call('POST', `${path}/pair`, { method: 'qr' })).status, 403)
  assert.equal((await admin.call('POST', `${path}/pair`, { method: 'qr' })).status, 202)
  await w.work()
  await w.network.last().qr('code')
  assert.equal((await admin.call('GET', `${path}/session`)).body.session.qr, 'code')
  const seen = (await member.call('GET', `${path}/session`)).body.session
  assert.deepEqual([seen.state, seen.qr, seen.shownUntil], ['pairing', null, null])
  assert.equal((await member.call('POST', `${path}/unpair`)).status, 403)
})
