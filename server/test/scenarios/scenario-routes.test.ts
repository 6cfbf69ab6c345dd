import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../src/base/id.ts'
import { createSandbox, removeOldSandboxes, removeSandbox } from '../../src/scenarios/run/sandbox.ts'
import { listSandboxCalls } from '../../src/scenarios/run/sandbox-calls.ts'
import { endRun, endSilentRuns, insertRun, storeResult } from '../../src/scenarios/store/runs.ts'
import { agentsWorld } from '../support/agents/agents-world.ts'
import { conversationWorld } from '../support/inbox/inbox-world.ts'
import { signedInMember } from '../support/member.ts'
import { operatorToken, teamWorld } from '../support/team-app.ts'
import { servedApp, world } from '../support/world.ts'

const { send } = await teamWorld()
const createdBy = { type: 'token' as const, id: newId(new Date()) }

const scenario = (changes: object = {}) =>
  JSON.stringify({ name: 'hello', title: 'Says hello', script: ['Hello'], expect: { answers: true }, ...changes })

test('admins keep scenarios; two people cannot overwrite each other, and wrong fields are named', async () => {
  const admin = await signedInMember(await world(), 'admin')
  const created = await admin.call('POST', '/scenarios', { text: scenario() })
  assert.equal(created.status, 201, JSON.stringify(created.body))
  const { id } = created.body.scenario
  assert.partialDeepStrictEqual(created.body.scenario, {
    name: 'hello',
    title: 'Says hello',
    version: 1,
    lastVerdict: null,
  })
  assert.equal((await admin.call('POST', '/scenarios', { text: scenario() })).status, 409, 'the name is taken')

  const wrong = await admin.call('POST', '/scenarios', { text: scenario({ script: [{ pause: 'long' }] }) })
  assert.equal(wrong.status, 400)
  assert.equal(wrong.body.data.issues[0].path, 'text.script[0].pause')

  const changed = await admin.call('PUT', `/scenarios/${id}`, {
    text: scenario({ name: 'hi', title: 'Hi' }),
    version: 1,
  })
  assert.deepEqual([changed.status, changed.body.scenario.name, changed.body.scenario.version], [200, 'hi', 2])
  const late = await admin.call('PUT', `/scenarios/${id}`, { text: scenario(), version: 1 })
  assert.equal(late.status, 409, 'someone else has changed it')
  const { body } = await admin.call('GET', '/scenarios')
  assert.deepEqual([body.scenarios.length, body.hasSimulator, body.hasJudge], [1, true, false])
  assert.equal((await admin.call('DELETE', `/scenarios/${id}`)).status, 200)
  assert.equal((await admin.call('DELETE', `/scenarios/${id}`)).status, 404)
  assert.equal((await admin.call('PUT', `/scenarios/${id}`, { text: scenario(), version: 2 })).status, 404)
})

test('the starter set is added once, beside what is there', async () => {
  const admin = await signedInMember(await world(), 'admin')
  assert.equal((await admin.call('POST', '/scenarios', { text: scenario({ name: 'refund-wanted' }) })).status, 201)
  assert.deepEqual((await admin.call('POST', '/scenarios/starter-set')).body, { added: 29 })
  assert.deepEqual((await admin.call('POST', '/scenarios/starter-set')).body, { added: 0 })
})

test('without a simulator, a run is refused and says what to do', async () => {
  const w = await world()
  const config = { ...w.config, simulator: { ...w.config.simulator, enabled: false } }
  const admin = await signedInMember({ ...w, app: await servedApp({ ...w, config }) }, 'admin')
  assert.equal((await admin.call('GET', '/scenarios')).body.hasSimulator, false)
  const refused = await admin.call('POST', '/scenario-runs', { agent: 'test', scenarios: [scenario()] })
  assert.equal(refused.status, 409)
  assert.equal(refused.body.data.code, 'NO_SIMULATOR')
  assert.match(refused.body.statusMessage, /PARLEY_SIMULATOR_URL/)
  const neither = await admin.call('POST', '/scenario-runs', { agent: 'test' })
  assert.equal(neither.body.data.issues[0].path, 'scenarioIds')
  const unknown = await admin.call('POST', '/scenario-runs', { agent: 'test', scenarioIds: [createdBy.id] })
  assert.equal(unknown.body.data.issues[0].path, 'scenarioIds[0]')
  const { body } = await admin.call('GET', '/scenario-runs')
  assert.deepEqual(body.runs, [])
})

test('a run is compared with the one before of the same agent; silent runs end; the newest are kept', async () => {
  const w = await world()
  const admin = await signedInMember(w, 'admin')
  const { db, clock, workspaceId } = w
  const keyring = await w.keyStore.keyring(workspaceId)
  const addRun = async (agent: string, said: string, passed: boolean) => {
    clock.advance(1000)
    const id = newId(clock.now())
    const run = { id, agent, hasInstructions: false, names: ['hello'], actor: createdBy }
    await db.tx((tx) => insertRun(tx, workspaceId, run, clock.now()))
    const entries = [{ atMs: 1, from: 'agent' as const, kind: 'message' as const, text: said }]
    const checks = [{ check: 'answers' as const, passed, expected: 'an answer', actual: said }]
    const verdict = passed ? ('passed' as const) : ('failed' as const)
    const outcome = { name: 'hello', verdict, checks, entries, calls: [], ms: 5 }
    await storeResult(db, keyring, { workspaceId, runId: id }, 0, outcome)
    await endRun(db, workspaceId, id, 'finished', clock.now())
    return id
  }
  await addRun('one', 'Hi', true)
  await addRun('other', 'Something else', true)
  const newest = await addRun('one', 'Hey', false)
  const { body } = await admin.call('GET', `/scenario-runs/${newest}`)
  assert.deepEqual(body.results[0].difference, {
    ...{ before: 'passed', broken: ['answers: an answer'], fixed: [] },
    lines: [
      { mark: '-', text: 'agent: Hi' },
      { mark: '+', text: 'agent: Hey' },
    ],
  })
  const { runs } = (await admin.call('GET', '/scenario-runs')).body
  assert.deepEqual([runs.length, runs[0].counts], [3, { failed: 1 }])

  const run = { id: newId(clock.now()), agent: 'one', hasInstructions: false, names: ['hello'], actor: createdBy }
  await db.tx((tx) => insertRun(tx, workspaceId, run, clock.now()))
  assert.equal((await admin.call('POST', `/scenario-runs/${run.id}/cancel`)).status, 200)
  clock.advance(3 * 60_000)
  await db.tx((tx) => endSilentRuns(tx, clock.now()))
  assert.equal((await admin.call('GET', `/scenario-runs/${run.id}`)).body.run.status, 'interrupted')
  // Older ones than those above.
  await db.sql`
    insert into scenario_runs (workspace_id, id, agent, status, has_instructions, created_at, renewed_at, finished_at, actor_type, actor_id)
    select ${workspaceId}, lpad(n::text, 32, '0')::uuid, 'old', 'finished', false, now(), now(), now(), 'token', ${createdBy.id}
    from generate_series(1, 60) as n`
  await addRun('one', 'Hi', true)
  assert.equal((await admin.call('GET', '/scenario-runs')).body.runs.length, 50)
})

test('a sandbox has no connection but of the simulator, is not listed, and is deleted with everything in it', async () => {
  const w = await world()
  const id = await createSandbox(w, 'Sandbox', createdBy)
  const place = `/workspaces/${id}`
  const connection = {
    name: 'Out',
    numberId: '1',
    accountId: null,
    accessToken: 'x'.repeat(20),
    appSecret: 'x'.repeat(20),
    channel: 'waba',
  }
  const elsewhere = { ...connection, baseUrl: 'https://graph.facebook.com' }
  const refused = await send(operatorToken, 'POST', `${place}/connections`, elsewhere)
  assert.equal(refused.statusCode, 403, refused.body)
  const listed = (await send(operatorToken, 'GET', '/workspaces')).json().workspaces
  assert.ok(!listed.some((one: { id: string }) => one.id === id))

  assert.equal((await send(operatorToken, 'POST', `${place}/leads`, { firstName: 'Ana' })).statusCode, 201)
  assert.equal((await send(operatorToken, 'POST', `${place}/labels`, { name: 'A', color: 'red' })).statusCode, 201)
  const key = { name: 'Agent', scopes: ['leads.read', 'inbox.read'] }
  const { value } = (await send(operatorToken, 'POST', `${place}/keys`, key)).json()
  assert.equal((await w.call('GET', '/api/v2/me', { key: value })).status, 200)
  const calls = await listSandboxCalls(w.db, await w.keyStore.keyring(id), id)
  assert.deepEqual(
    calls.map(({ tool, code }) => [tool, code]),
    [['who_am_i', null]],
  )

  await removeSandbox(w.db, id)
  assert.deepEqual(await rowsOf(w, id), [])
  assert.equal((await send(operatorToken, 'GET', place)).statusCode, 404)
})

test('a workspace of customers is never deleted, and its calls are not recorded', async () => {
  const w = await agentsWorld()
  await w.callTool('who_am_i')
  await removeSandbox(w.db, w.workspaceId)
  const calls = await listSandboxCalls(w.db, await w.keyStore.keyring(w.workspaceId), w.workspaceId)
  assert.deepEqual(calls, [])
  assert.equal((await w.call('GET', '/api/v2/me', { key: w.agent.value })).status, 200)
})

test('sandboxes of processes that ended are removed when their time is over', async () => {
  const w = await world()
  const id = await createSandbox(w, 'Sandbox', createdBy)
  await removeOldSandboxes(w)
  assert.notDeepEqual(await rowsOf(w, id), [])
  w.clock.advance(2 * 3_600_000)
  await removeOldSandboxes(w)
  assert.deepEqual(await rowsOf(w, id), [])
})

/** Returns the tables with rows of a workspace. */
async function rowsOf({ db }: Pick<Awaited<ReturnType<typeof world>>, 'db'>, id: string): Promise<string[]> {
  const columns = await db.sql<{ table: string; column: string }[]>`
    select c.table_name as "table", c.column_name as "column"
    from information_schema.columns c
    join information_schema.tables t on t.table_name = c.table_name and t.table_type = 'BASE TABLE'
    where c.table_schema = current_schema()
      and c.column_name in ('workspace_id', 'scope_id')`
  const found: string[] = []
  for (const { table, column } of columns) {
    const rows = await db.sql`select 1 from ${db.sql(table)} where ${db.sql(column)} = ${id} limit 1`
    if (rows.length > 0) found.push(table)
  }
  return found
}

test('a conversation becomes the text of a scenario without its personal data', async () => {
  const { w, id, member } = await conversationWorld()
  const admin = await signedInMember(w, 'admin')
  w.clock.advance(1000)
  await w.customerWrites('I am Marina, call me: +55 81 99123-4567, marina@acme.com')
  const { status, body } = await admin.call('GET', `/scenarios/from-conversation/${id}`)
  assert.equal(status, 200, JSON.stringify(body))
  assert.doesNotMatch(body.text, /marina|99123|acme/i)
  assert.deepEqual(JSON.parse(body.text).script, [
    { customer: ['Hi', 'I am Vera, call me: +10 00 00000-0001, person1@example.com'], secondsBetween: 2 },
  ])
  assert.equal((await admin.call('POST', '/scenarios', { text: body.text })).status, 201)
  assert.equal((await admin.call('GET', `/scenarios/from-conversation/${createdBy.id}`)).status, 404)
  assert.equal((await member.call('GET', `/scenarios/from-conversation/${id}`)).status, 403)
})
