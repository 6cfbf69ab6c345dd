import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AgentsWorld, agentsWorld } from '../support/agents/agents-world.ts'
import { signedInMember, type TestMember } from '../support/member.ts'
import { until } from '../support/until.ts'

/** Holds the platform's next answer until it is let go. */
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
  test(`${name} stops an answer that is reserved and has not left`, async () => {
    const w = await agentsWorld()
    const admin = await signedInMember(w, 'admin')
    const { id: conversation_id } = await w.customerWrites('Hello')
    const platform = hangingPlatform(w)
    const first = w.ask('answer', { conversation_id, text: 'This one is on its way.' })
    await platform.isCalled
    const second = w.ask('answer', { conversation_id, text: 'This one waits for its turn.' })
    const countOf = async (what: 'waiting' | 'held') => {
      const [row] = await w.db.sql<{ waiting: number; held: number }[]>`
        select count(*) filter (where d.starting_until is null)::integer as waiting,
          count(*) filter (where c.starts_held_until is not null)::integer as held
        from dispatches d
        join conversations c on c.workspace_id = d.workspace_id and c.id = d.conversation_id
        where d.workspace_id = ${w.workspaceId}`
      return row?.[what] ?? 0
    }
    await until(async () => (await countOf('waiting')) === 1, 'the second send')
    const stopping = stop(admin, w)
    // From here on no call starts, though the change waits for the one that has.
    await until(async () => (await countOf('held')) > 0, 'the hold')
    platform.letGo()
    assert.deepEqual([(await first).body.status, (await stopping).status], ['sent', 200])
    assert.equal((await second).body.status, 'failed')
    const refused = await w.ask('answer', { conversation_id, text: 'And this one.' })
    assert.equal(refused.status, answer)
    assert.equal(w.sent().length, 1)
    const [row] = await w.db.sql`
      select error_code from messages where workspace_id = ${w.workspaceId} and status = 'failed'`
    assert.equal(row?.error_code, 'owner_changed')
  })
}
