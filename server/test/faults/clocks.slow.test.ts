import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { databaseSettings, type TestDatabase, testDatabase } from '../support/database.ts'
import { newFolder } from '../support/folder.ts'
import {
  clockAhead,
  freePort,
  newWorkspace,
  operatorToken,
  type Service,
  startService,
} from '../support/program/service.ts'

const rounds = Number(process.env.CLOCK_ROUNDS ?? 1)
const limit = 60
/** Tolerance: a measured clock offset is only as exact as the query is fast. */
const toleranceMs = 1000
const leadsEach = 15

test('nodes whose clocks differ by 20 minutes share limits, sessions, keys and the order of the feed', async (t) => {
  const database = await testDatabase()
  const env = {
    ...databaseSettings(database),
    PARLEY_MASTER_KEY: randomBytes(32).toString('base64'),
    PARLEY_LEADS_RATE_LIMIT: String(limit),
  }
  const start = async (minutes: number) =>
    startService({ folder: await newFolder(), port: await freePort(), env: { ...env, ...clockAhead(minutes) } })
  const nodes: Service[] = []
  for (const minutes of [0, 10, -10]) nodes.push(await start(minutes))
  const [, ahead, behind] = nodes
  assert.ok(ahead && behind)
  assert.deepEqual(nodes.map(minutesAhead), [0, 10, -10])
  for (const node of nodes) await assertDatabaseTime(node, database)
  for (let round = 0; round < rounds; round++) {
    await assertOneFeed(nodes)
    await assertSharedLimit(nodes)
    await assertKeysWorkEverywhere(nodes)
  }
  t.diagnostic(`${rounds} rounds`)
  for (const node of nodes) node.kill('SIGTERM')
  for (const node of nodes) assert.equal(await node.exited, 0)
})

/** Creates leads on each node in turn: all nodes return their events in the order of creation, each once. */
async function assertOneFeed(nodes: readonly Service[]): Promise<void> {
  const { key } = await newWorkspace(nodes[0]?.url ?? '')
  const made: string[] = []
  for (let n = 0; n < leadsEach; n++) {
    const { status, body } = await call(nodes[n % nodes.length], 'POST', '/api/v1/leads', key, {
      firstName: `Kim ${n}`,
    })
    assert.equal(status, 201)
    made.push(body.data.id)
  }
  for (const node of nodes) {
    const { body } = await call(node, 'GET', '/api/v1/events?limit=100', key)
    assert.deepEqual(
      body.events.map((event: { payload: { id: string } }) => event.payload.id),
      made,
    )
  }
}

/** Sends three times the allowed number of requests to all nodes at once: no more than the limit are accepted. */
async function assertSharedLimit(nodes: readonly Service[]): Promise<void> {
  const { key } = await newWorkspace(nodes[0]?.url ?? '')
  const storm = Array.from({ length: limit }, () => nodes.map((node) => call(node, 'GET', '/api/v1/leads', key))).flat()
  const statuses = (await Promise.all(storm)).map(({ status }) => status)
  const accepted = statuses.filter((status) => status === 200).length
  assert.deepEqual([...new Set(statuses)].sort(), [200, 429])
  // Quota that a node leased in advance and did not use counts as used.
  assert.ok(accepted <= limit && accepted >= limit / 2, `${accepted} of ${limit}`)
}

/** A team token and an API key created on one node work on all nodes. */
async function assertKeysWorkEverywhere(nodes: readonly Service[]): Promise<void> {
  for (const maker of nodes) {
    const { workspaceId } = await newWorkspace(maker.url)
    const path = `/api/team/v1/workspaces/${workspaceId}`
    const made = await call(maker, 'POST', `${path}/tokens`, operatorToken, { name: 'CI', role: 'admin' })
    assert.equal(made.status, 201)
    const { value: key } = (
      await call(maker, 'POST', `${path}/keys`, operatorToken, { name: 'K', scopes: ['leads.read'] })
    ).body
    for (const node of nodes) {
      assert.equal((await call(node, 'GET', `${path}/labels`, made.body.value)).status, 200)
      assert.equal((await call(node, 'GET', '/api/v1/leads', key)).status, 200)
    }
  }
}

/** Returns by how many minutes the node reports its clock as ahead. */
function minutesAhead(node: Service): number {
  const logLine = node.lines().find((line) => line.includes('local clock is ahead of the database; correcting it'))
  return logLine === undefined ? 0 : Math.round(JSON.parse(logLine).aheadMs / 60_000)
}

/** The time of a lead's creation lies between two readings of the database's clock. */
async function assertDatabaseTime(node: Service, { db }: TestDatabase): Promise<void> {
  const { key } = await newWorkspace(node.url)
  const readDatabaseTime = async () =>
    (await db.sql<{ at: Date }[]>`select clock_timestamp() as at`)[0]?.at.getTime() ?? 0
  const before = await readDatabaseTime()
  const { body } = await call(node, 'POST', '/api/v1/leads', key, { firstName: 'Kim' })
  const madeAt = Date.parse(body.data.createdAt)
  assert.ok(madeAt > before - toleranceMs && madeAt < (await readDatabaseTime()) + toleranceMs, `${madeAt - before} ms`)
}

async function call(node: Service | undefined, method: string, path: string, token: string, body?: object) {
  const response = await fetch(`${node?.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape; a test fails where one is wrong
  return { status: response.status, body: (await response.json()) as any }
}
