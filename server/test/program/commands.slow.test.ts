import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { newFolder } from '../support/folder.ts'
import { runCommand, runCommandInProcess } from '../support/program/run-command.ts'
import { ask, freePort, serviceEnvironment, startService } from '../support/program/service.ts'

// What each command does, and what it refuses, is tested in `server/test/cli/` within the test's process.

test('commands work on the embedded database with and without a running service, and leave no process behind', async () => {
  const [folder, port] = [await newFolder(), await freePort()]
  const env = serviceEnvironment(folder, port)
  const database = join(folder, 'postgres', 'postmaster.pid')
  const nothing = await runCommand(['key', 'create', '-f', 'reading'], env)
  assert.equal(nothing.exitCode, 1)
  assert.match(nothing.stderr, /^Preparing the database .*\nThe database is up to date .*\nThere is no workspace yet\./)
  assert.ok(!existsSync(database))
  const parley = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await runCommand([...args, '--json'], env)
    assert.equal(exitCode, 0, stderr)
    return JSON.parse(stdout)
  }
  const { invitationUrl } = await parley('workspace', 'create', 'Acme', '--owner', 'ana@example.com')
  const alone = await parley('key', 'create', '--name', 'Made alone', '--for', 'syncing')
  assert.deepEqual(await parley('reports', 'rebuild'), { success: true })
  const service = await startService({ folder, port })
  assert.deepEqual(await parley('reports', 'rebuild'), { success: true })
  assert.ok(invitationUrl.startsWith(`${service.url}/invite/`))
  assert.equal((await fetch(invitationUrl)).status, 200)
  const served = await parley('key', 'create', '--name', 'Made by the server', '--scope', 'leads.read')
  for (const { value } of [alone, served])
    assert.equal((await ask(service.url, value, 'GET /api/v1/leads')).status, 200)
  service.kill()
  await service.exited
  // The killed server has left its address behind, at which nobody answers.
  assert.equal((await parley('key', 'list')).keys.length, 2)
  assert.ok(!existsSync(database))

  // A new key would open nothing that is there.
  const key = join(folder, 'master.key')
  await rename(key, `${key}.away`)
  const refused = await runCommandInProcess(['workspace', 'list'], env)
  assert.equal(refused.exitCode, 1)
  assert.match(refused.stderr, /master\.key is missing/)
  assert.ok(!existsSync(key))
  await rename(`${key}.away`, key)
  assert.equal((await runCommandInProcess(['workspace', 'list'], env)).exitCode, 0)
})

test('an unreachable database is reported without its password', async () => {
  const env = serviceEnvironment(await newFolder(), 1, {
    DATABASE_URL: `postgres://parley:hidden@127.0.0.1:${await freePort()}/parley`,
    PARLEY_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  })
  const { exitCode, stderr } = await runCommandInProcess(['workspace', 'list'], env)
  assert.equal(exitCode, 1)
  assert.match(stderr, /^The database of DATABASE_URL does not answer: .*connect ECONNREFUSED/s)
  assert.doesNotMatch(stderr, /hidden/)
})
