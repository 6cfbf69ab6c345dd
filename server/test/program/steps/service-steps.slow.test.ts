import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { loadConfig } from '../../../src/config.ts'
import { newFolder } from '../../support/folder.ts'
import { commandsUnder, type } from '../../support/program/operations.ts'
import { runCommand } from '../../support/program/run-command.ts'
import { freePort, newWorkspace, serviceEnvironment, startService } from '../../support/program/service.ts'
import { shellEnvironment } from '../../support/program/shell.ts'
import { startCollector } from '../../support/telemetry/collector.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))

test('the commands of "Rotate keys" exchange every key of a service that runs, and it opens all it had', async () => {
  const [rotate = '', ...more] = await commandsUnder('Rotate keys')
  assert.deepEqual(more, [])
  const [folder, port, simulatorPort] = [await newFolder(), await freePort(), await freePort()]
  const simulator = { PARLEY_SIMULATOR: '1', PARLEY_SIMULATOR_PORT: String(simulatorPort) }
  const service = await startService({ folder, port, env: simulator })
  const { workspaceId, key } = await newWorkspace(service.url)
  const { code } = await createLead(service.url, key, '+55 81 99123-4567')
  const before = await readFile(join(folder, 'master.key'), 'utf8')

  // The third line is about a workspace of that name: `--all` is typed.
  const typing = spawn('bash', ['-ec', rotate], { cwd: root, env: shellEnvironment({ PARLEY_DATA_DIR: folder }) })
  const said = Promise.all([text(typing.stdout), once(typing, 'exit')])
  typing.stderr.setEncoding('utf8')
  for await (const words of typing.stderr) {
    if (!String(words).includes('waiting a minute')) continue
    const clock = `http://127.0.0.1:${simulatorPort}/simulator/clock`
    const headers = { 'content-type': 'application/json' }
    const moved = await fetch(clock, { method: 'POST', headers, body: JSON.stringify({ advanceMs: 61_000 }) })
    assert.equal(moved.status, 200)
  }
  const [printed, [exitCode]] = await said
  assert.equal(exitCode, 0)
  assert.match(
    printed,
    /secrets are wrapped anew[\s\S]*Rotated the data key: [1-9]\d* rows[\s\S]*Rotated the index key: [1-9]\d* rows/,
  )
  assert.notEqual(await readFile(join(folder, 'master.key'), 'utf8'), before)
  assert.equal((await readdir(folder)).filter((name) => name.startsWith('master.key.')).length, 1)
  assert.equal(await statusOf(service.url, key, `/api/v1/leads/${code}`), 200)
  assert.equal(await statusOf(service.url, key, '/api/v1/leads/5581991234567'), 200)
  const proof = await runCommand(['prove', '--json'], serviceEnvironment(folder, 1))
  assert.deepEqual(JSON.parse(proof.stdout).findings, [])
  assert.ok(workspaceId)
})

test('the commands of "Erase a customer" show how much there is, and erase it once that is confirmed', async () => {
  const [erase = '', ...more] = await commandsUnder('Erase a customer')
  assert.deepEqual(more, [])
  const [look = '', remove = ''] = erase.trim().split('\n')
  const [folder, port] = [await newFolder(), await freePort()]
  const service = await startService({ folder, port })
  const { key } = await newWorkspace(service.url)
  const { code } = await createLead(service.url, key, '+55 81 99123-4567')
  const env = shellEnvironment({ PARLEY_DATA_DIR: folder })
  assert.match(await type(look, root, env), /leads +1\n/)
  // Nobody is there to be asked.
  await assert.rejects(type(remove, root, env), /--yes/)
  assert.equal(await statusOf(service.url, key, `/api/v1/leads/${code}`), 200)
  await type(remove.replace(/ +#.*/, ' --yes'), root, env)
  assert.equal(await statusOf(service.url, key, `/api/v1/leads/${code}`), 404)
})

test('the command of "Rolling restarts" ends once the process serves', async () => {
  // The others are those of the cluster and of the trials.
  const [wait = ''] = await commandsUnder('Several processes')
  const [folder, port] = [await newFolder(), await freePort()]
  const waiting = type(wait, root, shellEnvironment({ PARLEY_PORT: String(port) }))
  await startService({ folder, port })
  assert.equal(await waiting, '{"status":"ok"}')
})

test('the settings of "OpenTelemetry" are those of a service that tells a collector of a share of its traces', async () => {
  const [line = '', ...more] = await commandsUnder('What to watch')
  assert.deepEqual(more, [])
  const settings = Object.fromEntries(
    line
      .trim()
      .split(' ')
      .map((one) => one.split('=')),
  )
  const { traces, metrics } = loadConfig(settings).telemetry ?? {}
  assert.deepEqual(
    [traces?.url, traces?.sampler, traces?.ratio, metrics?.url],
    ['http://otel-collector:4318/v1/traces', 'parentbased_traceidratio', 0.05, 'http://otel-collector:4318/v1/metrics'],
  )
  const collector = await startCollector()
  const env = { ...settings, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER_ARG: '1' }
  const service = await startService({ folder: await newFolder(), port: await freePort(), env })
  await newWorkspace(service.url)
  service.kill('SIGTERM')
  assert.equal(await service.gone, 0)
  assert.ok(collector.spans().some(({ name }) => name === 'POST /api/team/v1/workspaces'))
})

test('the commands of "With Compose" make the secrets that its file names, for their owner alone', async () => {
  const [make = '', ...more] = await commandsUnder('In containers')
  assert.deepEqual(more, [])
  const folder = await newFolder()
  await cp(join(root, 'deploy/compose'), join(folder, 'deploy/compose'), { recursive: true })
  await type(make, folder, shellEnvironment({}))
  const made = join(folder, 'deploy/compose')
  assert.equal(await readFile(join(made, '.env'), 'utf8'), 'PARLEY_DOMAIN=parley.example.com\n')
  const named = [...(await readFile(join(made, 'compose.yaml'), 'utf8')).matchAll(/\.\/secrets\/([\w-]+)/g)]
  assert.ok(named.length > 1)
  for (const [, name = ''] of named) assert.ok((await stat(join(made, 'secrets', name))).size > 10, name)
  assert.equal((await stat(join(made, 'secrets'))).mode & 0o077, 0)
})

async function createLead(url: string, key: string, phone: string): Promise<{ code: string }> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ firstName: 'Kim', phone })
  const reply = await fetch(`${url}/api/v1/leads`, { method: 'POST', headers, body })
  assert.equal(reply.status, 201)
  const { data } = (await reply.json()) as { data: { uniqueCode: string } }
  return { code: data.uniqueCode }
}

async function statusOf(url: string, key: string, path: string): Promise<number> {
  const reply = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } })
  await reply.arrayBuffer()
  return reply.status
}
