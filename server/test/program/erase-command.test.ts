import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newFolder } from '../support/folder.ts'
import { runCommand } from '../support/program/run-command.ts'
import { freePort, serviceEnvironment, startService } from '../support/program/service.ts'

const phone = '5581991234567'

test('a customer is erased on the command line, by a server that runs and without one, and only when that is confirmed', async () => {
  const folder = await newFolder()
  const port = await freePort()
  const env = serviceEnvironment(folder, port)
  const parley = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await runCommand([...args, '--json'], env)
    assert.equal(exitCode, 0, stderr)
    return JSON.parse(stdout)
  }
  await parley('workspace', 'create', 'Acme')
  const { value } = await parley('key', 'create', '--name', 'K', '--for', 'syncing')
  const lead = async (url: string, firstName: string) => {
    const headers = { authorization: `Bearer ${value}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ firstName, phone })
    const reply = await fetch(`${url}/api/v1/leads`, { method: 'POST', headers, body })
    const { data } = (await reply.json()) as { data: { uniqueCode: string } }
    return data
  }
  const service = await startService({ folder, port })
  const { uniqueCode } = await lead(service.url, 'One')
  assert.equal((await parley('erase', '--lead', uniqueCode, '--dry-run')).found.leads, 1)
  for (const [args, words] of [
    [['erase', '--phone', phone], /say --yes/],
    [['erase'], /Say whom/],
    [['erase', '--phone', '12', '--yes'], /phone must be a phone number/],
    [['erase', '--phone', phone, '--email', 'a@example.com'], /cannot be used with/],
  ] as const) {
    const { exitCode, stderr } = await runCommand([...args], env)
    assert.equal(exitCode, 1)
    assert.match(stderr, words)
  }
  const served = await parley('erase', '--phone', '+55 (81) 9123-4567', '--yes')
  assert.deepEqual([served.erasure.state, served.erasure.removed.leads], ['done', 1])
  await lead(service.url, 'Two')
  service.kill()
  await service.gone

  const alone = await parley('erase', '--phone', phone, '--yes')
  assert.deepEqual([alone.erasure.state, alone.erasure.removed.leads], ['done', 1])
})
