import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assumeDistributed } from '../../../src/base/citus/distributed-sql.ts'
import { claimQueues, listClaimable } from '../../../src/webhooks/endpoint/queue-queries.ts'
import { type WebhookWorld, webhookWorld } from '../../support/webhooks/webhook-world.ts'

// The statements for Citus also work on a single server, which makes them testable here.
async function spreadWorld(): Promise<WebhookWorld> {
  const w = await webhookWorld()
  assumeDistributed(w.db.sql)
  return w
}

test('under Citus, one of many concurrent claims of a queue wins, and the others do not wait', async () => {
  const w = await spreadWorld()
  await w.recordEach(1)
  await w.sequencer.sequence(w.workspaceId)
  const now = w.clock.now()
  const listed = await Promise.all(Array.from({ length: 8 }, () => listClaimable(w.db.sql, [w.workspaceId], 10, now)))
  assert.deepEqual(
    listed,
    Array.from({ length: 8 }, () => [w.workspaceId]),
  )
  const claims = await Promise.all(
    listed.flat().map((workspaceId) => w.db.statement((tx) => claimQueues(tx, 'all', 10, now, workspaceId))),
  )
  assert.equal(claims.flat().length, 1)
  assert.deepEqual(await listClaimable(w.db.sql, [w.workspaceId], 10, now), [])
})
