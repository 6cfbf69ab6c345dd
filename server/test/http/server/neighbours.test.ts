import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDb, type Tx } from '../../../src/base/db.ts'
import { bytesOf, change, payload, signatureOf, text, value } from '../../support/channels/waba-payloads.ts'
import { testDatabase, whenSent } from '../../support/database.ts'
import { atEnd } from '../../support/file-lifecycle.ts'
import { inboxWorld } from '../../support/inbox/inbox-world.ts'
import { signedInMember } from '../../support/member.ts'
import { type Answer, type World, world } from '../../support/world.ts'

/** Connections of the app, and the share of one workspace. */
const connections = 10
const share = connections / 2
const bound = 500

const { options } = await testDatabase()
const outside = openDb({ ...options, maxConnections: 1 })
atEnd(() => outside.close())

/** Requests of a workspace that `lock` blocks. */
interface Storm {
  lock(tx: Tx): Promise<unknown>
  ask(): Promise<Answer>
  /** Statements of its transactions that meet the lock, and how many meet it; the others wait for one of these. */
  meets: RegExp
  open: number
}

/** Sends the requests, runs `work` while all are blocked, and returns the responses. */
async function during(
  { lock, ask }: Storm,
  times: number,
  isFull: (answers: Promise<Answer>[]) => Promise<unknown>,
  work: () => Promise<void>,
): Promise<Answer[]> {
  let answers: Promise<Answer>[] = []
  await outside.tx(async (tx) => {
    await lock(tx)
    answers = Array.from({ length: times }, ask)
    await isFull(answers)
    await work()
  })
  return Promise.all(answers)
}

async function stormOfLeads(): Promise<Storm> {
  const loud = await world()
  const { id } = await loud.lead()
  return {
    lock: (tx) => tx`select 1 from leads where id = ${id} for update`,
    ask: () => loud.call('PATCH', `/api/v1/leads/${id}`, { body: { notes: 'again' } }),
    meets: /from leads l[\s\S]*for (?:no key )?update/,
    open: share,
  }
}

async function stormOfCallbacks(): Promise<Storm> {
  const loud = await inboxWorld()
  const [row] = await loud.db.sql<{ number_id: string }[]>`
    select number_id from connections where id = ${loud.connectionId}`
  const callback = async () => {
    const raw = bytesOf(payload(change('messages', value({ messages: [text('Hello')] }, row?.number_id))))
    const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signatureOf('s', raw) }
    return loud.call('POST', `/channels/waba/${loud.connectionId}/webhook`, { raw, headers })
  }
  assert.equal((await callback()).status, 200)
  return {
    lock: (tx) => tx`select 1 from conversations where workspace_id = ${loud.workspaceId} for update`,
    ask: callback,
    // Later requests share the next run, and wait for it without a slot in the queue.
    meets: /from conversations c[\s\S]*for (?:no key )?update/,
    open: 1,
  }
}

async function stormOfMembers(): Promise<Storm> {
  const loud = await world()
  const admin = await signedInMember(loud, 'admin')
  return {
    lock: (tx) => tx`select 1 from workspaces where id = ${loud.workspaceId} for update`,
    ask: () => admin.call('PATCH', '', { agentsStopped: true }),
    meets: /from workspaces[\s\S]*for (?:no key )?update/,
    open: share,
  }
}

for (const [name, makeStorm] of [
  ['changes of one lead', stormOfLeads],
  ['callbacks of one customer', stormOfCallbacks],
  ['a stop of all agents', stormOfMembers],
] as const) {
  test(`40 times ${name}, blocked: other workspaces and health checks are served, and all complete`, async () => {
    const [storm, quiet] = [await makeStorm(), await world()]
    const { id } = await quiet.lead()
    const isFull = whenSent(storm.meets, storm.open)
    const answers = await during(
      storm,
      40,
      () => isFull,
      async () => {
        assert.equal((await quiet.call('GET', `/api/v1/leads/${id}`)).status, 200)
        await quiet.lead()
        assert.equal((await quiet.call('PATCH', `/api/v1/leads/${id}`, { body: { notes: 'quiet' } })).status, 200)
        assert.equal((await quiet.app.inject('/readyz')).statusCode, 200)
        assert.equal(
          (await quiet.call('GET', '/api/v1/leads', { key: 'plk_0000000000000000000000_000000' })).status,
          401,
        )
      },
    )
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  })
}

test('requests over the queue limit of one workspace get 503 with Retry-After, others are served', async () => {
  const [storm, quiet] = [await stormOfLeads(), await world()]
  await quiet.lead()
  const tooMany = 20
  // A workspace without active neighbors for a second gets all connections.
  const all = bound + connections + tooMany
  const areRefused = (asked: Promise<Answer>[]) =>
    new Promise<void>((resolve) => {
      let count = 0
      for (const each of asked) each.then(({ status }) => status === 503 && ++count === tooMany && resolve())
    })
  const answers = await during(storm, all, areRefused, async () => void (await quiet.lead()))
  const refused = answers.filter(({ status }) => status === 503)
  assert.ok(refused.length >= tooMany && refused.length <= tooMany + share, String(refused.length))
  assert.equal(answers.filter(({ status }) => status === 200).length, all - refused.length)
  for (const { headers } of refused) assert.match(String(headers['retry-after']), /^[1-9]\d*$/)
})

for (const [name, work] of [
  [
    'keys are revoked',
    async (w: World, n: number) => {
      const { id } = await w.addKey({ name: `Key ${n}` })
      const admin = await signedInMember(w, 'admin')
      return () => admin.call('DELETE', `/keys/${id}`)
    },
  ],
  [
    'agents are stopped',
    async (w: World) => {
      const admin = await signedInMember(w, 'admin')
      return () => admin.call('PATCH', '', { agentsStopped: true })
    },
  ],
] as const) {
  test(`12 times at once ${name} with uncached keys: no request needs a second connection`, async () => {
    const w = await world()
    const asks = await Promise.all(Array.from({ length: 12 }, (_, n) => work(w, n)))
    w.clock.advance(11_000)
    const answers = await Promise.all(asks.map((ask) => ask()))
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
    assert.equal((await w.app.inject('/readyz')).statusCode, 200)
  })
}
