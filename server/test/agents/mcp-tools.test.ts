import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonSchemaType } from '@modelcontextprotocol/client'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv'
import { agentTools } from '../../src/agents/tools/all-tools.ts'
import { scopes } from '../../src/auth/api-keys/caller.ts'
import { scheduleMessage } from '../../src/inbox/scheduled/schedule.ts'
import { createArticle } from '../../src/knowledge/write-article.ts'
import {
  type AgentsWorld,
  addTemplate,
  agentsWorld,
  checkOutput,
  findTool,
  template,
} from '../support/agents/agents-world.ts'
import { eras, mcpClient, toolCaller } from '../support/agents/mcp-client.ts'
import { addAgent, addLabel, marina } from '../support/inbox/inbox-world.ts'
import { signedInMember } from '../support/member.ts'

type Call = [tool: string, input: Record<string, unknown>]

/** Each tool once, in an order in which each can succeed. */
async function everyCall(w: AgentsWorld): Promise<Call[]> {
  const other = await addAgent(w)
  const label = await addLabel(w, 'VIP')
  await addTemplate(w)
  const [{ id: first }, { id: second }, { id: third }] = [
    await w.customerWrites('One'),
    await w.customerWrites('Two', { customer: { ...marina, phone: '5581990000002' } }),
    await w.customerWrites('Three', { customer: { ...marina, phone: '5581990000003' } }),
  ]
  // One conversation has no owner, for the agent to take.
  await w.patch(third, { owner: 'human' }, w.agent.value)
  await w.db.sql`update conversations set held = false where workspace_id = ${w.workspaceId} and id = ${third}`
  const text = { language: 'en', title: 'Opening hours', body: 'From 9 to 18.', tags: [], keyIds: null }
  const article = await createArticle(
    w,
    { workspaceId: w.workspaceId, actor: { type: 'agent', id: w.agent.id }, mayPublish: true },
    {
      fields: { ...text, kind: 'answer', validFrom: null, validUntil: null },
      ...{ status: 'published', source: 'api', sourceAddress: null },
    },
  )
  const phone = '5581998765432'
  const at = new Date(w.clock.now().getTime() + 3_600_000).toISOString()
  const byAgent = { workspaceId: w.workspaceId, connectionIds: [], actor: { type: 'agent' as const, id: w.agent.id } }
  const { scheduled } = await scheduleMessage(w, byAgent, {
    ...{ conversationId: first, body: { kind: 'text', text: 'Still there?' } },
    ...{ dueAt: new Date(at), cancelIfCustomerWrites: true },
  })
  const leadId = await addOpenSequence(w)
  const file = { kind: 'document', name: 'hours.txt', type: 'text/plain', base64: btoa('Open from 9 to 18.') }
  return [
    ['who_am_i', {}],
    ['wait_for_work', { wait: 0 }],
    ['list_conversations', { owner: 'anyone' }],
    ['read_conversation', { conversation_id: first }],
    ['seen', { conversation_id: first }],
    ['answer', { conversation_id: first, text: 'It left this morning.' }],
    ['upload_file', { conversation_id: first, ...file }],
    ['start_conversation', { connection_id: w.connectionId, phone: '5581990000009', template }],
    ['add_note', { conversation_id: first, text: 'Asked for order 1042.' }],
    ['label', { conversation_id: first, label_ids: [label] }],
    ['set_marketing_consent', { conversation_id: first, decision: 'opted_out' }],
    ['schedule_message', { conversation_id: first, at, text: 'Did it arrive?' }],
    ['cancel_scheduled', { conversation_id: first, scheduled_id: scheduled.id }],
    ['start_sequence', { sequence: 'Follow up', lead_id: leadId }],
    ['create_task', { conversation_id: first, title: 'Call', due_at: at }],
    [
      'prepare_broadcast',
      { name: 'Sale', connection_id: w.connectionId, template_name: 'order_update', template_language: 'en_US' },
    ],
    ['snooze', { conversation_id: first }],
    ['resolve', { conversation_id: first }],
    ['hand_over', { conversation_id: first, summary: 'Wants a refund.', closing: 'A colleague will help you.' }],
    ['hand_to_agent', { conversation_id: second, key_id: other.id, summary: 'Wants a quote.' }],
    ['take_offered', { conversation_id: third }],
    ['create_lead', { first_name: 'Marina', phone, custom_field_values: { city: 'Recife' } }],
    ['find_leads', { search: 'Marina' }],
    ['get_lead', { identifier: phone }],
    ['upsert_lead', { match: { by: 'phone', value: phone }, lead: { status: 'qualified' } }],
    ['update_lead', { identifier: phone, notes: 'Prefers mornings.' }],
    ['search_knowledge', { query: 'opening hours' }],
    ['read_article', { article_id: article.id }],
    ['list_templates', {}],
    ['list_canned_replies', {}],
    ['list_labels', {}],
    ['list_people', {}],
    ['list_connections', {}],
  ]
}

/** Adds a sequence that agents may start, and a lead; returns the id of the lead. */
async function addOpenSequence(w: AgentsWorld): Promise<string> {
  const admin = await signedInMember(w, 'admin')
  const step = { waitMinutes: 60, businessHours: false, text: 'Hi' }
  const none = { endStatuses: [], formIds: [], labelIds: [], forAgents: true }
  const draft = { name: 'Follow up', connectionId: w.connectionId, steps: [step], ...none }
  const { id } = (await admin.call('POST', '/sequences', draft)).body.sequence
  await admin.call('PATCH', `/sequences/${id}`, { enabled: true })
  return (await admin.call('POST', '/leads', { firstName: 'Bia', phone: '+5581990000077' })).body.lead.id
}

const namesOf = (all: readonly { name: string }[]) => all.map(({ name }) => name)

for (const era of eras) {
  test(`every operation is a tool with the same results (${era})`, async () => {
    const w = await agentsWorld()
    const calls = await everyCall(w)
    const client = await mcpClient(w, w.agent.value, era)
    const { tools } = await client.listTools()
    assert.deepEqual(namesOf(tools), namesOf(agentTools))
    assert.deepEqual(calls.map(([tool]) => tool).sort(), namesOf(agentTools).sort())
    const call = toolCaller(client)
    for (const [name, input] of calls) {
      const { isError, structuredContent, read } = await call(name, input)
      assert.notEqual(isError, true, `${name}: ${JSON.stringify(read)}`)
      assert.deepEqual(checkOutput(findTool(name), structuredContent), [], name)
      assert.deepEqual(read, structuredContent)
    }
  })
}

test('tools have correct annotations and plain JSON Schema, and accept their examples', async () => {
  const w = await agentsWorld()
  const client = await mcpClient(w, w.agent.value)
  const validator = new AjvJsonSchemaValidator()
  for (const tool of (await client.listTools()).tools) {
    const { hints, title, example } = findTool(tool.name)
    // What the protocol assumes of a hint that is missing.
    const defaults = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true }
    const shown = { ...defaults, ...tool.annotations }
    assert.deepEqual(
      [shown.title, shown.readOnlyHint, shown.openWorldHint],
      [title, hints.isReadOnly, hints.isDestructive],
    )
    if (!hints.isReadOnly) {
      assert.deepEqual([shown.destructiveHint, shown.idempotentHint], [hints.isDestructive, hints.isIdempotent])
    }
    assert.equal(tool.inputSchema.type, 'object')
    assert.doesNotMatch(JSON.stringify(tool), /"type":\[|"(?:discriminator|x-published)":|"example":"/)
    const takes = validator.getValidator(tool.inputSchema as JsonSchemaType)
    assert.equal(takes(example.input).errorMessage, undefined, tool.name)
    assert.equal(takes({ ...example.input, extra: 1 }).valid, false, tool.name)
  }
})

test('the tool list is at most 27,500 bytes and the same in every workspace', async () => {
  const list = async (w: AgentsWorld) => {
    const headers = { authorization: `Bearer ${(await w.addKey({ scopes: [...scopes] })).value}` }
    const payload = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    return (await w.app.inject({ method: 'POST', url: '/mcp', headers, payload })).body
  }
  const w = await agentsWorld()
  const sent = await list(w)
  assert.equal(JSON.parse(sent).result.tools.length, agentTools.length)
  assert.ok(Buffer.byteLength(sent) <= 27_500, `${Buffer.byteLength(sent)} bytes`)

  const used = await agentsWorld()
  await everyCall(used)
  assert.equal(await list(used), sent)
})

test('a key with one scope sees and calls only tools of that scope', async () => {
  const w = await agentsWorld()
  for (const scope of scopes) {
    const { value } = await w.addKey({ scopes: [scope], answersNewConversations: false })
    const client = await mcpClient(w, value)
    const fitting = namesOf(agentTools.filter((verb) => verb.scopes.includes(scope)))
    assert.deepEqual(namesOf((await client.listTools()).tools), fitting, scope)
    const other = agentTools.find(({ name }) => !fitting.includes(name)) ?? assert.fail()
    const { read } = await toolCaller(client)(other.name, other.example.input)
    assert.equal(read.code, 'UNAUTHORIZED', `${scope}: ${other.name}`)
  }
})
