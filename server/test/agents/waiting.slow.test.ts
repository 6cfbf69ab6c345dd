import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentsWorld } from '../support/agents/agents-world.ts'

test('a timeout returns no work, and the cursor misses nothing', async () => {
  const w = await agentsWorld()
  const { body } = await w.callTool('wait_for_work', { wait: 1 })
  assert.deepEqual([body.work, body.has_more, body.agents_stopped], [[], false, false])
  await w.customerWrites('Hello')
  const next = await w.callTool('wait_for_work', { wait: 0, cursor: body.next_cursor })
  assert.equal(next.body.work[0].messages[0].customer_text, 'Hello')
})
