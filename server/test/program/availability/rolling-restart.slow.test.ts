import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { type TestDatabase, testDatabase } from '../../support/database.ts'
import { newFolder } from '../../support/folder.ts'
import { startBalancer } from '../../support/program/balancer.ts'
import { freePort, newWorkspace, operatorToken, type Service, startService } from '../../support/program/service.ts'
import { nodeSettings } from '../../support/program/two-nodes.ts'
import { until } from '../../support/until.ts'
import { startReceiver } from '../../support/webhooks/webhook-receiver.ts'

const callers = 8

const settingsOf = (database: TestDatabase, drainSeconds: number) => ({
  ...nodeSettings(database),
  PARLEY_SIMULATOR: '0',
  PARLEY_ALLOW_CIDRS: '127.0.0.1',
  PARLEY_DRAIN_SECONDS: String(drainSeconds),
})

test('every process is restarted under load, one after the other, and no request fails', async (t) => {
  const database = await testDatabase()
  const env = settingsOf(database, 2)
  const start = async (port: number) => startService({ folder: await newFolder(), port, env })
  const ports = [await freePort(), await freePort()]
  const nodes: Service[] = []
  for (const port of ports) nodes.push(await start(port))
  const balancer = await startBalancer(ports)
  await until(() => balancer.ready() === 2, 'both of them')
  const { workspaceId, key } = await newWorkspace(balancer.url)
  const load = startLoad(balancer.url, key)
  const stream = followToItsEnd(balancer.url, workspaceId)
  await until(() => load.created.length >= 50, 'some writes')

  for (const [at, port] of ports.entries()) {
    nodes[at]?.kill('SIGTERM')
    await until(() => balancer.ready() === 1, 'a process that says it leaves')
    const before = load.created.length
    assert.equal(await nodes[at]?.gone, 0)
    assert.ok(load.created.length > before)
    nodes[at] = await start(port)
    const servedBefore = balancer.served[at] ?? 0
    await until(() => balancer.ready() === 2, 'both of them again')
    await until(() => (balancer.served[at] ?? 0) > servedBefore + 20, 'requests to the new one')
  }
  await load.stop()
  for (const node of nodes) node.kill()
  await Promise.all(nodes.map(({ gone }) => gone))
  t.diagnostic(`${load.count()} requests, ${load.created.length} of them writes`)
  assert.deepEqual(balancer.faults, [])
  assert.deepEqual(load.faults, [])
  assert.ok((await stream).includes('event: lead.created'))
  const stored = await database.db.sql<{ id: string }[]>`select id from leads where workspace_id = ${workspaceId}`
  assert.deepEqual(stored.map(({ id }) => id).sort(), load.created.sort())
})

test('a process that leaves says so, gives back what it works at, serves all the same, and a second signal ends that', async () => {
  const database = await testDatabase()
  const env = settingsOf(database, 300)
  const leaving = await startService({ folder: await newFolder(), port: await freePort(), env })
  const { workspaceId, key } = await newWorkspace(leaving.url)
  const receiver = await startReceiver()
  const hooks = `${leaving.url}/api/team/v1/workspaces/${workspaceId}/webhooks`
  const headers = { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' }
  const hook = JSON.stringify({ url: receiver.url, events: ['lead.*'] })
  assert.equal((await fetch(hooks, { method: 'POST', headers, body: hook })).status, 201)
  const agent = new Agent({ keepAlive: true })
  const create = () => call(leaving.url, key, agent, { firstName: 'Kim' })
  assert.deepEqual(await create().then(({ status, connection }) => [status, connection]), [201, 'keep-alive'])
  await receiver.reached(1)
  const holders = async () => {
    const rows = await database.db
      .sql`select from webhook_queues where workspace_id = ${workspaceId} and lease_until > now()`
    return rows.length
  }

  leaving.kill('SIGTERM')
  await leaving.hasTold('Stopping in 300 s')
  const ready = await fetch(`${leaving.url}/readyz`)
  assert.equal(ready.status, 503)
  assert.deepEqual(((await ready.json()) as { data: unknown }).data, { code: 'DRAINING' })
  assert.equal((await fetch(`${leaving.url}/healthz`)).status, 200)
  const [served, again] = [await create(), await create()]
  assert.deepEqual([served.status, served.connection, again.status], [201, 'close', 201])
  await until(async () => (await holders()) === 0, 'a lease that was given back')
  assert.equal(receiver.received.length, 1)
  const other = await startService({
    folder: await newFolder(),
    port: await freePort(),
    env: { ...env, PARLEY_DRAIN_SECONDS: '0' },
  })
  await receiver.reached(3)
  leaving.kill('SIGINT')
  assert.equal(await leaving.gone, 0)
  other.kill('SIGTERM')
  assert.equal(await other.gone, 0)
  agent.destroy()
  assert.equal(leaving.count('stopping failed'), 0)
})

interface Load {
  created: string[]
  faults: string[]
  count(): number
  stop(): Promise<void>
}

/** Callers that keep their connections: each writes and reads in turns, and one waits for what happens. */
function startLoad(url: string, key: string): Load {
  const created: string[] = []
  const faults: string[] = []
  let count = 0
  let isOver = false
  const agent = new Agent({ keepAlive: true })
  const noting = async (path?: string) => {
    const { status, body } = await call(url, key, agent, path === undefined ? { firstName: 'Kim' } : path)
    count++
    if (status === 201) created.push(JSON.parse(body).data.id)
    else if (status !== 200) faults.push(`${status} ${body}`)
  }
  const writer = async () => {
    while (!isOver) {
      await noting()
      await noting('/api/v1/leads?limit=1')
    }
  }
  const waiter = async () => {
    while (!isOver) await noting('/api/v1/events?wait=3&after=latest')
  }
  const running = Promise.all([...Array.from({ length: callers }, writer)].concat(waiter()))
  running.catch((error) => faults.push(String(error)))
  return {
    created,
    faults,
    count: () => count,
    stop: async () => {
      isOver = true
      await running
      agent.destroy()
    },
  }
}

interface Called {
  status: number
  connection: string | undefined
  body: string
}

/** A read of this path, or a lead to create. */
function call(url: string, key: string, agent: Agent, what: string | object): Promise<Called> {
  const { promise, resolve, reject } = Promise.withResolvers<Called>()
  const isRead = typeof what === 'string'
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const path = isRead ? what : '/api/v1/leads'
  const sent = request(`${url}${path}`, { method: isRead ? 'GET' : 'POST', headers, agent })
  sent.once('error', reject)
  sent.once('response', (answer) => {
    const { statusCode: status = 0, headers: told } = answer
    text(answer).then((body) => resolve({ status, connection: told.connection, body }), reject)
  })
  sent.end(isRead ? undefined : JSON.stringify(what))
  return promise
}

/** All that a stream says until the process ends it. Rejects when it is cut. */
async function followToItsEnd(url: string, workspaceId: string): Promise<string> {
  const headers = { authorization: `Bearer ${operatorToken}` }
  const answer = await fetch(`${url}/api/team/v1/workspaces/${workspaceId}/live`, { headers })
  assert.equal(answer.status, 200)
  return answer.text()
}
