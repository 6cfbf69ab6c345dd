import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Db } from '../../src/base/db.ts'
import { testDatabase } from '../support/database.ts'
import { atEnd } from '../support/file-end.ts'
import { newFolder } from '../support/folder.ts'
import { runCommand } from '../support/program/run-command.ts'
import {
  freePort,
  newWorkspace,
  operatorToken,
  type Service,
  serviceEnvironment,
  startService,
} from '../support/program/service.ts'
import { nodeSettings } from '../support/program/two-nodes.ts'
import { until } from '../support/until.ts'
import { type Receiver, startReceiver } from '../support/webhooks/webhook-receiver.ts'

const metricsToken = 'metrics-token-of-the-tests-01'

interface Processes {
  db: Db
  /** The data folder that the first of each share. */
  folder: string
  apis: [Service, Service]
  workers: [Service, Service]
}

async function startProcesses(): Promise<Processes> {
  const database = await testDatabase()
  const env = {
    ...nodeSettings(database),
    PARLEY_SIMULATOR: '0',
    PARLEY_METRICS_TOKEN: metricsToken,
    PARLEY_ALLOW_CIDRS: '127.0.0.1',
  }
  const folder = await newFolder()
  const start = async (only: string, own: string) => {
    const service = await startService({ folder: own, port: await freePort(), env, args: ['--only', only] })
    atEnd(async () => {
      service.kill()
      await service.gone
    })
    return service
  }
  // The first worker after the first api: the folder's address must stay that of the api.
  const apis: [Service, Service] = [await start('api', folder), await start('api', await newFolder())]
  const workers: [Service, Service] = [await start('worker', folder), await start('worker', await newFolder())]
  return { db: database.db, folder, apis, workers }
}

async function read(url: string, token: string): Promise<{ status: number; text: string }> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
  return { status: response.status, text: await response.text() }
}

async function post(url: string, token: string, body: object): Promise<{ status: number; text: string }> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: response.status, text: await response.text() }
}

async function createLead({ url }: Service, key: string): Promise<string> {
  const { status, text } = await post(`${url}/api/v1/leads`, key, { firstName: 'Kim' })
  assert.equal(status, 201, text)
  return JSON.parse(text).data.id
}

/** A receiver of this test that the workspace tells of its leads. */
async function addWebhook({ url }: Service, workspaceId: string): Promise<Receiver> {
  const receiver = await startReceiver()
  const endpoints = `${url}/api/team/v1/workspaces/${workspaceId}/webhooks`
  const { status, text } = await post(endpoints, operatorToken, { url: receiver.url, events: ['lead.*'] })
  assert.equal(status, 201, text)
  return receiver
}

/** Which chores it has logged, in order. */
function choresOf(service: Service): string[] {
  return service.lines().flatMap((line) => /"job":"([^"]*)".*"msg":"chore"/.exec(line)?.[1] ?? [])
}

/** Lets the chore's turn come so many times, each as soon as somebody has taken the one before. */
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

test('two apis and two workers are one service: what one writes all know, and each chore is run by one', async () => {
  const { db, folder, apis, workers } = await startProcesses()

  const { key, workspaceId } = await newWorkspace(apis[0].url)
  const receiver = await addWebhook(apis[1], workspaceId)
  const lead = await createLead(apis[0], key)
  assert.equal((await read(`${apis[1].url}/api/v1/leads/${lead}`, key)).status, 200)
  const feed = JSON.parse((await read(`${apis[1].url}/api/v1/events`, key)).text)
  assert.deepEqual(
    feed.events.map((event: { payload: { id: string } }) => event.payload.id),
    [lead],
  )
  await receiver.reached(1)

  await turns(db, 'settle-stranded', 2)
  const hourly = workers.flatMap(choresOf)
  assert.ok(hourly.includes('purge-deleted-leads'))
  assert.equal(new Set(hourly).size, hourly.length)
  assert.deepEqual(apis.flatMap(choresOf), [])

  for (const worker of workers) {
    assert.equal((await fetch(`${worker.url}/healthz`)).status, 200)
    assert.equal((await fetch(`${worker.url}/readyz`)).status, 200)
    assert.equal((await read(`${worker.url}/api/v1/leads`, key)).status, 404)
    assert.equal((await fetch(`${worker.url}/metrics`)).status, 401)
  }
  const pages = await Promise.all([...apis, ...workers].map(({ url }) => read(`${url}/metrics`, metricsToken)))
  for (const { text } of pages) assert.match(text, /^parley_build_info\{/m)
  const runs = pages.map(({ text }) =>
    text.match(/^parley_chores_total\{chore="settle-stranded",result="done"\} (\d+)/m),
  )
  assert.ok(runs.slice(0, 2).every((run) => run === null))
  assert.ok(runs.slice(2).reduce((sum, run) => sum + Number(run?.[1] ?? 0), 0) >= 2)

  workers[1].kill('SIGKILL')
  await workers[1].gone
  await turns(db, 'settle-stranded', 1)
  const second = await createLead(apis[0], key)
  await receiver.reached(2)
  assert.deepEqual(
    receiver.received.map(({ body }) => body.id),
    [lead, second],
  )

  workers[0].kill('SIGTERM')
  assert.equal(await workers[0].gone, 0)
  assert.equal(workers[0].count('stopped'), 1)
  const { url } = JSON.parse(readFileSync(join(folder, 'server.json'), 'utf8'))
  assert.equal(url, apis[0].url)
  const env = { ...serviceEnvironment(folder, 1), ...nodeSettings(await testDatabase()) }
  const listed = await runCommand(['key', 'list', '--json'], env)
  assert.equal(listed.exitCode, 0, listed.stderr)
  await apis[0].logged('request')
  assert.ok(apis[0].lines().some((line) => line.includes('"method":"GET","route":"/api/team/v1/workspaces"')))

  for (const api of apis) api.kill('SIGTERM')
  assert.deepEqual(await Promise.all(apis.map(({ gone }) => gone)), [0, 0])
  assert.ok(!existsSync(join(folder, 'server.json')))
})

test('an operator reads the metrics of a process that does everything', async () => {
  const service = await startService({ folder: await newFolder(), port: await freePort() })
  const { status, text } = await read(`${service.url}/metrics`, operatorToken)
  assert.equal(status, 200)
  assert.match(text, /^parley_db_connections_max 10$/m)
  service.kill('SIGTERM')
  assert.equal(await service.gone, 0)
})

test('a part alone is refused on the embedded database, and so is a part that there is not', async () => {
  const env = serviceEnvironment(await newFolder(), await freePort())
  for (const only of ['api', 'worker']) {
    const { exitCode, stderr } = await runCommand(['serve', '--only', only], env)
    assert.equal(exitCode, 1)
    assert.match(stderr, /the embedded one serves one process\. Set DATABASE_URL .* or leave --only out/)
  }
  const { exitCode, stderr } = await runCommand(['serve', '--only', 'both'], env)
  assert.equal(exitCode, 1)
  assert.match(stderr, /Allowed choices are api, worker/)
})
