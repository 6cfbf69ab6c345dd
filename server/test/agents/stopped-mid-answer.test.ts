import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AgentsWorld, agentsWorld } from '../support/agents/agents-world.ts'
import { whenSent } from '../support/database.ts'
import { marina } from '../support/inbox/inbox-world.ts'
import { signedInMember, type TestMember } from '../support/member.ts'

/** Holds the platform's next response until it is released. */
function hangingPlatform(w: AgentsWorld) {
  const { waba } = w.platform.connectors
  const { send } = waba
  const isCalled = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  waba.send = async (...order) => {
    waba.send = send
    isCalled.resolve()
    await gate.promise
    return send(...order)
  }
  return { isCalled: isCalled.promise, letGo: gate.resolve }
}

const stops: Record<
  string,
  { stop: (admin: TestMember, w: AgentsWorld) => ReturnType<TestMember['call']>; answer: number }
> = {
  'a key that is revoked': { stop: (admin, w) => admin.call('DELETE', `/keys/${w.agent.id}`), answer: 401 },
  'the stop switch': { stop: (admin) => admin.call('PATCH', '', { agentsStopped: true }), answer: 409 },
}

for (const [name, { stop, answer }] of Object.entries(stops)) {
  test(`${name} stops an answer that is reserved but not sent`, async () => {
    const w = await agentsWorld()
    const admin = await signedInMember(w, 'admin')
    const { id: conversation_id } = await w.customerWrites('Hello')
    const platform = hangingPlatform(w)
    const first = w.callTool('answer', { conversation_id, text: 'This one is on its way.' })
    await platform.isCalled
    const isReserved = whenSent(/insert into dispatches/)
    const second = w.callTool('answer', { conversation_id, text: 'This one waits for its turn.' })
    await isReserved
    // Waits until the transaction that reserves the send is done.
    await w.db.sql`select from conversations where workspace_id = ${w.workspaceId} for update`
    const isHeld = whenSent(/set starts_held_until = hold\.until/)
    const stopping = stop(admin, w)
    await isHeld
    // No call can start from here on, although the change waits for the running one.
    await whenSent(/d\.starting_until > /)
    platform.letGo()
    assert.deepEqual([(await first).body.status, (await stopping).status], ['sent', 200])
    assert.equal((await second).body.status, 'failed')
    const refused = await w.callTool('answer', { conversation_id, text: 'And this one.' })
    assert.equal(refused.status, answer)
    assert.equal(w.sent().length, 1)
    const [row] = await w.db.sql`
      select error_code from messages where workspace_id = ${w.workspaceId} and status = 'failed'`
    assert.equal(row?.error_code, 'owner_changed')
  })
}

test('another app that takes the conversation stops an answer that is reserved but not sent', async () => {
  const w = await agentsWorld()
  const { id: conversation_id } = await w.customerWrites('Hello')
  const platform = hangingPlatform(w)
  const first = w.callTool('answer', { conversation_id, text: 'This one is on its way.' })
  await platform.isCalled
  const isReserved = whenSent(/insert into dispatches/)
  const second = w.callTool('answer', { conversation_id, text: 'This one waits for its turn.' })
  await isReserved
  w.clock.advance(1000)
  await w.deliver({ type: 'thread_control', customer: marina, owner: 'ai_agent', at: w.clock.now() })
  platform.letGo()
  assert.deepEqual([(await first).body.status, (await second).body.status, w.sent().length], ['sent', 'failed', 1])
})
