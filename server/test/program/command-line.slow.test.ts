import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { testDatabase } from '../support/database.ts'
import { newFolder } from '../support/folder.ts'
import { runCommand } from '../support/program/run-command.ts'
import { freePort, serviceEnvironment, startService } from '../support/program/service.ts'
import { nodeSettings } from '../support/program/two-nodes.ts'

test('commands work through the server that runs, and alike without one', async () => {
  const folder = await newFolder()
  const port = await freePort()
  const env = serviceEnvironment(folder, port)
  const parley = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await runCommand([...args, '--json'], env)
    assert.equal(exitCode, 0, stderr)
    return JSON.parse(stdout)
  }

  const { workspace, invitationUrl } = await parley(
    'workspace',
    'create',
    'Acme',
    '--owner',
    'ana@example.com',
    '-c',
    'br',
  )
  assert.equal(workspace.defaultCountry, 'BR')
  const alone = await parley('key', 'create', '--name', 'Made alone', '--for', 'syncing')
  assert.deepEqual(alone.key.scopes, ['leads.read', 'leads.write', 'leads.bulk'])
  assert.equal(alone.key.answersNewConversations, false)

  const service = await startService({ folder, port })
  const accept = (url: string) => {
    const body = JSON.stringify({ token: url.split('/').at(-1), name: 'Ana', password: 'four plain words together' })
    const headers = { 'content-type': 'application/json' }
    return fetch(`${service.url}/api/team/v1/invitations/accept`, { method: 'POST', headers, body })
  }
  assert.ok(invitationUrl.startsWith(`${service.url}/invite/`))
  assert.equal((await fetch(invitationUrl)).status, 200)
  const served = await parley('key', 'create', '--name', 'Made by the server', '--scope', 'leads.read', '--masked')
  assert.deepEqual(served.key.scopes, ['leads.read'])
  assert.equal(served.key.phoneVisibility, 'masked')
  for (const { value } of [alone, served]) assert.equal(await statusFor(service.url, value), 200)

  await parley('key', 'revoke', alone.key.id, '--workspace', 'Acme')
  assert.equal(await statusFor(service.url, alone.value), 401)
  const listed = await parley('key', 'list')
  assert.deepEqual(
    listed.keys.map((key: { name: string; status: string }) => [key.name, key.status]),
    [
      ['Made by the server', 'active'],
      ['Made alone', 'revoked'],
    ],
  )
  assert.equal((await parley('token', 'create', '--role', 'admin')).token.role, 'admin')
  assert.deepEqual(await parley('member', 'list'), { members: [] })
  const limited = await parley('workspace', 'quota', '50', 'Acme')
  assert.deepEqual([limited.workspace.dailyLeadQuota, limited.workspace.dailyLeadQuotaCeiling], [50, 50])
  await accept(invitationUrl)
  assert.deepEqual(await parley('member', 'sign-out', 'ana@example.com'), { success: true })
  service.kill()
  await service.gone

  // The killed server has left its address behind, at which nobody answers.
  assert.equal((await parley('key', 'list')).keys.length, 2)
  // Nor does a program that has taken its port since then get to be believed.
  writeFileSync(join(folder, 'server.json'), '{"url":"http://127.0.0.1:1","token":"old"}')
  assert.deepEqual((await parley('migrate')).applied, [])
})

const refusals: [name: string, args: string[], words: RegExp][] = [
  ['no workspace', ['key', 'create', '--for', 'reading'], /^There is no workspace yet\./],
  ['unknown workspace', ['key', 'list', '-w', 'Nobody'], /^There is no workspace yet\./],
  ['a key for nothing', ['key', 'create'], /^Say what the key is for, with --for, .*\n {2}--for answering/],
  ['a key for two things', ['key', 'create', '--for', 'reading', '-s', 'leads.read'], /cannot be used with option/],
  ['a key for what is not known', ['key', 'create', '--for', 'fun'], /Allowed choices are answering, syncing, reading/],
  ['no user', ['member', 'link'], /^Nobody has joined yet\./],
  ['unknown user', ['member', 'link', 'ana@example.com'], /^No user has this e-mail/],
  ['bad country', ['workspace', 'create', 'X', '-c', 'Brazil'], /^Validation failed\n {2}defaultCountry /],
  ['unknown country', ['workspace', 'create', 'X', '-c', 'FP'], /^Validation failed\n {2}defaultCountry /],
  ['bad quota', ['workspace', 'create', 'X', '-q', 'many'], /It must be a whole number/],
  ['unknown role', ['member', 'invite', 'x@example.com', '-r', 'boss'], /Allowed choices are member, admin, owner/],
  ['unknown command', ['key', 'burn'], /unknown command 'burn'/],
]

test('a command that finds nothing on the embedded database says so, and leaves no database behind', async () => {
  const folder = await newFolder()
  const { exitCode, stderr } = await runCommand(
    ['key', 'create', '-f', 'reading'],
    serviceEnvironment(folder, await freePort()),
  )
  assert.equal(exitCode, 1)
  assert.match(stderr, /^Preparing the database .*\nThe database is up to date .*\nThere is no workspace yet\./)
  assert.ok(!existsSync(join(folder, 'postgres', 'postmaster.pid')))
})

test('a command that cannot be done says why and what to do, and exits with 1', async () => {
  const env = { ...serviceEnvironment(await newFolder(), await freePort()), ...nodeSettings(await testDatabase()) }
  for (const [name, args, words] of refusals) {
    const { exitCode, stderr, stdout } = await runCommand(args, env)
    assert.equal(exitCode, 1, name)
    assert.match(stderr, words, name)
    assert.equal(stdout, '', name)
  }
})

async function statusFor(url: string, key: string): Promise<number> {
  const { status } = await fetch(`${url}/api/v1/leads`, { headers: { authorization: `Bearer ${key}` } })
  return status
}
