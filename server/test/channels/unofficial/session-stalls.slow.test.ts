import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDistributed } from '../../../src/base/citus/distributed-sql.ts'
import type { Tx } from '../../../src/base/db.ts'
import { enqueueSend } from '../../../src/channels/unofficial/send/sends.ts'
import {
  claimSessions,
  type Lease,
  leaseMs,
  requireLease,
} from '../../../src/channels/unofficial/session/session-lease.ts'
import { sessionWorld } from '../../support/channels/session-world.ts'
import { openNode, skipIfDistributed, testDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'

// Slow: the database ends a stalled transaction only after some seconds.

test(
  'a process that stalls with the session locked keeps it from nobody for longer than its lease',
  skipIfDistributed('several servers take as long as a lease to begin its sessions'),
  async () => {
    const w = await sessionWorld()
    await w.pair()
    const { db, workspaceId, connectionId } = w
    const [row] = await db.sql<{ fence: number }[]>`
      select fence from channel_sessions where connection_id = ${connectionId}`
    assert.ok(row)
    await w.expireLease()
    const lease: Lease = { workspaceId, connectionId, fence: row.fence }
    const { pool, isCut } = await stalledProcess((tx) => requireLease(tx, lease))
    const startedAt = performance.now()
    const claim = () => db.statement((tx) => claimSessions(tx, 10, isDistributed(tx) ? workspaceId : null))
    await until(async () => (await claim()).length > 0, 'a claim')
    assert.ok(performance.now() - startedAt < leaseMs)
    await assert.rejects(isCut)
    await pool.close()
  },
)

test('a process that stalls while enqueueing does not block the session', async () => {
  const w = await sessionWorld()
  await w.startConversation()
  const { db, workspaceId, connectionId } = w
  const keyring = await w.keyStore.keyring(workspaceId)
  const send = { workspaceId, connectionId, id: 'x', kind: 'message', correlator: 'x' } as const
  const content = { jid: 'x', text: 'x', previewUrl: false }
  const { release } = await stalledProcess((tx) =>
    enqueueSend(tx, keyring, { ...send, content, leftMs: () => 1_000 }, w.clock.now()),
  )
  await w.expireLease()
  assert.equal((await db.statement((tx) => claimSessions(tx, 10, isDistributed(tx) ? w.workspaceId : null))).length, 1)
  await release()
})

/** A process that stalls within a transaction that started like this. */
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
