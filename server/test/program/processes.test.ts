import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../src/base/db.ts'
import { atEnd, testDatabase } from '../support/database.ts'
import { newFolder } from '../support/folder.ts'
import { runCommand } from '../support/run-command.ts'
import {
  freePort,
  newWorkspace,
  operatorToken,
  type Service,
  serviceEnvironment,
  startService,
} from '../support/service.ts'
import { nodeSettings } from '../support/two-nodes.ts'

const metricsToken = 'metrics-token-of-the-tests-01'
const hourly = ['forget-paces', 'purge-deleted-leads', 'remove-old-events', 'sweep-parked-statuses', 'sweep-sign-ins']

interface Processes {
  db: Db
  /** The data folder that the first of each share. */
  folder: string
  apis: [Service, Service]
  workers: [Service, Service]
}

async function startProcesses(): Promise<Processes> {
  const database = await testDatabase()
  const env = { ...nodeSettings(database), PARLEY_SIMULATOR: '0', PARLEY_METRICS_TOKEN: metricsToken }
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

/** Which chores it has logged, in order. */
function choresOf(service: Service): string[] {
  return service.lines().flatMap((line) => /"job":"([^"]*)".*"msg":"chore"/.exec(line)?.[1] ?? [])
}

/** Resolves once the chore's turn has moved on so many times from now. */
async function turns(db: Db, name: string, count: number): Promise<void> {
  const seen = new Set<number>()
  while (seen.size <= count) {
    const [row] = await db.sql<{ next_at: Date }[]>`select next_at from chores where name = ${name}`
    if (row !== undefined) seen.add(row.next_at.getTime())
    await sleep(50)
  }
}

test('two apis and two workers are one service: what one writes all know, and each chore is run by one', async () => {
  const { db, folder, apis, workers } = await startProcesses()

  const { key, workspaceId } = await newWorkspace(apis[0].url)
  const created = await fetch(`${apis[0].url}/api/v1/leads`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{"firstName":"Kim"}',
  })
  const { data: lead } = (await created.json()) as { data: { id: string } }
  assert.equal((await read(`${apis[1].url}/api/v1/leads/${lead.id}`, key)).status, 200)
  const [event] = await db.sql`select name from events where workspace_id = ${workspaceId} and subject_id = ${lead.id}`
  assert.equal(event?.name, 'lead.created')

  await turns(db, 'wake-snoozed', 2)
  assert.deepEqual(workers.flatMap(choresOf).sort(), hourly)
  assert.deepEqual(apis.flatMap(choresOf), [])

  for (const worker of workers) {
    assert.equal((await fetch(`${worker.url}/healthz`)).status, 200)
    assert.equal((await fetch(`${worker.url}/readyz`)).status, 200)
    assert.equal((await read(`${worker.url}/api/v1/leads`, key)).status, 404)
    assert.equal((await fetch(`${worker.url}/metrics`)).status, 401)
  }
  const pages = await Promise.all([...apis, ...workers].map(({ url }) => read(`${url}/metrics`, metricsToken)))
  for (const { text } of pages) assert.match(text, /^parley_build_info\{/m)
  const runs = pages.map(({ text }) => text.match(/^parley_chores_total\{chore="wake-snoozed",result="done"\} (\d+)/m))
  assert.ok(runs.slice(0, 2).every((run) => run === null))
  assert.ok(runs.slice(2).reduce((sum, run) => sum + Number(run?.[1] ?? 0), 0) >= 2)

  workers[1].kill('SIGKILL')
  await workers[1].gone
  await turns(db, 'wake-snoozed', 1)
  assert.equal((await read(`${apis[1].url}/api/v1/leads/${lead.id}`, key)).status, 200)

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
