import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLastCalls, type KeyCall, maxCallsPerKey } from '../../../src/auth/api-keys/last-calls.ts'
import { manualClock } from '../../../src/base/clock.ts'
import { newId } from '../../../src/base/id.ts'
import { everyStatementOf, testDatabase } from '../../support/database.ts'
import { newWorkspace, noon } from '../../support/guarded-app.ts'
import { leadsPath } from '../../support/leads/leads.ts'
import { signedInMember } from '../../support/member.ts'
import { pick } from '../../support/pick.ts'
import { world } from '../../support/world.ts'

type Shown = { method: string; route: string; verb: string | null; status: number; at: string; ms: number }

test('the last calls of a key have route and result, including refused ones, and no personal data', async () => {
  const w = await world({ scopes: ['leads.read', 'leads.write'] })
  const member = await signedInMember(w)
  const { id } = await w.lead({ firstName: 'Secretive' })
  await w.call('GET', `${leadsPath}/${newId(noon)}`)
  await w.call('GET', `${leadsPath}/${id}?search=Secretive`)
  const conversations = await w.call('GET', '/api/v2/conversations')
  assert.equal(conversations.status, 401)
  const tool = await w.call('POST', '/mcp', {
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'get_lead', arguments: { identifier: newId(noon) } },
    },
    headers: { accept: 'application/json, text/event-stream' },
  })
  assert.equal(tool.status, 200)
  const { status, body } = await member.call('GET', `/keys/${w.keyId}/calls`)
  assert.equal(status, 200)
  assert.deepEqual(pick(body.calls, 'method', 'route', 'verb', 'status'), [
    ['POST', '/mcp', 'get_lead', 404],
    ['GET', '/api/v2/conversations', 'list_conversations', 401],
    ['GET', '/api/v1/leads/:identifier', null, 400],
    ['GET', '/api/v1/leads/:identifier', null, 404],
    ['POST', '/api/v1/leads', null, 201],
  ])
  assert.ok(body.calls.every((call: Shown) => call.at === w.clock.now().toISOString() && call.ms >= 0))
  assert.ok(!JSON.stringify(body).includes('Secretive') && !JSON.stringify(body).includes(id))
})

test('recording a call adds no statement to its request', async () => {
  const w = await world()
  await w.lead()
  const statements = await everyStatementOf(async () => {
    for (let n = 0; n < 2; n++) await w.call('GET', leadsPath)
  })
  assert.ok(statements.length > 0)
  assert.deepEqual(
    statements.filter(({ text }) => text.includes('key_calls')),
    [],
  )
})

async function ring() {
  const { db } = await testDatabase()
  const clock = manualClock(noon)
  const key = { workspaceId: await newWorkspace(db, clock), keyId: newId(noon) }
  const calls = createLastCalls(db, clock)
  const noted = (status: number): KeyCall => ({
    at: clock.now(),
    method: 'GET',
    route: '/x',
    verb: null,
    status,
    ms: 1,
  })
  const statuses = async (of = calls) => (await of.read(key.workspaceId, key.keyId)).map(({ status }) => status)
  return { db, clock, key, calls, noted, statuses }
}

test('the newest calls of two nodes are merged, up to a hundred', async () => {
  const { db, clock, key, calls, noted, statuses } = await ring()
  const elsewhere = createLastCalls(db, clock)
  for (let n = 0; n < maxCallsPerKey; n++) {
    clock.advance(10)
    calls.recordCall(key, noted(200 + (n % 2)))
    if (n % 2 === 0) elsewhere.recordCall(key, noted(300))
  }
  assert.deepEqual(
    [await statuses(elsewhere).then((all) => all.length), await statuses().then((all) => all.length)],
    [50, 100],
  )
  await Promise.all([calls.flush(), elsewhere.flush()])
  const [here, there] = [await statuses(), await statuses(elsewhere)]
  assert.deepEqual(here, there)
  assert.equal(here.length, maxCallsPerKey)
  assert.equal(here.filter((status) => status === 300).length, 33, 'the newest third of all is from elsewhere')
  await Promise.all([calls.close(), elsewhere.close()])
})

test('calls are written soon, then once a minute per key, and all on closing', async () => {
  const { db, clock, key, calls, noted, statuses } = await ring()
  const elsewhere = createLastCalls(db, clock)
  calls.recordCall(key, noted(200))
  await calls.flush()
  calls.recordCall(key, noted(404))
  clock.advance(59_000)
  await calls.flush()
  assert.deepEqual([await statuses(), await statuses(elsewhere)], [[404, 200], [200]])
  clock.advance(1000)
  await calls.flush()
  assert.deepEqual(await statuses(elsewhere), [404, 200])
  clock.advance(1)
  calls.recordCall(key, noted(500))
  await calls.close()
  assert.deepEqual(await statuses(elsewhere), [500, 404, 200])
  await elsewhere.close()
})

test('the calls of a key are not visible to other workspaces', async () => {
  const { key, calls, noted } = await ring()
  calls.recordCall(key, noted(200))
  assert.deepEqual(await calls.read(newId(noon), key.keyId), [])
  await calls.flush()
  assert.deepEqual(await calls.read(newId(noon), key.keyId), [])
  await calls.close()
})
