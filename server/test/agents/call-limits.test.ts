import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../../src/config.ts'
import { agentsWorld } from '../support/agents/agents-world.ts'
import { startNode } from '../support/events/feed-world.ts'
import { callerOf } from '../support/world.ts'

test('HTTP calls, tool calls, resource reads and file reads share one rate limit', async () => {
  const w = await agentsWorld()
  const { id } = await w.customerWrites('Hello')
  const limits = { PARLEY_INBOX_RATE_LIMIT: '6', PARLEY_LEADS_RATE_LIMIT: '2' }
  const node = await startNode(w, { config: loadConfig({ ...limits, PARLEY_URL: w.config.http.publicUrl }) })
  const call = callerOf(node.app, w.agent.value)
  const rpc = (method: string, params: object) =>
    call('POST', '/mcp', { body: { jsonrpc: '2.0', id: 1, method, params } })
  const tool = (name: string, input = {}) => rpc('tools/call', { name, arguments: input })

  const { body: me } = await call('GET', '/api/v2/me')
  assert.deepEqual([me.limits.calls_per_minute, me.limits.calls_left], [6, 5])
  assert.equal((await call('GET', `/api/v2/conversations/${id}`)).status, 200)
  assert.equal((await tool('read_conversation', { conversation_id: id })).body.result.isError, undefined)
  assert.ok((await rpc('resources/read', { uri: `parley://conversations/${id}` })).body.result)
  assert.equal((await call('GET', `/api/v2/conversations/${id}/files/${id}`)).status, 404)
  assert.ok((await rpc('tools/list', {})).body.result)

  const refused = await call('GET', '/api/v2/conversations')
  assert.deepEqual([refused.status, JSON.parse(refused.body).code], [429, 'RATE_LIMITED'])
  assert.ok(Number(refused.headers['retry-after']) > 0)
  const { isError, content } = (await tool('read_conversation', { conversation_id: id })).body.result
  const problem = JSON.parse(content[0].text)
  assert.deepEqual([isError, problem.code, problem.retry_after_seconds > 0], [true, 'RATE_LIMITED', true])
  assert.ok((await rpc('resources/read', { uri: `parley://conversations/${id}` })).body.error)
  assert.equal((await rpc('tools/list', {})).status, 429)

  assert.equal((await call('GET', '/api/v2/leads')).status, 200, 'calls about leads are counted apart')
  assert.ok((await tool('find_leads')).body.result.structuredContent)
  assert.equal((await call('GET', '/api/v2/leads')).status, 429)
})
