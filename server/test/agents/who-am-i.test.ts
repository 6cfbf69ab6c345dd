import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentsWorld } from '../support/agents/agents-world.ts'

test('a key learns its own id, scopes, connections and workspace, and what to do first', async () => {
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
})

test('a key learns what amounts are in, once somebody has said', async () => {
  const w = await agentsWorld()
  assert.equal((await w.ask('who_am_i')).body.workspace.currency, null)
  await w.db.sql`update workspaces set currency = 'BRL' where id = ${w.workspaceId}`
  assert.equal((await w.ask('who_am_i')).body.workspace.currency, 'BRL')
})

test('a key is shown its own connections alone', async () => {
  const w = await agentsWorld()
  const other = await w.addConnection()
  const { value } = await w.addKey({ scopes: ['inbox.read'], connectionIds: [other] })
  const { body } = await w.ask('who_am_i', {}, value)
  assert.deepEqual(
    body.connections.map(({ id }: { id: string }) => id),
    [other],
  )
})

test('a refusal is a problem that says what to do next', async () => {
  const w = await agentsWorld()
  const { status, body, headers } = await w.ask('who_am_i', {}, 'plk_nobody')
  assert.equal(status, 401)
  assert.match(String(headers['content-type']), /^application\/problem\+json/)
  assert.deepEqual([body.status, body.title, body.code], [401, 'Unauthorized', 'UNAUTHORIZED'])
  assert.ok(body.next.length > 0)
})

test('an address that is none is a problem as well', async () => {
  const w = await agentsWorld()
  const { status, body } = await w.call('GET', '/api/v2/nothing')
  assert.deepEqual([status, JSON.parse(body).code], [404, 'NOT_FOUND'])
})
