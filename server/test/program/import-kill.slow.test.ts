import assert from 'node:assert/strict'
import { mkdir, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { readServerFile, type ServerAddress, writeServerFile } from '../../src/commands/start/server-file.ts'
import { testDatabase } from '../support/database.ts'
import { newFolder } from '../support/folder.ts'
import { runCommand } from '../support/program/run-command.ts'
import { freePort, newWorkspace, operatorToken, serviceEnvironment, startService } from '../support/program/service.ts'
import { nodeSettings } from '../support/program/two-nodes.ts'

const rows = 4000

test('an import goes on after kill -9 with nothing twice and nothing lost', async () => {
  const folder = await newFolder()
  const port = await freePort()
  const database = await testDatabase()
  const env = nodeSettings(database)
  let service = await startService({ folder, port, env })
  const { workspaceId, key } = await newWorkspace(service.url)
  const base = `${service.url}/api/team/v1/workspaces/${workspaceId}/lead-imports`
  const headers = { authorization: `Bearer ${operatorToken}` }
  const send = async (method: string, path: string, body?: object) => {
    const json = body && { body: JSON.stringify(body), headers: { ...headers, 'content-type': 'application/json' } }
    const response = await fetch(base + path, { method, headers, ...json })
    // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
    return ((await response.json()) as any).import
  }
  const file = `name,externalRef\n${Array.from({ length: rows }, (_, n) => `Lead ${n},ref-${n}`).join('\n')}\n`
  const { id } = await send('POST', '', { fileName: 'many.csv', size: file.length })
  const type = { 'content-type': 'text/csv' }
  await fetch(`${base}/${id}/content?offset=0`, { method: 'PUT', headers: { ...headers, ...type }, body: file })
  await send('POST', `/${id}/start`, { match: 'none' })

  const until = async (isSo: (now: { rows: number; state: string }) => boolean) => {
    for (;;) {
      const now = await send('GET', `/${id}`)
      if (isSo(now)) return now
      assert.equal(now.state, 'running')
    }
  }
  for (const killAt of [1, 1500]) {
    await until((now) => now.rows >= killAt)
    service.kill()
    await service.gone
    // Stands for the time after which a worker that makes no progress counts as gone.
    await database.db.sql`
      update lead_imports
      set due_at = now()
      where id = ${id}
        and state = 'running'`
    service = await startService({ folder, port, env })
  }
  const done = await until((now) => now.state !== 'running')
  assert.deepEqual([done.state, done.rows, done.created, done.refused], ['done', rows, rows, 0])
  // Every row makes a lead here, whatever its reference, so that a row written twice would be counted or refused.
  const list = await fetch(`${service.url}/api/v1/leads?limit=1`, { headers: { authorization: `Bearer ${key}` } })
  // biome-ignore lint/suspicious/noExplicitAny: as above
  assert.equal(((await list.json()) as any).pagination.total, rows)
  service.kill('SIGTERM')
  await service.gone
})

test('the command line imports and exports, through a server that runs and without one', async () => {
  const folder = await newFolder()
  const env = serviceEnvironment(folder, await freePort())
  await runCommand(['workspace', 'create', 'Acme', '-c', 'br'], env)
  const input = join(folder, 'fair.csv')
  await writeFile(input, 'Full name;Fone;Cidade\nAna;81 99123-4567;Recife\nBia;;Olinda\n')
  const args = ['import', input, '--match', 'phone', '--map', 'Full name=firstName', '--json']
  const dry = await runCommand([...args, '--dry-run'], env)
  assert.equal(dry.exitCode, 2, dry.stderr)
  assert.deepEqual(pick(JSON.parse(dry.stdout)), ['checked', 1, 1])

  const service = await startService({ folder, port: Number(env.PARLEY_PORT) })
  const real = await runCommand(args, env)
  assert.equal(real.exitCode, 2, real.stderr)
  assert.deepEqual(pick(JSON.parse(real.stdout)), ['done', 1, 1])
  const refused = await readFile(`${input}.refused.csv`, 'utf8')
  assert.equal(
    refused,
    '\uFEFF"Full name";"Fone";"Cidade";"import_error"\r\n"Bia";"";"Olinda";"phone is empty, and rows are matched by it"\r\n',
  )
  assert.equal((await stat(`${input}.refused.csv`)).mode & 0o777, 0o600)

  const output = join(folder, 'out.csv')
  const exported = await runCommand(['export', output], env)
  assert.equal(exported.exitCode, 0, exported.stderr)
  assert.match(await readFile(output, 'utf8'), /,"Ana","","","5581991234567","new",.*,"Recife",""\r\n$/)
  const again = await runCommand(['import', output, '--match', 'uniqueCode', '--json'], env)
  assert.equal(again.exitCode, 0, again.stderr)
  assert.equal(JSON.parse(again.stdout).unchanged, 1)

  await writeFile(input, 'Nome;Etapa;Cidade;Valor\nCaio Reis;ganho;Natal;2.500\n')
  const translated = [
    '--value',
    'status:ganho=won',
    '--split-names',
    '--decimal',
    ',',
    '--label',
    'k_cidade=Cidade natal',
  ]
  const mapped = await runCommand(['import', input, '--match', 'none', ...translated, '--json'], env)
  assert.equal(mapped.exitCode, 0, mapped.stderr)
  const lines = join(folder, 'out.ndjson')
  assert.equal((await runCommand(['export', lines, '--format', 'ndjson'], env)).exitCode, 0)
  const caio = JSON.parse((await readFile(lines, 'utf8')).split('\n')[1] ?? '')
  assert.deepEqual([caio.firstName, caio.lastName, caio.status, caio.estimatedValue], ['Caio', 'Reis', 'won', 2500])
  assert.equal(caio.customFields[0].label, 'Cidade natal')
  const wrong = await runCommand(['import', input, '--value', 'ganho=won'], env)
  assert.match(wrong.stderr, /--value takes field:text=value/)
  service.kill('SIGTERM')
  await service.gone
})

test('a file that is cut off while it is uploaded ends the import with words about it', async (t) => {
  const folder = await newFolder()
  const service = await startService({ folder, port: await freePort() })
  await newWorkspace(service.url)
  const input = join(folder, 'long.csv')
  await writeFile(input, `name\n${'Ana\n'.repeat(1_500_000)}`)
  const server = readServerFile(folder)
  assert.ok(server)
  // The first part is on its way when the file is cut off.
  const url = await forwarding(t, server, async (method) => {
    if (method === 'PUT') await truncate(input, 1000)
  })
  const elsewhere = join(folder, 'elsewhere')
  await mkdir(elsewhere)
  writeServerFile(elsewhere, { ...server, url })

  const cut = await runCommand(['import', input, '--match', 'none'], serviceEnvironment(elsewhere, 1))
  assert.equal(cut.exitCode, 1)
  assert.match(cut.stderr, /long\.csv has become shorter while it was read/)
  service.kill('SIGTERM')
  await service.gone
})

/** A way to the service that tells of each request before it hands it on. */
async function forwarding(t: TestContext, to: ServerAddress, onRequest: (method: string) => Promise<void>) {
  const server = createServer(async (request, response) => {
    const { method = 'GET', url = '', headers } = request
    await onRequest(method)
    const sent = method === 'GET' ? {} : { body: await buffer(request) }
    const { authorization = '', 'content-type': type = '' } = headers
    const answer = await fetch(to.url + url, { method, headers: { authorization, 'content-type': type }, ...sent })
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
    response.end(await answer.bytes())
  })
  t.after(() => server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const pick = ({ state, created, refused }: { state: string; created: number; refused: number }) => [
  state,
  created,
  refused,
]
