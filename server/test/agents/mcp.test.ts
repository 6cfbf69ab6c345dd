import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonSchemaType } from '@modelcontextprotocol/client'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv'
import { verbs } from '../../src/agents/verbs/verbs.ts'
import { agentsWorld, verbNamed } from '../support/agents/agents-world.ts'
import { eras, mcpClient, textOf } from '../support/agents/mcp-client.ts'
import { filesWorld, png } from '../support/inbox/files-world.ts'
import { marina } from '../support/inbox/inbox-world.ts'
import { testTeamToken } from '../support/world.ts'

for (const era of eras) {
  test(`the official client lists the verbs of its key as tools, and calls one (${era})`, async () => {
    const w = await agentsWorld()
    const client = await mcpClient(w, w.agent.value, era)
    const { tools } = await client.listTools()
    assert.deepEqual(
      tools.map(({ name }) => name),
      verbs.map(({ name }) => name),
    )
    // Checked by the client against the tool's output schema.
    const answer = await client.callTool({ name: 'who_am_i' })
    assert.equal((answer.structuredContent as { owner: string }).owner, `agent:${w.agent.id}`)
    assert.deepEqual(textOf(answer), answer.structuredContent)
  })

  test(`a failure is an answer that a model can read and act on (${era})`, async () => {
    const w = await agentsWorld()
    const client = await mcpClient(w, w.agent.value, era)
    const answer = await client.callTool({ name: 'who_am_i', arguments: { secret: 1 } })
    assert.equal(answer.isError, true)
    assert.equal(answer.structuredContent, undefined)
    const problem = textOf(answer)
    assert.deepEqual(
      [problem.status, problem.code, problem.detail],
      [400, 'INVALID_REQUEST', 'secret is not a known field.'],
    )
    assert.ok(problem.next.length > 0)
  })

  test(`a tool that there is not is told by the protocol (${era})`, async () => {
    const w = await agentsWorld()
    const client = await mcpClient(w, w.agent.value, era)
    await assert.rejects(client.callTool({ name: 'drop_everything' }), { code: -32602 })
    await assert.rejects(client.getPrompt({ name: 'nothing' }), { code: -32602 })
    for (const uri of [
      'parley://conversations/1',
      'parley://keys/01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e',
      'file:///etc/passwd',
    ])
      await assert.rejects(client.readResource({ uri }), { code: -32602 })
  })

  test(`the prompt says the steps, and every tool that it names is there (${era})`, async () => {
    const w = await agentsWorld()
    const client = await mcpClient(w, w.agent.value, era)
    const { prompts } = await client.listPrompts()
    assert.deepEqual(
      prompts.map(({ name }) => name),
      ['answer_next_customer'],
    )
    const { messages } = await client.getPrompt({ name: 'answer_next_customer' })
    const words = JSON.stringify(messages) + client.getInstructions()
    const named = new Set(words.match(/\b(?!next_cursor)[a-z]+(?:_[a-z]+)+\b/g))
    for (const name of named) verbNamed(name)
    assert.ok(named.size >= 3)
  })
}

test('a tool says what it changes, and its schemas are plain JSON Schema', async () => {
  const w = await agentsWorld()
  const client = await mcpClient(w, w.agent.value)
  for (const tool of (await client.listTools()).tools) {
    const { hints, title } = verbNamed(tool.name)
    assert.deepEqual(tool.annotations, {
      title,
      readOnlyHint: hints.isReadOnly,
      destructiveHint: hints.isDestructive,
      idempotentHint: hints.isIdempotent,
      openWorldHint: hints.isDestructive,
    })
    assert.deepEqual([tool.inputSchema.type, tool.outputSchema?.type], ['object', 'object'])
    assert.doesNotMatch(JSON.stringify(tool), /"type":\[|"(?:discriminator|x-published)":|"example":"/)
  }
})

test('every tool takes and answers what its verb gives as an example', async () => {
  const w = await agentsWorld()
  const client = await mcpClient(w, w.agent.value)
  const validator = new AjvJsonSchemaValidator()
  for (const { name, inputSchema, outputSchema } of (await client.listTools()).tools) {
    const { example } = verbNamed(name)
    const takes = validator.getValidator(inputSchema as JsonSchemaType)
    const answers = validator.getValidator(outputSchema as JsonSchemaType)
    assert.equal(takes(example.input).errorMessage, undefined, name)
    assert.equal(answers(example.output).errorMessage, undefined, name)
    assert.equal(takes({ ...example.input, extra: 1 }).valid, false, name)
  }
})

test('a conversation and a lead are resources, for keys that may read them', async () => {
  const w = await agentsWorld()
  const { id } = await w.customerWrites('Where is my order?')
  const client = await mcpClient(w, w.agent.value)
  const { resourceTemplates } = await client.listResourceTemplates()
  assert.deepEqual(
    resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    ['parley://conversations/{id}', 'parley://leads/{id}', 'parley://conversations/{id}/files/{file_id}'],
  )
  const read = await client.readResource({ uri: `parley://conversations/${id}` })
  assert.match(JSON.stringify(read.contents), /Where is my order\?/)
  const { body } = await w.ask('create_lead', { first_name: 'Marina' })
  const lead = await client.readResource({ uri: `parley://leads/${body.lead.id}` })
  assert.match(JSON.stringify(lead.contents), /Marina/)

  const { value } = await w.addKey({ scopes: ['leads.read'] })
  const other = await mcpClient(w, value)
  assert.equal((await other.listResourceTemplates()).resourceTemplates.length, 1)
  await assert.rejects(other.readResource({ uri: `parley://conversations/${id}` }), /lacks scope inbox.read/)
  const stranger = await agentsWorld()
  await assert.rejects(
    (await mcpClient(stranger, stranger.agent.value)).readResource({ uri: `parley://conversations/${id}` }),
  )
})

test('a file of a message is a resource of its conversation, while it is small and the key sees it', async () => {
  const w = await filesWorld()
  const { value: key } = await w.addKey({ scopes: ['inbox.read'] })
  const { conversationId, mediaId } = await w.here(png)
  const client = await mcpClient(w, key)
  const uri = `parley://conversations/${conversationId}/files/${mediaId}`
  assert.deepEqual((await client.readResource({ uri })).contents, [
    { uri, mimeType: 'image/png', blob: png.toString('base64') },
  ])
  const large = await w.here(Buffer.concat([png, Buffer.alloc(2 * 1024 * 1024)]))
  const path = (file: { conversationId: string; mediaId: string }) =>
    `parley://conversations/${file.conversationId}/files/${file.mediaId}`
  await assert.rejects(client.readResource({ uri: path(large) }), /GET its path/)
  await assert.rejects(client.readResource({ uri: path({ conversationId: mediaId, mediaId }) }))
  await assert.rejects(client.readResource({ uri: `parley://leads/${conversationId}/files/${mediaId}` }), {
    code: -32602,
  })
  const { value: ofLeads } = await w.addKey({ scopes: ['leads.read'] })
  await assert.rejects((await mcpClient(w, ofLeads)).readResource({ uri }), /lacks scope inbox.read/)
  const { value: elsewhere } = await w.addKey({ scopes: ['inbox.read'], connectionIds: [await w.addConnection()] })
  await assert.rejects((await mcpClient(w, elsewhere)).readResource({ uri }))
})

test('a key is shown the tools of its scopes alone, and can call no other', async () => {
  const w = await agentsWorld()
  const { value } = await w.addKey({ scopes: ['leads.read'] })
  const client = await mcpClient(w, value)
  const shown = new Set((await client.listTools()).tools.map(({ name }) => name))
  for (const { name, scopes, example } of verbs) {
    assert.equal(shown.has(name), scopes.includes('leads.read'), name)
    if (shown.has(name)) continue
    const answer = await client.callTool({ name, arguments: example.input })
    assert.equal(textOf(answer).code, 'UNAUTHORIZED', name)
  }
})

test('without a valid key the answer is 401, and says where to read how keys are had', async () => {
  const w = await agentsWorld()
  const missing = await w.app.inject({ method: 'POST', url: '/mcp', payload: ping })
  assert.equal(missing.statusCode, 401)
  assert.equal(
    missing.headers['www-authenticate'],
    `Bearer resource_metadata="${w.config.http.publicUrl}/.well-known/oauth-protected-resource/mcp"`,
  )
  assert.equal(missing.json().jsonrpc, '2.0')
  const wrong = await w.call('POST', '/mcp', { key: 'plk_nobody', body: ping })
  assert.match(String(wrong.headers['www-authenticate']), /, error="invalid_token"$/)

  for (const url of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp']) {
    const { statusCode, headers, ...reply } = await w.app.inject({ url })
    assert.equal(statusCode, 200)
    assert.equal(headers['access-control-allow-origin'], '*')
    const { resource, bearer_methods_supported, authorization_servers } = reply.json()
    assert.deepEqual(
      [resource, bearer_methods_supported, authorization_servers],
      [`${w.config.http.publicUrl}/mcp`, ['header'], undefined],
    )
  }
})

test('a key that is revoked is let in no more', async () => {
  const w = await agentsWorld()
  const client = await mcpClient(w, w.agent.value)
  await client.callTool({ name: 'who_am_i' })
  const path = `/api/team/v1/workspaces/${w.workspaceId}/keys/${w.agent.id}`
  assert.equal((await w.call('DELETE', path, { key: testTeamToken })).status, 200)
  await assert.rejects(client.callTool({ name: 'who_am_i' }), /API key revoked/)
})

test('there are no streams, no sessions and no batches, and no page of another site gets in', async () => {
  const w = await agentsWorld()
  const headers = { accept: 'text/event-stream' }
  for (const method of ['GET', 'DELETE'] as const) {
    const { status, headers: answered } = await w.call(method, '/mcp', { headers })
    assert.deepEqual([status, answered.allow], [405, 'POST'], method)
  }
  const batch = await w.call('POST', '/mcp', { key: w.agent.value, body: [ping, ping] })
  assert.equal(batch.status, 400)
  const origins = { 'https://evil.example': 403, null: 403, [w.config.http.publicUrl]: 200 }
  for (const [origin, status] of Object.entries(origins)) {
    const answer = await w.call('POST', '/mcp', { key: w.agent.value, body: ping, headers: { origin } })
    assert.equal(answer.status, status, origin)
  }
  const { status, headers: answered } = await w.call('POST', '/mcp', { key: w.agent.value, body: initialize })
  assert.equal(status, 200)
  assert.match(String(answered['content-type']), /^application\/json/)
  assert.equal(answered['mcp-session-id'], undefined)
})

test('a call needs nothing that came before it, so that any process may answer it', async () => {
  const w = await agentsWorld()
  const body = { jsonrpc: '2.0', id: 'one', method: 'tools/call', params: { name: 'who_am_i' } }
  const answer = await w.call('POST', '/mcp', { key: w.agent.value, body })
  assert.deepEqual([answer.status, answer.body.id], [200, 'one'])
  assert.equal(answer.body.result.structuredContent.owner, `agent:${w.agent.id}`)
  const note = await w.call('POST', '/mcp', {
    key: w.agent.value,
    body: { jsonrpc: '2.0', method: 'notifications/initialized' },
  })
  assert.deepEqual([note.status, note.body], [202, ''])
})

test('whatever is no message of the protocol is refused as JSON-RPC', async () => {
  const w = await agentsWorld()
  for (const raw of ['', '{', '7', 'null', '{"jsonrpc":"2.0"}', '{"id":1,"method":"tools/list"}', '"tools/list"']) {
    const { status, body } = await w.call('POST', '/mcp', { key: w.agent.value, raw })
    assert.deepEqual([status, body.jsonrpc, typeof body.error?.code], [400, '2.0', 'number'], raw)
  }
  const deep = await w.call('POST', '/mcp', { key: w.agent.value, raw: '['.repeat(10_000) })
  assert.equal(deep.status, 400)
  const large = await w.call('POST', '/mcp', { key: w.agent.value, raw: `"${'x'.repeat(3 * 1024 * 1024)}"` })
  assert.equal(large.status, 413)
})

test('a tool brings a file of 2 MiB, which is for its conversation alone', async () => {
  const w = await agentsWorld()
  const { id: conversation_id } = await w.customerWrites('Show me')
  const client = await mcpClient(w, w.agent.value)
  // Bytes that are no picture may stand behind one.
  const file = Buffer.concat([png, Buffer.alloc(2 * 1024 * 1024 - png.length)])
  const upload = { conversation_id, kind: 'image', base64: file.toString('base64') }
  const brought = await client.callTool({ name: 'upload_file', arguments: upload })
  const { upload_id, type, bytes } = brought.structuredContent as Record<string, unknown>
  assert.deepEqual([type, bytes], ['image/png', file.length])
  const { id: elsewhere } = await w.customerWrites('Hi', { customer: { ...marina, phone: '5581990000001' } })
  const refused = await client.callTool({
    name: 'answer',
    arguments: { conversation_id: elsewhere, file: { upload_id } },
  })
  assert.deepEqual([refused.isError, textOf(refused).code], [true, 'INVALID_MESSAGE'])
  assert.match(textOf(refused).detail, /no upload of this conversation/)
})

test('the log tells of calls, and neither of keys nor of what was said', async () => {
  const w = await agentsWorld()
  const from = w.logLines.length
  await (await mcpClient(w, w.agent.value)).callTool({ name: 'who_am_i', arguments: { words: 'of a customer' } })
  const lines = w.logLines.slice(from).join('\n')
  assert.match(lines, /"route":"\/mcp"/)
  assert.ok(!lines.includes(w.agent.value) && !lines.includes('of a customer'))
})

test('a stream of changes is not to be had', async () => {
  const w = await agentsWorld()
  const client = await mcpClient(w, w.agent.value)
  await assert.rejects(client.listen({ toolsListChanged: true }))
})

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'tests', version: '1' } },
}
