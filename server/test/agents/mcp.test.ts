import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentsWorld, findTool } from '../support/agents/agents-world.ts'
import { connected, eras, mcpClient, overHttp, toolCaller } from '../support/agents/mcp-client.ts'
import { waitingNode } from '../support/agents/waiting-node.ts'
import { filesWorld, png } from '../support/inbox/files-world.ts'
import { marina } from '../support/inbox/inbox-world.ts'
import { pick } from '../support/pick.ts'

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
const initialize = {
  ...ping,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'tests', version: '1' } },
}

for (const era of eras) {
  test(`tool errors are results that a model can read (${era})`, async () => {
    const w = await agentsWorld()
    const call = toolCaller(await mcpClient(w, w.agent.value, era))
    const { isError, structuredContent, read } = await call('who_am_i', { secret: 1 })
    assert.deepEqual([isError, structuredContent], [true, undefined])
    assert.deepEqual([read.status, read.code, read.detail], [400, 'INVALID_REQUEST', 'secret is not a known field.'])
    assert.ok(read.next.length > 0)
  })

  test(`unknown tools, prompts and resources are protocol errors (${era})`, async () => {
    const w = await agentsWorld()
    const client = await mcpClient(w, w.agent.value, era)
    await assert.rejects(client.callTool({ name: 'drop_everything' }), { code: -32602 })
    await assert.rejects(client.getPrompt({ name: 'nothing' }), { code: -32602 })
    const key = 'parley://keys/01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'
    for (const uri of ['parley://conversations/1', key, 'file:///etc/passwd'])
      await assert.rejects(client.readResource({ uri }), { code: -32602 })
  })

  test(`the prompt and the instructions name only existing tools (${era})`, async () => {
    const w = await agentsWorld()
    const client = await mcpClient(w, w.agent.value, era)
    const { prompts } = await client.listPrompts()
    assert.deepEqual(pick(prompts, 'name'), ['answer_next_customer'])
    const { messages } = await client.getPrompt({ name: 'answer_next_customer' })
    const words = JSON.stringify(messages) + client.getInstructions()
    // Names of fields are in backticks; values are excluded by name.
    const named = new Set(words.match(/(?<!`)\b(?!next_cursor|another_agent)[a-z]+(?:_[a-z]+)+\b/g))
    for (const name of named) findTool(name)
    assert.ok(named.size >= 3)
  })

  test(`a waiting call returns new messages, and a disconnect frees its slot (${era})`, async () => {
    const w = await agentsWorld()
    const node = await waitingNode(w)
    const client = await connected(era, (one) => one.connect(overHttp(node.url, w.agent.value)))
    const heard = toolCaller(client)('wait_for_work')
    await node.hasQueried(1)
    await w.customerWrites('Hello')
    const { read } = await heard
    assert.equal(read.work[0].messages[0].customer_text, 'Hello')

    const asked = node.queries.work
    const input = { cursor: read.next_cursor }
    const calls = Array.from({ length: 10 }, () => client.callTool({ name: 'wait_for_work', arguments: input }))
    await node.hasQueried(asked + 10)
    assert.equal((await node.sendWait({ wait: 1 })).status, 429)
    await Promise.all([...calls.map((call) => assert.rejects(call)), client.close()])
    await node.hasAtMostOpen(0)
    await node.wait(input)
  })
}

test('an internal error returns only a request id, and is logged', async () => {
  const w = await agentsWorld()
  const call = toolCaller(await mcpClient(w, w.agent.value))
  await w.db.tx((tx) => tx`alter table labels rename to secret_labels`)
  try {
    const { isError, read } = await call('list_labels')
    assert.deepEqual([isError, read.status, read.code], [true, 500, 'INTERNAL'])
    assert.doesNotMatch(JSON.stringify(read), /labels/)
    const line = w.logLines.find((each) => each.includes('MCP request failed')) ?? ''
    assert.ok(line.includes(read.request_id) && line.includes('list_labels'), line)
  } finally {
    await w.db.tx((tx) => tx`alter table secret_labels rename to labels`)
  }
})

test('conversations and leads are resources for keys that can read them', async () => {
  const w = await agentsWorld()
  const { id } = await w.customerWrites('Where is my order?')
  const client = await mcpClient(w, w.agent.value)
  const { resourceTemplates } = await client.listResourceTemplates()
  assert.deepEqual(pick(resourceTemplates, 'uriTemplate'), [
    'parley://conversations/{id}',
    'parley://leads/{id}',
    'parley://articles/{id}',
    'parley://conversations/{id}/files/{file_id}',
  ])
  const uri = `parley://conversations/${id}`
  assert.match(JSON.stringify(await client.readResource({ uri })), /Where is my order\?/)
  const { body } = await w.callTool('create_lead', { first_name: 'Marina' })
  assert.match(JSON.stringify(await client.readResource({ uri: `parley://leads/${body.lead.id}` })), /Marina/)

  const { value } = await w.addKey({ scopes: ['leads.read'] })
  const other = await mcpClient(w, value)
  assert.equal((await other.listResourceTemplates()).resourceTemplates.length, 1)
  await assert.rejects(other.readResource({ uri }), /lacks scope inbox.read/)
  const stranger = await agentsWorld()
  await assert.rejects((await mcpClient(stranger, stranger.agent.value)).readResource({ uri }))
})

test('a small file of a message is a resource of its conversation', async () => {
  const w = await filesWorld()
  const clientOf = async (settings: Parameters<typeof w.addKey>[0]) => mcpClient(w, (await w.addKey(settings)).value)
  const client = await clientOf({ scopes: ['inbox.read'] })
  const path = (file: { conversationId: string; mediaId: string }) =>
    `parley://conversations/${file.conversationId}/files/${file.mediaId}`
  const file = await w.here(png)
  const uri = path(file)
  assert.deepEqual((await client.readResource({ uri })).contents, [
    { uri, mimeType: 'image/png', blob: png.toString('base64') },
  ])
  const large = await w.here(Buffer.concat([png, Buffer.alloc(2 * 1024 * 1024)]))
  await assert.rejects(client.readResource({ uri: path(large) }), /GET of its path/)
  await assert.rejects(client.readResource({ uri: path({ ...file, conversationId: file.mediaId }) }))
  await assert.rejects(client.readResource({ uri: uri.replace('conversations', 'leads') }), { code: -32602 })
  const ofLeads = await clientOf({ scopes: ['leads.read'] })
  await assert.rejects(ofLeads.readResource({ uri }), /lacks scope inbox.read/)
  const elsewhere = await clientOf({ scopes: ['inbox.read'], connectionIds: [await w.addConnection()] })
  await assert.rejects(elsewhere.readResource({ uri }))
})

test('upload_file accepts 2 MiB, for one conversation only', async () => {
  const w = await agentsWorld()
  const { id: conversation_id } = await w.customerWrites('Show me')
  const call = toolCaller(await mcpClient(w, w.agent.value))
  // Bytes after an image are allowed.
  const file = Buffer.concat([png, Buffer.alloc(2 * 1024 * 1024 - png.length)])
  const { read } = await call('upload_file', { conversation_id, kind: 'image', base64: file.toString('base64') })
  assert.deepEqual([read.type, read.bytes], ['image/png', file.length])
  const { id: elsewhere } = await w.customerWrites('Hi', { customer: { ...marina, phone: '5581990000001' } })
  const refused = await call('answer', { conversation_id: elsewhere, file: { upload_id: read.upload_id } })
  assert.deepEqual([refused.isError, refused.read.code], [true, 'INVALID_MESSAGE'])
  assert.match(refused.read.detail, /not an upload of this conversation/)
})

test('an invalid key gets 401 with the URL of the metadata', async () => {
  const w = await agentsWorld()
  const missing = await w.app.inject({ method: 'POST', url: '/mcp', payload: ping })
  assert.equal(missing.statusCode, 401)
  assert.equal(
    missing.headers['www-authenticate'],
    `Bearer resource_metadata="${w.config.http.publicUrl}/.well-known/oauth-protected-resource/mcp", scope="leads.read leads.write inbox.read inbox.write knowledge.read"`,
  )
  assert.equal(missing.json().jsonrpc, '2.0')
  const wrong = await w.call('POST', '/mcp', { key: 'plk_nobody', body: ping })
  assert.match(String(wrong.headers['www-authenticate']), /, error="invalid_token"$/)

  for (const url of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp']) {
    const { statusCode, headers, ...reply } = await w.app.inject({ url })
    assert.deepEqual([statusCode, headers['access-control-allow-origin']], [200, '*'])
    const { resource, bearer_methods_supported, authorization_servers } = reply.json()
    assert.deepEqual(
      [resource, bearer_methods_supported, authorization_servers],
      [`${w.config.http.publicUrl}/mcp`, ['header'], [w.config.http.publicUrl]],
    )
  }
})

test('streams, sessions, batches and other origins are rejected', async () => {
  const w = await agentsWorld()
  const send = (body: object, headers = {}) => w.call('POST', '/mcp', { key: w.agent.value, body, headers })
  for (const method of ['GET', 'DELETE'] as const) {
    const { status, headers } = await w.call(method, '/mcp', { headers: { accept: 'text/event-stream' } })
    assert.deepEqual([status, headers.allow], [405, 'POST'], method)
  }
  const client = await mcpClient(w, w.agent.value)
  await assert.rejects(client.listen({ toolsListChanged: true }))
  assert.equal((await send([ping, ping])).status, 400)
  const origins = { 'https://evil.example': 403, null: 403, [w.config.http.publicUrl]: 200 }
  for (const [origin, status] of Object.entries(origins)) {
    assert.equal((await send(ping, { origin })).status, status, origin)
  }
  const { status, headers } = await send(initialize)
  assert.deepEqual([status, headers['mcp-session-id']], [200, undefined])
  assert.match(String(headers['content-type']), /^application\/json/)
})

test('calls are stateless, so that any process can serve them', async () => {
  const w = await agentsWorld()
  const send = (body: object) => w.call('POST', '/mcp', { key: w.agent.value, body })
  const { status, body } = await send({ ...ping, id: 'one', method: 'tools/call', params: { name: 'who_am_i' } })
  assert.deepEqual([status, body.id], [200, 'one'])
  assert.equal(body.result.structuredContent.owner, `agent:${w.agent.id}`)
  const note = await send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  assert.deepEqual([note.status, note.body], [202, ''])
})

test('invalid messages are rejected as JSON-RPC errors', async () => {
  const w = await agentsWorld()
  const send = (raw: string) => w.call('POST', '/mcp', { key: w.agent.value, raw })
  for (const raw of ['', '{', '7', 'null', '{"jsonrpc":"2.0"}', '{"id":1,"method":"tools/list"}', '"tools/list"']) {
    const { status, body } = await send(raw)
    assert.deepEqual([status, body.jsonrpc, typeof body.error?.code], [400, '2.0', 'number'], raw)
  }
  assert.equal((await send('['.repeat(10_000))).status, 400)
  assert.equal((await send(`"${'x'.repeat(3 * 1024 * 1024)}"`)).status, 413)
})

test('a message includes the path of its file, for keys that see the conversation', async () => {
  const w = await filesWorld()
  const { value: key } = await w.addKey({ scopes: ['inbox.read'] })
  const { conversationId } = await w.here(png, { name: 'receipt.png' })
  const read = await w.call('GET', `/api/v2/conversations/${conversationId}`, { key })
  const { file } = read.body.messages.at(-1)
  assert.deepEqual(
    [file.kind, file.state, file.type, file.customer_file_name],
    ['image', 'here', 'image/png', 'receipt.png'],
  )
  const reply = await w.app.inject({ url: file.path, headers: { authorization: `Bearer ${key}` } })
  assert.equal(reply.statusCode, 200)
  assert.deepEqual(reply.rawPayload, png)

  const other = await w.addConnection()
  const { value: elsewhere } = await w.addKey({ scopes: ['inbox.read'], connectionIds: [other] })
  assert.equal((await w.call('GET', file.path, { key: elsewhere })).status, 404)
  const { value: ofLeads } = await w.addKey({ scopes: ['leads.read'] })
  assert.equal((await w.call('GET', file.path, { key: ofLeads })).status, 401)
})

test('a file that has not arrived has no path', async () => {
  const w = await filesWorld()
  const { value: key } = await w.addKey({ scopes: ['inbox.read'] })
  const { conversationId } = await w.coming()
  const { body } = await w.call('GET', `/api/v2/conversations/${conversationId}`, { key })
  const { file } = body.messages.at(-1)
  assert.deepEqual([file.state, file.path], ['coming', undefined])
})
