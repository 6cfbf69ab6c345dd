import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CallToolResult, JsonSchemaType } from '@modelcontextprotocol/client'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv'
import { scopes } from '../../src/access/keys/scopes.ts'
import { verbs } from '../../src/agents/verbs/verbs.ts'
import { type AgentsWorld, addTemplate, agentsWorld } from '../support/agents/agents-world.ts'
import { eras, mcpClient, textOf } from '../support/agents/mcp-client.ts'
import { addAgent, addLabel, marina } from '../support/inbox/inbox-world.ts'

type Call = [tool: string, input: Record<string, unknown>]

/** Each tool once, in an order in which each can do what it is for. */
async function everyCall(w: AgentsWorld): Promise<Call[]> {
  const other = await addAgent(w)
  const label = await addLabel(w, 'VIP')
  const template = { ...(await addTemplate(w)), body_params: ['Ana'] }
  const [{ id: first }, { id: second }, { id: third }] = [
    await w.customerWrites('One'),
    await w.customerWrites('Two', { customer: { ...marina, phone: '5581990000002' } }),
    await w.customerWrites('Three', { customer: { ...marina, phone: '5581990000003' } }),
  ]
  // One of them belongs to nobody, for the agent to take.
  await w.patch(third, { owner: 'human' }, w.agent.value)
  await w.db.sql`update conversations set held = false where workspace_id = ${w.workspaceId} and id = ${third}`
  const phone = '5581998765432'
  return [
    ['who_am_i', {}],
    ['wait_for_work', { wait: 0 }],
    ['list_conversations', { owner: 'anyone' }],
    ['read_conversation', { conversation_id: first }],
    ['answer', { conversation_id: first, text: 'It left this morning.' }],
    [
      'upload_file',
      {
        conversation_id: first,
        kind: 'document',
        name: 'hours.txt',
        type: 'text/plain',
        base64: btoa('Open from 9 to 18.'),
      },
    ],
    ['start_conversation', { connection_id: w.connectionId, phone: '5581990000009', template }],
    ['add_note', { conversation_id: first, text: 'Asked for order 1042.' }],
    ['label', { conversation_id: first, label_ids: [label] }],
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
    ['list_templates', {}],
    ['list_canned_replies', {}],
    ['list_labels', {}],
    ['list_people', {}],
    ['list_connections', {}],
  ]
}

for (const era of eras) {
  test(`every tool does what it is for, and answers by the schema that it shows (${era})`, async () => {
    const w = await agentsWorld()
    const calls = await everyCall(w)
    assert.deepEqual(calls.map(([tool]) => tool).sort(), verbs.map(({ name }) => name).sort())
    const client = await mcpClient(w, w.agent.value, era)
    const validator = new AjvJsonSchemaValidator()
    const shown = new Map((await client.listTools()).tools.map(({ name, outputSchema }) => [name, outputSchema]))
    for (const [name, input] of calls) {
      const answer = (await client.callTool({ name, arguments: input })) as CallToolResult
      assert.notEqual(answer.isError, true, `${name}: ${JSON.stringify(answer.content)}`)
      const fits = validator.getValidator(shown.get(name) as JsonSchemaType)
      assert.equal(fits(answer.structuredContent).errorMessage, undefined, name)
      assert.deepEqual(textOf(answer), answer.structuredContent)
    }
  })
}

for (const scope of scopes) {
  test(`a key of ${scope} alone is shown the tools of that scope, and no other`, async () => {
    const w = await agentsWorld()
    const { value } = await w.addKey({ scopes: [scope], answersNewConversations: false })
    const { tools } = await (await mcpClient(w, value)).listTools()
    const fitting = verbs.filter((verb) => verb.scopes.includes(scope))
    assert.deepEqual(
      tools.map(({ name }) => name),
      fitting.map(({ name }) => name),
    )
  })
}
