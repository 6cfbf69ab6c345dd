import assert from 'node:assert/strict'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { warningOf } from '../../src/cli/mcp.ts'
import { writeServerFile } from '../../src/cli/team-call.ts'
import { runCommandInProcess } from '../support/program/run-command.ts'
import { ask } from '../support/program/service.ts'
import { type InProcessServer, inProcessServer } from './in-process-server.ts'

const phone = '5581991234567'

/** Runs a command that succeeds, and returns its document. */
const parleyOf =
  ({ env }: InProcessServer) =>
  async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await runCommandInProcess([...args, '--json'], env)
    assert.equal(exitCode, 0, stderr)
    return JSON.parse(stdout)
  }

test('commands create workspaces, keys, tokens and members through the running server', async () => {
  const served = await inProcessServer()
  const parley = parleyOf(served)
  const statusFor = async (key: string) => (await ask(served.url, key, 'GET /api/v1/leads')).status
  const owner = ['--owner', 'ana@example.com', '-c', 'br']
  const { workspace, invitationUrl } = await parley('workspace', 'create', 'Acme', ...owner)
  assert.equal(workspace.defaultCountry, 'BR')
  const syncing = await parley('key', 'create', '--name', 'Sync', '--for', 'syncing')
  assert.deepEqual(syncing.key.scopes, ['leads.read', 'leads.write', 'leads.bulk'])
  assert.equal(syncing.key.answersNewConversations, false)
  const masked = await parley('key', 'create', '--name', 'Masked', '--scope', 'leads.read', '--masked')
  assert.deepEqual([masked.key.scopes, masked.key.phoneVisibility], [['leads.read'], 'masked'])
  for (const { value } of [syncing, masked]) assert.equal(await statusFor(value), 200)

  await parley('key', 'revoke', syncing.key.id, '--workspace', 'Acme')
  assert.equal(await statusFor(syncing.value), 401)
  const { keys } = await parley('key', 'list')
  assert.deepEqual(
    keys.map(({ name, status }: { name: string; status: string }) => [name, status]),
    [
      ['Masked', 'active'],
      ['Sync', 'revoked'],
    ],
  )
  assert.equal((await parley('token', 'create', '--role', 'admin')).token.role, 'admin')
  assert.deepEqual(await parley('member', 'list'), { members: [] })
  const limited = await parley('workspace', 'quota', '50', 'Acme')
  assert.deepEqual([limited.workspace.dailyLeadQuota, limited.workspace.dailyLeadQuotaCeiling], [50, 50])
  const joining = { token: invitationUrl.split('/').at(-1), name: 'Ana', password: 'four plain words together' }
  assert.equal((await ask(served.url, '', 'POST /api/team/v1/invitations/accept', joining)).status, 200)
  assert.deepEqual(await parley('member', 'sign-out', 'ana@example.com'), { success: true })
})

test('the command line imports and exports', async () => {
  const { env, folder } = await inProcessServer()
  const input = join(folder, 'fair.csv')
  await writeFile(input, 'Full name;Fone;Cidade\nAna;81 99123-4567;Recife\nBia;;Olinda\n')
  const args = ['import', input, '--match', 'phone', '--map', 'Full name=firstName', '--json']
  const countsOf = ({ stdout }: { stdout: string }) => {
    const { state, created, refused } = JSON.parse(stdout)
    return [state, created, refused]
  }
  const dry = await runCommandInProcess([...args, '--dry-run'], env)
  assert.deepEqual([dry.exitCode, ...countsOf(dry)], [2, 'checked', 1, 1], dry.stderr)
  const real = await runCommandInProcess(args, env)
  assert.deepEqual([real.exitCode, ...countsOf(real)], [2, 'done', 1, 1], real.stderr)
  assert.equal(
    await readFile(`${input}.rejected.csv`, 'utf8'),
    '\uFEFF"Full name";"Fone";"Cidade";"import_error"\r\n"Bia";"";"Olinda";"phone is empty, and rows are matched by it"\r\n',
  )
  assert.equal((await stat(`${input}.rejected.csv`)).mode & 0o777, 0o600)

  const output = join(folder, 'out.csv')
  const exported = await runCommandInProcess(['export', output], env)
  assert.equal(exported.exitCode, 0, exported.stderr)
  assert.match(await readFile(output, 'utf8'), /,"Ana","","","5581991234567","new",.*,"Recife",""\r\n$/)
  const again = await runCommandInProcess(['import', output, '--match', 'uniqueCode', '--json'], env)
  assert.equal(again.exitCode, 0, again.stderr)
  assert.equal(JSON.parse(again.stdout).unchanged, 1)

  await writeFile(input, 'Nome;Etapa;Cidade;Valor\nCaio Reis;ganho;Natal;2.500\n')
  const translated = ['--value', 'status:ganho=won', '--split-names', '--decimal', ',']
  const labelled = ['--label', 'k_cidade=Cidade natal']
  const mapped = await runCommandInProcess(['import', input, '--match', 'none', ...translated, ...labelled], env)
  assert.equal(mapped.exitCode, 0, mapped.stderr)
  const lines = join(folder, 'out.ndjson')
  assert.equal((await runCommandInProcess(['export', lines, '--format', 'ndjson'], env)).exitCode, 0)
  const caio = JSON.parse((await readFile(lines, 'utf8')).split('\n')[1] ?? '')
  assert.deepEqual([caio.firstName, caio.lastName, caio.status, caio.estimatedValue], ['Caio', 'Reis', 'won', 2500])
  assert.equal(caio.customFields[0].label, 'Cidade natal')
  const wrong = await runCommandInProcess(['import', input, '--value', 'ganho=won'], env)
  assert.match(wrong.stderr, /--value must be field:text=value/)
})

test('a customer is erased, and commands work without a server and with a stale server address', async () => {
  const served = await inProcessServer()
  const parley = parleyOf(served)
  const { value } = await parley('key', 'create', '--name', 'K', '--for', 'syncing')
  const lead = async () => (await ask(served.url, value, 'POST /api/v1/leads/upsert', upsert)).body.lead.uniqueCode
  const upsert = { match: { by: 'phone', value: phone }, lead: { firstName: 'Ana' } }
  assert.equal((await parley('erase', '--lead', await lead(), '--dry-run')).found.leads, 1)
  for (const [args, words] of [
    [['--phone', phone], /use --yes/],
    [['--phone', '12', '--yes'], /phone must be a phone number/],
  ] as const) {
    const { exitCode, stderr } = await runCommandInProcess(['erase', ...args], served.env)
    assert.equal(exitCode, 1)
    assert.match(stderr, words)
  }
  const erased = async (wanted: string) => {
    const { erasure } = await parley('erase', '--phone', wanted, '--yes')
    return [erasure.state, erasure.removed.leads]
  }
  assert.deepEqual(await erased('+55 (81) 9123-4567'), ['done', 1])
  await lead()
  served.removeAddress()
  assert.deepEqual(await erased(phone), ['done', 1])
  // A killed server leaves its address behind, where another program may listen by now.
  writeServerFile(served.folder, { url: 'http://127.0.0.1:1', token: 'old' })
  assert.deepEqual((await parley('migrate')).applied, [])
})

test('sending a key by http to another machine prints a warning', () => {
  for (const own of [
    'http://localhost:7007',
    'http://127.0.0.1',
    'http://127.8.9.1:1',
    'http://[::1]:7007',
    'http://127.1',
  ])
    assert.equal(warningOf(new URL(own)), null, own)
  assert.equal(warningOf(new URL('https://parley.example.com')), null)
  for (const other of [
    'http://parley.example.com',
    'http://10.0.0.5:7007',
    'http://localhost.example.com',
    'http://[::2]',
  ])
    assert.match(warningOf(new URL(other)) ?? '', /by http.*API key.*Use https/, other)
})
