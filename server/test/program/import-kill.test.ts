import assert from 'node:assert/strict'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { newFolder } from '../support/folder.ts'
import { runCommand } from '../support/run-command.ts'
import { freePort, newWorkspace, operatorToken, serviceEnvironment, startService } from '../support/service.ts'

const rows = 4000

test('an import goes on after kill -9 with nothing twice and nothing lost', async () => {
  const folder = await newFolder()
  const port = await freePort()
  let service = await startService({ folder, port })
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
    }
  }
  for (const killAt of [1, 1500]) {
    await until((now) => now.rows >= killAt)
    service.kill()
    await service.gone
    service = await startService({ folder, port })
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
    '\uFEFFFull name;Fone;Cidade;import_error\r\nBia;;Olinda;phone is empty, and rows are matched by it\r\n',
  )
  assert.equal((await stat(`${input}.refused.csv`)).mode & 0o777, 0o600)

  const output = join(folder, 'out.csv')
  const exported = await runCommand(['export', output], env)
  assert.equal(exported.exitCode, 0, exported.stderr)
  assert.match(await readFile(output, 'utf8'), /,Ana,,,5581991234567,new,.*,Recife,\r\n$/)
  const again = await runCommand(['import', output, '--match', 'uniqueCode', '--json'], env)
  assert.equal(again.exitCode, 0, again.stderr)
  assert.equal(JSON.parse(again.stdout).unchanged, 1)
  service.kill('SIGTERM')
  await service.gone
})

const pick = ({ state, created, refused }: { state: string; created: number; refused: number }) => [
  state,
  created,
  refused,
]
