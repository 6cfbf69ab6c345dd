import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Db } from '../../src/base/db.ts'
import { testDatabase } from '../support/database.ts'
import { newFolder } from '../support/folder.ts'
import { runCommandInProcess } from '../support/program/run-command.ts'
import {
  ask,
  newWorkspace,
  operatorToken,
  type Service,
  serviceEnvironment,
  startService,
} from '../support/program/service.ts'
import { nodeSettings } from '../support/program/two-nodes.ts'
import { until } from '../support/until.ts'
import { startReceiver } from '../support/webhooks/webhook-receiver.ts'

const metricsToken = 'metrics-token-of-the-tests-01'

async function startProcesses() {
  const database = await testDatabase()
  const own = { PARLEY_SIMULATOR: '0', PARLEY_METRICS_TOKEN: metricsToken, PARLEY_ALLOW_CIDRS: '127.0.0.1' }
  const env = { ...nodeSettings(database), ...own }
  const folder = await newFolder()
  const start = (only: string, own: string) => startService({ folder: own, env, args: ['--only', only] })
  // The first worker after the first api: the folder's address must stay that of the api.
  const apis = [await start('api', folder), await start('api', await newFolder())] as const
  const workers = [await start('worker', folder), await start('worker', await newFolder())] as const
  return { db: database.db, folder, apis, workers }
}

const createLead = async ({ url }: Service, key: string): Promise<string> =>
  (await ask(url, key, 'POST /api/v1/leads', { firstName: 'Kim' })).body.data.id

/** Which scheduled jobs it has logged, in order. */
function choresOf(service: Service): string[] {
  return service.lines().flatMap((line) => /"job":"([^"]*)".*"msg":"scheduled job finished"/.exec(line)?.[1] ?? [])
}

/** Lets the scheduled job's turn come so many times, each as soon as a process has taken the one before. */
async function turns(db: Db, name: string, count: number): Promise<void> {
  const nextAt = async () => {
    const [row] = await db.sql<{ next_at: Date }[]>`select next_at from chores where name = ${name}`
    return row?.next_at.getTime() ?? 0
  }
  await until(async () => (await nextAt()) > 0, `the first turn of ${name}`)
  for (let turn = 0; turn < count; turn++) {
    await db.sql`update chores set next_at = now() where name = ${name}`
    const due = await nextAt()
    await until(async () => (await nextAt()) > due, `a turn of ${name}`)
  }
}

test('two apis and two workers act as one service: writes are visible everywhere, and each scheduled job runs once', async () => {
  const { db, folder, apis, workers } = await startProcesses()

  const { key, workspaceId } = await newWorkspace(apis[0].url)
  const receiver = await startReceiver()
  const hook = { url: receiver.url, events: ['lead.*'] }
  const hooks = `POST /api/team/v1/workspaces/${workspaceId}/webhooks`
  assert.equal((await ask(apis[1].url, operatorToken, hooks, hook)).status, 201)
  const lead = await createLead(apis[0], key)
  assert.equal((await ask(apis[1].url, key, `GET /api/v1/leads/${lead}`)).status, 200)
  await receiver.reached(1)

  await turns(db, 'settle-stranded', 2)
  const hourly = workers.flatMap(choresOf)
  assert.ok(hourly.includes('purge-deleted-leads'))
  assert.equal(new Set(hourly).size, hourly.length)
  assert.deepEqual(apis.flatMap(choresOf), [])

  for (const { url } of workers) {
    const paths = ['/healthz', '/readyz', '/api/v1/leads', '/metrics']
    const statuses = await Promise.all(paths.map(async (path) => (await ask(url, key, `GET ${path}`)).status))
    assert.deepEqual(statuses, [200, 200, 404, 401])
  }
  workers[1].kill('SIGKILL')
  await workers[1].exited
  await turns(db, 'settle-stranded', 1)
  const second = await createLead(apis[0], key)
  await receiver.reached(2)
  assert.deepEqual(
    receiver.received.map(({ body }) => body.id),
    [lead, second],
  )

  await workers[0].stop()
  assert.equal(workers[0].count('stopped'), 1)
  const { url } = JSON.parse(readFileSync(join(folder, 'server.json'), 'utf8'))
  assert.equal(url, apis[0].url)
  const env = { ...serviceEnvironment(folder, 1), ...nodeSettings(await testDatabase()) }
  const listed = await runCommandInProcess(['key', 'list', '--json'], env)
  assert.equal(listed.exitCode, 0, listed.stderr)
  const line = '"method":"GET","route":"/api/team/v1/workspaces"'
  await until(() => apis[0].lines().some((one) => one.includes(line)), 'the request of the command')

  await Promise.all(apis.map((api) => api.stop()))
  assert.ok(!existsSync(join(folder, 'server.json')))
})
