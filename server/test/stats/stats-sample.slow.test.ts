import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fillConversations, fillUndecryptableMessages } from '../../../bench/fill.ts'
import { statementsOf } from '../support/database.ts'
import { inboxWorld } from '../support/inbox/inbox-world.ts'
import { signedInMember } from '../support/member.ts'
import { findBadPlans } from '../support/query-plans.ts'

test('with many conversations a sample is read, and messages only by conversation', async () => {
  const w = await inboxWorld()
  const member = await signedInMember(w)
  const filling = { ...w, keyring: await w.keyStore.keyring(w.workspaceId), now: w.clock.now() }
  const ids = await fillConversations(filling, { connectionId: w.connectionId, keyId: w.keyId, count: 4500 })
  // In parts: a statement has 15 s.
  for (let n = 0; n < ids.length; n += 900) await fillUndecryptableMessages(filling, ids.slice(n, n + 900), 4)
  // Each customer wrote twice, and was answered a minute later each time.
  await w.db
    .sql`update messages set actor_type = 'agent' where direction = 'outbound' and workspace_id = ${w.workspaceId}`
  await w.db.sql`analyze messages`
  await w.db.sql`analyze conversations`
  let found = { sampledEvery: 0, agents: { answers: 0, medianSeconds: 0 } }
  const statements = await statementsOf(async () => {
    found = (await member.call('GET', '/stats')).body.answers
  })
  assert.deepEqual([found.sampledEvery, found.agents.medianSeconds], [3, 60])
  assert.ok(Math.abs(found.agents.answers - 9000) < 9000 * 0.15, `${found.agents.answers} answers`)
  const read = statements.filter(({ text }) => text.includes('messages'))
  assert.deepEqual(await findBadPlans(w.db, read, ['messages']), [])
})
