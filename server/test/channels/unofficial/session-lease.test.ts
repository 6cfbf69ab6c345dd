import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Tx } from '../../../src/base/db.ts'
import { isSpread } from '../../../src/base/distribution/spread.ts'
import type { Keyring } from '../../../src/base/sealing/keyring.ts'
import { askHolder } from '../../../src/channels/unofficial/send/sends.ts'
import {
  claimSessions,
  type Lease,
  LeaseLost,
  leaseMs,
  standBehindFence,
} from '../../../src/channels/unofficial/session/lease.ts'
import { lockOrBeginSession } from '../../../src/channels/unofficial/session/session-queries.ts'
import { transitionSession } from '../../../src/channels/unofficial/session/session-transition.ts'
import { customerPhone, type SessionWorld, sessionWorld } from '../../support/channels/session-world.ts'
import { openNode, testDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'

const openSockets = ({ network }: SessionWorld) => network.sockets.filter(({ isClosed }) => !isClosed)

test('of two processes one holds a session, and the other has no socket', async () => {
  const w = await sessionWorld()
  await w.pair()
  const other = await w.addHolder()
  await w.work(other.holder)
  assert.equal(other.holder.count(), 0)
  assert.equal(openSockets(w).length, 1)
})

test('when the holder no longer renews, another takes over as the same device; the old one hands on and writes nothing', async () => {
  const w = await sessionWorld()
  const { socket: old, conversationId } = await w.talk()
  await w.expireLease()
  const other = await w.addHolder()
  await w.work(other.holder)
  const next = w.network.last()
  assert.notEqual(next, old)
  await next.open()
  await w.work(other.holder)

  // The old one was stalled: it wakes, hears, and wants to keep its keys.
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

test('a close that the old holder hears stops nothing', async () => {
  const w = await sessionWorld()
  const old = await w.pair()
  await w.expireLease()
  const other = await w.addHolder()
  await w.work(other.holder)
  await w.network.last().open()
  await old.close(440)
  await w.holder.idle()
  assert.equal((await w.session()).state, 'open')
  assert.equal((await w.connection()).state, 'active')
})

test('a holder learns by renewing that it has lost the session, and closes its socket', async () => {
  const w = await sessionWorld()
  const old = await w.pair()
  await w.expireLease()
  const other = await w.addHolder()
  await other.holder.look()
  await w.holder.renew()
  assert.ok(old.isClosed)
  assert.equal(w.holder.count(), 0)
})

test('a holder that cannot reach the database closes its socket before its lease ends', async (t) => {
  const w = await sessionWorld()
  const socket = await w.pair()
  const now = performance.now.bind(performance)
  let aheadMs = 9_000
  t.mock.method(performance, 'now', () => now() + aheadMs)
  w.holder.tick()
  assert.equal(socket.isClosed, false)
  aheadMs = 10_001
  w.holder.tick()
  assert.ok(socket.isClosed)
  t.mock.restoreAll()
})

test('a holder that stops gives the session back at once', async () => {
  const w = await sessionWorld()
  const socket = await w.pair()
  await w.holder.stop()
  assert.ok(socket.isClosed)
  const other = await w.addHolder()
  await w.work(other.holder)
  assert.equal(other.holder.count(), 1)
  assert.equal(w.network.sockets.filter(({ isClosed }) => !isClosed).length, 1)
})

test('what waits to be heard when a holder stops is heard, and its end is no news', async () => {
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

test('a holder that stops waits a little for the word on what has just left', async () => {
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

test('the sessions of a dead process are taken over before its lease ends, once it was seen dead three times', async () => {
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

test('a pairing goes on with another process when its holder dies', async () => {
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

test('many processes that look at the same moment claim a session once', async () => {
  const w = await sessionWorld()
  await w.pair()
  await w.expireLease()
  const others = await Promise.all(Array.from({ length: 5 }, () => w.addHolder()))
  const claimed = await Promise.all(others.map(({ holder }) => holder.look()))
  assert.equal(
    claimed.reduce((sum, count) => sum + count, 0),
    1,
  )
})

test('a process that stalls with the session locked keeps it from nobody for longer than its lease', async () => {
  const stalls: [what: string, lock: (tx: Tx, w: SessionWorld, lease: Lease, keyring: Keyring) => Promise<unknown>][] =
    [
      ['keys are written', (tx, _w, lease) => standBehindFence(tx, lease)],
      ['the session is changed', (tx, w, lease, keyring) => transitionSession(tx, keyring, lease, {}, w.clock.now())],
      [
        'a member asks',
        (tx, w, { workspaceId, connectionId }, keyring) =>
          lockOrBeginSession(tx, keyring, workspaceId, connectionId, w.clock.now()),
      ],
    ]
  const begin = async ([what, lock]: (typeof stalls)[number]) => {
    const w = await sessionWorld()
    await w.pair()
    const { db, workspaceId, connectionId } = w
    const standing = async () => {
      const [row] = await db.sql<{ fence: number }[]>`
        select fence from channel_sessions where connection_id = ${connectionId}`
      return row?.fence ?? 0
    }
    const fence = await standing()
    const keyring = await w.vault.keyring(workspaceId)
    await w.expireLease()
    const { pool, isCut } = await stalledProcess((tx) => lock(tx, w, { workspaceId, connectionId, fence }, keyring))
    const startedAt = performance.now()
    const isClaimed = async () => {
      await db.statement((tx) => claimSessions(tx, 10, isSpread(tx) ? w.workspaceId : null))
      return (await standing()) > fence
    }
    return async () => {
      await until(isClaimed, `a claim while ${what}`)
      assert.ok(performance.now() - startedAt < leaseMs, what)
      await assert.rejects(isCut)
      await pool.close()
    }
  }
  // One is paired and locked before the next: a holder would take up another's session meanwhile.
  const ends: (() => Promise<void>)[] = []
  for (const stall of stalls) ends.push(await begin(stall))
  await Promise.all(ends.map((end) => end()))
})

test('who asks for a send and stalls keeps the session from nobody', async () => {
  const w = await sessionWorld()
  await w.talk()
  const { db, workspaceId, connectionId } = w
  const keyring = await w.vault.keyring(workspaceId)
  const send = { workspaceId, connectionId, id: 'x', kind: 'message', correlator: 'x' } as const
  const content = { jid: 'x', text: 'x', previewUrl: false }
  const { release } = await stalledProcess((tx) =>
    askHolder(tx, keyring, { ...send, content, leftMs: () => 1_000 }, w.clock.now()),
  )
  await w.expireLease()
  assert.equal((await db.statement((tx) => claimSessions(tx, 10, isSpread(tx) ? w.workspaceId : null))).length, 1)
  await release()
})

/** A process of which nothing more is heard in the midst of a transaction that has begun like this. */
async function stalledProcess(begin: (tx: Tx) => Promise<unknown>) {
  const pool = openNode((await testDatabase()).options)
  const begun = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()
  const isCut = pool.tx(async (tx) => {
    await begin(tx)
    begun.resolve()
    await end.promise
  })
  isCut.catch(begun.reject)
  await begun.promise
  const release = async () => {
    end.resolve()
    await isCut
    await pool.close()
  }
  return { pool, isCut, release }
}
