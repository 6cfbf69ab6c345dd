import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentsWorld } from '../support/agents/agents-world.ts'

test('a key learns its own id, scopes, connections and workspace, what amounts are in, and what to do first', async () => {
  const w = await agentsWorld()
  const { status, body } = await w.ask('who_am_i')
  assert.equal(status, 200)
  assert.equal(body.owner, `agent:${w.agent.id}`)
  assert.deepEqual(body.key.scopes, ['leads.read', 'leads.write', 'inbox.read', 'inbox.write'])
  assert.deepEqual(
    body.connections.map(({ id }: { id: string }) => id),
    [w.connectionId],
  )
  assert.equal(body.workspace.id, w.workspaceId)
  assert.match(body.next[0], /wait_for_work/)
  assert.equal(body.workspace.currency, null)

  await w.db.sql`update workspaces set currency = 'BRL' where id = ${w.workspaceId}`
  const other = await w.addConnection()
  const { value } = await w.addKey({ scopes: ['inbox.read'], connectionIds: [other] })
  const { body: seen } = await w.ask('who_am_i', {}, value)
  assert.deepEqual([seen.connections.length, seen.connections[0].id], [1, other], 'its own connections alone')
  assert.equal(seen.workspace.currency, 'BRL')
})
