import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, readdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { newFolder } from '../support/folder.ts'
import { openApp, startInstalled } from '../support/program/installation.ts'
import { commandsUnder, type } from '../support/program/operations.ts'
import { freePort } from '../support/program/service.ts'
import { shellEnvironment } from '../support/program/shell.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const run = promisify(execFile)

test('the commands of "Install" build a package with the app that runs once installed, and "Upgrade" accepts it', {
  timeout: 480_000,
}, async (t) => {
  const clone = await newFolder()
  const cloned = await run('git', ['clone', '--quiet', '--depth', '1', `file://${root}`, clone]).catch(() => null)
  if (cloned === null) return t.skip('The sources are in no repository')
  // `install.slow.test.ts` installs what a clone needs, and builds the app.
  await symlink(join(root, 'node_modules'), join(clone, 'node_modules'))
  await cp(join(root, 'web/dist'), join(clone, 'web/dist'), { recursive: true })
  const [, , ask = '', pack = '', install = '', serve = ''] = await commandsUnder('Install')
  const [upgrade = ''] = await commandsUnder('Upgrade')
  const [server, port] = [await newFolder(), await freePort()]
  const settings = { PARLEY_PORT: String(port), PARLEY_DEMO: '1', PARLEY_SIMULATOR: '0' }
  await type(pack, clone, shellEnvironment(settings))
  const made = (await readdir(clone)).filter((name) => name.endsWith('.tgz'))
  assert.equal(made.length, 1)
  const data = join(server, 'data')
  const env = shellEnvironment({ ...settings, PACKAGE: join(clone, made[0] ?? ''), PARLEY_DATA_DIR: data })
  await type(install, server, env)
  const parts = await readdir(join(server, 'node_modules/parley'))
  assert.ok(parts.includes('server') && !parts.includes('simulator'), parts.join())
  const installed = await startInstalled(serve, server, env)
  assert.equal(await type(ask, server, env), '{"status":"ok"}')
  await openApp(port, installed.printed())
  assert.equal(await installed.stop(), 0)
  await type(upgrade, server, env)
  assert.match(await type('node node_modules/parley/bin/parley.mjs --version', server, env), /^\d+\.\d+\.\d+\n$/)
})
