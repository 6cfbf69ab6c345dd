import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startMailServer } from '../../mail/mail-world.ts'
import { newFolder } from '../../support/folder.ts'
import { commandsUnder, type } from '../../support/program/operations.ts'
import { runCommandInProcess } from '../../support/program/run-command.ts'
import { ask, freePort, newWorkspace, serviceEnvironment, startService } from '../../support/program/service.ts'
import { shellEnvironment } from '../../support/program/shell.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))

test('the commands of "Rolling restarts", "Rotate keys", "Mail" and "Erase a customer" work as described on a running service', async () => {
  const [rotate = '', ...more] = await commandsUnder('Rotate keys')
  assert.deepEqual(more, [])
  const [folder, port, simulatorPort] = [await newFolder(), await freePort(), await freePort()]
  const simulator = { PARLEY_SIMULATOR: '1', PARLEY_SIMULATOR_PORT: String(simulatorPort) }
  // The command of "Rolling restarts" ends once the process serves.
  const [wait = ''] = await commandsUnder('Run several processes')
  const waiting = type(wait, root, shellEnvironment({ PARLEY_PORT: String(port) }))
  const mail = await startMailServer()
  const smtp = { PARLEY_SMTP_URL: mail.url, PARLEY_MAIL_FROM: 'parley@example.com' }
  const { url } = await startService({ folder, port, env: { ...simulator, ...smtp } })
  assert.equal(await waiting, '{"status":"ok"}')
  const { key } = await newWorkspace(url)
  const lead = { firstName: 'Kim', phone: '+55 81 99123-4567' }
  const { uniqueCode } = (await ask(url, key, 'POST /api/v1/leads', lead)).body.data
  const statusOf = async (path: string) => (await ask(url, key, `GET ${path}`)).status
  const before = await readFile(join(folder, 'master.key'), 'utf8')

  // The third line is about a workspace of that name: `--all` is typed.
  const typing = spawn('bash', ['-ec', rotate], { cwd: root, env: shellEnvironment({ PARLEY_DATA_DIR: folder }) })
  const said = Promise.all([text(typing.stdout), once(typing, 'exit')])
  typing.stderr.setEncoding('utf8')
  for await (const words of typing.stderr) {
    if (!String(words).includes('waiting a minute')) continue
    const simulated = `http://127.0.0.1:${simulatorPort}`
    assert.equal((await ask(simulated, '', 'POST /simulator/clock', { advanceMs: 61_000 })).status, 200)
  }
  const [printed, [exitCode]] = await said
  assert.equal(exitCode, 0)
  assert.match(
    printed,
    /secrets rewrapped[\s\S]*Rotated the data key: [1-9]\d* rows[\s\S]*Rotated the index key: [1-9]\d* rows/,
  )
  assert.notEqual(await readFile(join(folder, 'master.key'), 'utf8'), before)
  assert.equal((await readdir(folder)).filter((name) => name.startsWith('master.key.')).length, 1)
  for (const path of [`/api/v1/leads/${uniqueCode}`, '/api/v1/leads/5581991234567'])
    assert.equal(await statusOf(path), 200)
  const proof = await runCommandInProcess(['prove', '--json'], serviceEnvironment(folder, 1))
  assert.deepEqual(JSON.parse(proof.stdout).findings, [])

  const [sendTest = ''] = await commandsUnder('Mail')
  assert.match(await type(sendTest, root, shellEnvironment({ PARLEY_DATA_DIR: folder, ...smtp })), /\b250\b|accepted/i)
  assert.equal(mail.take().length, 1)

  // "Erase a customer" shows how much there is, and erases it once that is confirmed.
  const [erase = '', ...none] = await commandsUnder('Erase a customer')
  assert.deepEqual(none, [])
  const [look = '', remove = ''] = erase.trim().split('\n')
  const env = shellEnvironment({ PARLEY_DATA_DIR: folder })
  assert.match(await type(look, root, env), /leads +1\n/)
  // Nobody is there to be asked.
  await assert.rejects(type(remove, root, env), /--yes/)
  assert.equal(await statusOf(`/api/v1/leads/${uniqueCode}`), 200)
  await type(remove.replace(/ +#.*/, ' --yes'), root, env)
  assert.equal(await statusOf(`/api/v1/leads/${uniqueCode}`), 404)
})
