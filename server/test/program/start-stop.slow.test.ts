import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { isServerOf } from '../../src/base/embedded/cluster.ts'
import { newFolder } from '../support/folder.ts'
import { runCommand } from '../support/program/run-command.ts'
import {
  ask,
  databasePidOf,
  freePort,
  newWorkspace,
  serviceEnvironment,
  startService,
} from '../support/program/service.ts'
import { until } from '../support/until.ts'

test('a second start on a folder or port in use is refused, and key files are readable only by their owner', async () => {
  const service = await startService()
  const { folder, port, url } = service
  const second = await runCommand(['serve'], serviceEnvironment(folder, await freePort()))
  assert.deepEqual(
    [second.exitCode, second.stderr],
    [
      1,
      `The data folder ${folder} is in use by process ${service.pid}. Stop it, or set PARLEY_DATA_DIR to another folder.\n`,
    ],
  )
  assert.equal((await ask(url, '', 'GET /readyz')).status, 200)
  const taken = await runCommand(['serve'], serviceEnvironment(await newFolder(), port))
  assert.equal(taken.exitCode, 1)
  assert.match(taken.stderr, /^Port \d+ of 127\.0\.0\.1 is in use\. .*PARLEY_PORT/m)

  for (const file of ['master.key', 'server.json']) assert.equal(statSync(join(folder, file)).mode & 0o777, 0o600, file)
  assert.equal(statSync(folder).mode & 0o777, 0o700)
  await service.stop()
  assert.ok(!existsSync(join(folder, 'server.json')))
})

/** Loads the service as `serve` does, and prints the address of each module. */
const listModules = `
import { registerHooks } from 'node:module'
const loaded = []
registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
await import('${new URL('../../src/cli/serve.ts', import.meta.url)}')
process.stdout.write(loaded.join('\\n'))
`

test('the start loads no package that only some requests need: each module takes a third of a millisecond', () => {
  const loaded = execFileSync(process.execPath, ['--input-type=module', '--eval', listModules], { encoding: 'utf8' })
  const late = ['@aws-sdk', '@modelcontextprotocol', '@scalar', 'ajv-formats', 'csv-parse', 'file-type', 'sharp']
  for (const name of [...late, 'libphonenumber-js', '@opentelemetry/sdk-trace', 'web-push'])
    assert.ok(!loaded.includes(`/node_modules/${name}/`), name)
  const ofPackages = loaded.split('\n').filter((url) => url.includes('/node_modules/'))
  assert.ok(ofPackages.length < 800, `${ofPackages.length} modules: load new packages at their first use`)
})

/** Which requests were answered, refused with words, or never taken. A cut answer is an error of another kind. */
interface Outcome {
  created: string[]
  refused: number
  notTaken: number
  cut: string[]
}

test('a stop during writes completes accepted requests: stored means answered; a copy of its folder starts elsewhere', async () => {
  const service = await startService()
  const { folder, port } = service
  const { key } = await newWorkspace(service.url)

  const outcome: Outcome = { created: [], refused: 0, notTaken: 0, cut: [] }
  let stopped = false
  const writers = Array.from({ length: 8 }, async () => {
    while (!stopped) await createLead(port, key, outcome)
  })
  await until(() => outcome.created.length > 100, 'some leads')
  const databasePid = await databasePidOf(folder)
  await service.stop()
  stopped = true
  await Promise.all(writers)
  assert.deepEqual(outcome.cut, [])
  assert.deepEqual(
    service.lines().filter((line) => line.includes('"level":"error"')),
    [],
  )
  assert.ok(!isServerOf(databasePid, join(folder, 'postgres')))

  const [copy, files] = [await newFolder(), await newFolder()]
  execFileSync('cp', ['-a', `${folder}/.`, copy])
  execFileSync('cp', ['-a', `${join(copy, 'media')}/.`, files])
  await rm(join(copy, 'media'), { recursive: true })
  const again = await startService({ folder: copy, env: { PARLEY_MEDIA_URL: pathToFileURL(files).href } })
  const { pagination } = (await ask(again.url, key, 'GET /api/v1/leads?limit=1')).body
  assert.equal(pagination.total, outcome.created.length)

  // A second signal ends it at once, and its database with it.
  const pid = await databasePidOf(copy)
  again.kill('SIGTERM')
  again.kill('SIGINT')
  const end = await again.exited
  assert.ok(end === 0 || end === 130 || end === 143, String(end))
  await until(() => !isServerOf(pid, join(copy, 'postgres')), 'the end of the database')
})

/** Over a connection of its own: a kept one may close between two requests, which says nothing about either. */
async function createLead(port: number, key: string, outcome: Outcome): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' }
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>()
  const sent = request({ host: '127.0.0.1', port, method: 'POST', path: '/api/v1/leads', headers, agent: false })
  sent.once('error', reject)
  sent.once('response', (response) => {
    text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject)
  })
  sent.end('{"firstName":"Kim"}')
  try {
    const { status, body } = await promise
    if (status === 201) outcome.created.push(JSON.parse(body).data.id)
    else if (status === 503) outcome.refused++
    else outcome.cut.push(body)
  } catch (error) {
    // Waiting for the listener when it closed: the system turns such connections away, and nobody has read them.
    const code = error instanceof Error && 'code' in error ? error.code : error
    if (code === 'ECONNREFUSED' || code === 'ECONNRESET') outcome.notTaken++
    else outcome.cut.push(String(error))
  }
}
