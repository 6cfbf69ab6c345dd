import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type TestDatabase, testDatabase } from '../../support/database.ts'
import { atEnd } from '../../support/file-lifecycle.ts'
import { startCallers } from '../../support/program/callers.ts'
import {
  ask,
  freePort,
  newWorkspace,
  operatorToken,
  type Service,
  startService,
} from '../../support/program/service.ts'
import { nodeSettings } from '../../support/program/two-nodes.ts'
import { until } from '../../support/until.ts'
import { startReceiver } from '../../support/webhooks/webhook-receiver.ts'

const settingsOf = (database: TestDatabase, drainSeconds: number) => ({
  ...nodeSettings(database),
  PARLEY_SIMULATOR: '0',
  PARLEY_ALLOW_CIDRS: '127.0.0.1',
  PARLEY_DRAIN_SECONDS: String(drainSeconds),
})

/** Gives each request to whichever process says that it is ready, in turns, as a balancer does; none is tried twice. */
function balance(ports: readonly number[]) {
  const nodes = ports.map((port) => ({ url: `http://127.0.0.1:${port}`, isReady: false, served: 0 }))
  const ready = () => nodes.filter(({ isReady }) => isReady)
  const asking = setInterval(() => {
    for (const node of nodes) {
      ask(node.url, '', 'GET /readyz', undefined, { connection: 'close' }).then(
        ({ status }) => (node.isReady = status === 200),
        () => (node.isReady = false),
      )
    }
  }, 100)
  atEnd(async () => clearInterval(asking))
  let turn = 0
  const next = () => {
    const node = ready()[turn++ % ready().length] ?? assert.fail('nobody is ready')
    node.served++
    return node.url
  }
  return { nodes, ready: () => ready().length, next }
}

test('processes are restarted one by one under load without failed requests', async (t) => {
  const database = await testDatabase()
  const env = settingsOf(database, 2)
  const ports = [await freePort(), await freePort()]
  const services: Service[] = []
  for (const port of ports) services.push(await startService({ port, env }))
  const { nodes, ready, next } = balance(ports)
  await until(() => ready() === 2, 'both of them')
  const { workspaceId, key } = await newWorkspace(next())
  const reads = ['/api/v1/leads?limit=1', '/api/v1/leads?limit=1', '/api/v1/events?wait=3&after=latest']
  const callers = startCallers({ url: next, key, reads })
  // A stream ends with its process, whole; it rejects when it is cut.
  const stream = ask(next(), operatorToken, `GET /api/team/v1/workspaces/${workspaceId}/live`)
  await callers.more(50)

  for (const [at, port] of ports.entries()) {
    services[at]?.kill('SIGTERM')
    await until(() => ready() === 1, 'a process that says it leaves')
    const before = callers.written.length
    assert.equal(await services[at]?.exited, 0)
    assert.ok(callers.written.length > before)
    services[at] = await startService({ port, env })
    const servedBefore = nodes[at]?.served ?? 0
    await until(() => ready() === 2, 'both of them again')
    await until(() => (nodes[at]?.served ?? 0) > servedBefore + 20, 'requests to the new one')
  }
  await callers.stop()
  for (const service of services) service.kill()
  await Promise.all(services.map(({ exited }) => exited))
  const { written, counts, faults } = callers
  const requests = Object.values(counts).reduce((sum, count) => sum + count, 0)
  t.diagnostic(`${requests} requests (${JSON.stringify(counts)}), ${written.length} of them writes`)
  assert.deepEqual([faults, counts[503]], [[], undefined])
  assert.ok((await stream).text.includes('event: lead.created'))
  const stored = await database.db.sql<{ id: string }[]>`select id from leads where workspace_id = ${workspaceId}`
  assert.deepEqual(stored.map(({ id }) => id).sort(), written.map(({ id }) => id).sort())
})

test('a stopping process reports it, releases its work, keeps serving, and stops on a second signal', async () => {
  const database = await testDatabase()
  const env = settingsOf(database, 300)
  const leaving = await startService({ env })
  const { workspaceId, key } = await newWorkspace(leaving.url)
  const receiver = await startReceiver()
  const hook = { url: receiver.url, events: ['lead.*'] }
  const hooks = `POST /api/team/v1/workspaces/${workspaceId}/webhooks`
  assert.equal((await ask(leaving.url, operatorToken, hooks, hook)).status, 201)
  const create = async () => {
    const { status, headers } = await ask(leaving.url, key, 'POST /api/v1/leads', { firstName: 'Kim' })
    return [status, headers.get('connection')]
  }
  assert.deepEqual(await create(), [201, 'keep-alive'])
  await receiver.reached(1)
  const holders = async () => {
    const rows = await database.db
      .sql`select from webhook_queues where workspace_id = ${workspaceId} and lease_until > now()`
    return rows.length
  }

  leaving.kill('SIGTERM')
  await leaving.hasPrinted('Stopping in 300 s')
  const ready = await ask(leaving.url, '', 'GET /readyz')
  assert.deepEqual([ready.status, ready.body.data], [503, { code: 'DRAINING' }])
  assert.equal((await ask(leaving.url, '', 'GET /healthz')).status, 200)
  assert.deepEqual(await create(), [201, 'close'])
  assert.equal((await create())[0], 201)
  await until(async () => (await holders()) === 0, 'a lease that was given back')
  assert.equal(receiver.received.length, 1)
  const other = await startService({ env: { ...env, PARLEY_DRAIN_SECONDS: '0' } })
  await receiver.reached(3)
  leaving.kill('SIGINT')
  assert.equal(await leaving.exited, 0)
  await other.stop()
  assert.equal(leaving.count('shutdown failed'), 0)
})
