import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, chown, readdir, rm } from 'node:fs/promises'
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
const nobody = 65_534

test('the commands of "Install" turn a clone into an installation that serves the app without development tools', {
  timeout: 480_000,
}, async (t) => {
  const repository = await run('git', ['-C', root, 'rev-parse', 'HEAD']).catch(() => null)
  if (repository === null) return t.skip('The sources are in no repository')
  const [clone = '', serve = '', ask = ''] = await commandsUnder('Install')
  const [folder, port] = [await newFolder(), await freePort()]
  const env = shellEnvironment({
    REPOSITORY: root,
    PARLEY_PORT: String(port),
    PARLEY_DATA_DIR: await newFolder(),
    PARLEY_DEMO: '1',
    PARLEY_SIMULATOR: '0',
  })
  await type(clone, folder, env)
  const parley = join(folder, 'parley')
  assert.ok(!(await readdir(join(parley, 'node_modules'))).includes('vite'))
  const installed = await startInstalled(serve, parley, env)
  assert.equal(await type(ask, folder, env), '{"status":"ok"}')
  await openApp(port, installed.printed())
  assert.equal(await installed.stop(), 0)
  await withoutHome(parley)

  await rm(join(parley, 'web', 'dist'), { recursive: true })
  const build = await run('npm', ['run', 'build'], { cwd: parley, env }).catch((error) => error)
  assert.equal(build.code, 1)
  assert.match(build.stderr, /The build tools of the web app are missing\. Run: npm ci && npm run build\n/)
})

/** A user of a service has no home, and may write to no folder but that of the data. */
async function withoutHome(parley: string): Promise<void> {
  const isRoot = process.getuid?.() === 0
  const data = await newFolder()
  if (isRoot) {
    await chown(data, nobody, nobody)
    await chmod(join(parley, '..'), 0o755)
  }
  const { HOME: _, ...env } = shellEnvironment({ PARLEY_DATA_DIR: data, PARLEY_DEMO: '0' })
  const options = { cwd: parley, env, ...(isRoot && { uid: nobody, gid: nobody }) }
  const { stdout } = await run('node', ['bin/parley.mjs', 'workspace', 'create', 'Acme'], options)
  assert.match(stdout, /Acme/)
  if (!isRoot) return
  const refused = await run('node', ['bin/parley.mjs', 'workspace', 'list'], {
    ...options,
    env: { ...env, PARLEY_DATA_DIR: join(parley, 'data') },
  }).catch((error: { stderr: string }) => error)
  assert.equal(
    refused.stderr,
    `The data folder ${join(parley, 'data')} is not accessible (EACCES). Set PARLEY_DATA_DIR to a folder that this user can write to.\n`,
  )
}
