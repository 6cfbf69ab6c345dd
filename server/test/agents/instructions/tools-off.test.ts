import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentsWorld } from '../../support/agents/agents-world.ts'
import { signedInMember } from '../../support/member.ts'
import { pick } from '../../support/pick.ts'
import { waitForNotifications } from '../../support/wait-for-notifications.ts'

async function toolsWorld(toolsOff: string[]) {
  const w = await agentsWorld()
  const admin = await signedInMember(w, 'admin')
  const { status } = await admin.call('PATCH', `/keys/${w.agent.id}`, { toolsOff })
  assert.equal(status, 200)
  await waitForNotifications(w.db)
  return { w, admin }
}

/** The tools that an MCP client of the agent sees, and the result of one call. */
async function overMcp(w: Awaited<ReturnType<typeof agentsWorld>>, method: string, params: object = {}) {
  const headers = { accept: 'application/json, text/event-stream' }
  const body = { jsonrpc: '2.0', id: 1, method, params }
  return (await w.call('POST', '/mcp', { key: w.agent.value, headers, body })).body.result
}

test('a tool that is switched off is refused over HTTP and MCP, is not listed, and works again when it is on', async () => {
  const { w, admin } = await toolsWorld(['resolve', 'upload_file'])
  const { id: conversation_id } = await w.customerWrites('Hello')
  const refused = await w.callTool('resolve', { conversation_id })
  assert.deepEqual([refused.status, refused.body.code], [401, 'UNAUTHORIZED'])
  assert.match(refused.body.detail, /The tool resolve is switched off/)
  const raw = { key: w.agent.value, raw: 'x', headers: { 'content-type': 'text/plain' }, query: { kind: 'document' } }
  const upload = await w.call('POST', `/api/v2/conversations/${conversation_id}/files`, raw)
  assert.equal(upload.status, 401, 'nor as raw bytes')
  const { tools } = await overMcp(w, 'tools/list')
  const names = pick(tools, 'name')
  assert.deepEqual([names.includes('resolve'), names.includes('answer')], [false, true])
  const called = await overMcp(w, 'tools/call', { name: 'resolve', arguments: { conversation_id } })
  assert.ok(called.isError)
  assert.match(called.content[0].text, /switched off/)
  assert.deepEqual((await w.callTool('who_am_i')).body.key.tools_off, ['resolve', 'upload_file'])

  await admin.call('PATCH', `/keys/${w.agent.id}`, { toolsOff: [] })
  await waitForNotifications(w.db)
  assert.equal((await w.callTool('resolve', { conversation_id })).status, 200)
})

test('the list of tools names all that can be switched off; others are refused', async () => {
  const { w, admin } = await toolsWorld([])
  const { tools } = (await admin.call('GET', '/agent-tools')).body
  const names: string[] = pick(tools, 'name') as string[]
  assert.ok(names.includes('answer') && names.length > 20)
  for (const name of ['who_am_i', 'fly', 'Answer']) {
    const { status, body } = await admin.call('PATCH', `/keys/${w.agent.id}`, { toolsOff: ['answer', name] })
    assert.deepEqual([status, body.data.issues[0].path], [400, 'toolsOff[1]'], name)
  }
  const all = names.filter((name) => name !== 'who_am_i')
  assert.equal((await admin.call('PATCH', `/keys/${w.agent.id}`, { toolsOff: all })).status, 200)
  await waitForNotifications(w.db)
  assert.deepEqual(pick((await overMcp(w, 'tools/list')).tools, 'name'), ['who_am_i'])
})

test('the audit log keeps what a change of a key changed, and finds the entries of one key', async () => {
  const { w, admin } = await toolsWorld(['resolve'])
  const { id: other } = await w.addKey({ scopes: ['inbox.read'] })
  await admin.call('PATCH', `/keys/${other}`, { maxParts: 2 })
  await admin.call('PATCH', `/keys/${w.agent.id}`, {
    ...{ name: 'Renamed', maxParts: 3, scopes: ['inbox.read', 'inbox.write'], allowlist: ['127.0.0.1'] },
    approval: { always: true, outsideHours: false, firstAnswers: false, labelIds: [], amountFrom: null },
  })
  const { entries } = (await admin.call('GET', `/audit?target=api-key:${w.agent.id}`)).body
  const changes = entries.filter(({ action }: { action: string }) => /changed/.test(action))
  assert.deepEqual(pick(changes, 'details'), [
    {
      scopes: {
        before: ['leads.read', 'leads.write', 'inbox.read', 'inbox.write', 'knowledge.read'],
        after: ['inbox.read', 'inbox.write'],
      },
      maxParts: { before: null, after: 3 },
      approval: {
        before: null,
        after: { always: true, outsideHours: false, firstAnswers: false, labelIds: [], amountFrom: null },
      },
    },
    { toolsOff: { before: [], after: ['resolve'] } },
  ])
})
