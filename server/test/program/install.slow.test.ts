import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { atEnd } from '../support/file-end.ts'
import { newFolder } from '../support/folder.ts'
import { commandsUnder, type } from '../support/program/operations.ts'
import { freePort } from '../support/program/service.ts'
import { shellEnvironment } from '../support/program/shell.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const nobody = 65_534
const patiently = { timeout: 480_000 }

interface Running {
  told(): string
  stop(): Promise<number | null>
}

/** Starts what serves, and resolves once it has told where. */
async function start(command: string, cwd: string, env: NodeJS.ProcessEnv): Promise<Running> {
  const child = spawn('bash', ['-ec', command], { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] })
  const gone = once(child, 'exit').then(([code]) => code as number | null)
  let told = ''
  await new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text) => {
      told += text
      if (told.includes('Stop with Ctrl+C.')) resolve()
    })
    gone.then((code) => reject(new Error(`It ended (${code}): ${told}`)))
  })
  const stop = () => {
    child.kill('SIGTERM')
    return gone
  }
  atEnd(async () => void (await stop()))
  return { told: () => told, stop }
}

/** Signs in by the link that a first start printed, and opens the inbox with the first script of the app. */
async function openApp(port: number, told: string): Promise<number> {
  const url = `http://127.0.0.1:${port}`
  const token = /\/sign-in\/(\S+)/.exec(told)?.[1]
  const signedIn = await fetch(`${url}/api/team/v1/sign-in/link`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  })
  assert.equal(signedIn.status, 200)
  const cookie = signedIn.headers.getSetCookie().map((one) => one.split(';')[0])
  const inbox = await fetch(`${url}/inbox`, { headers: { cookie: cookie.join('; ') } })
  assert.equal(inbox.status, 200)
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(await inbox.text())?.[1] ?? ''
  return (await fetch(`${url}${script}`)).status
}

test(
  'the commands of "Install" and "Upgrade" make an installation that serves its app without development tools',
  patiently,
  async (t) => {
    const repository = await promisify(execFile)('git', ['-C', root, 'rev-parse', 'HEAD']).catch(() => null)
    if (repository === null) return t.skip('The sources are in no repository')
    const [clone = '', serve = '', ask = '', pack = '', install = '', serveInstalled = ''] =
      await commandsUnder('Install')
    const [upgrade = ''] = await commandsUnder('Upgrade')
    const [folder, data, server] = [await newFolder(), await newFolder(), await newFolder()]
    const port = await freePort()
    const env = shellEnvironment({
      REPOSITORY: root,
      PARLEY_PORT: String(port),
      PARLEY_DATA_DIR: data,
      PARLEY_DEMO: '1',
      PARLEY_SIMULATOR: '0',
    })

    await type(clone, folder, env)
    const parley = join(folder, 'parley')
    assert.ok(!(await readdir(join(parley, 'node_modules'))).includes('vite'))
    const first = await start(serve, parley, env)
    assert.equal(await type(ask, folder, env), '{"status":"ok"}')
    assert.equal(await openApp(port, first.told()), 200)
    assert.equal(await first.stop(), 0)
    await withoutHome(parley)

    // The tools are gone; the app that they have built is not.
    await type(pack, parley, env)
    const made = (await readdir(parley)).filter((name) => name.endsWith('.tgz'))
    assert.equal(made.length, 1)
    const withPackage = { ...env, PACKAGE: join(parley, made[0] ?? '') }
    for (const [commands, isFirst] of [
      [install, true],
      [upgrade, false],
    ] as const) {
      await type(commands, server, withPackage)
      const again = await start(serveInstalled, server, { ...withPackage, PARLEY_DATA_DIR: join(server, 'data') })
      assert.equal(await type(ask, server, env), '{"status":"ok"}')
      if (isFirst) assert.equal(await openApp(port, again.told()), 200)
      assert.equal(await again.stop(), 0)
    }

    await rm(join(parley, 'web', 'dist'), { recursive: true })
    await withoutApp(parley, serve, env)
  },
)

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
  const run = promisify(execFile)
  const { stdout } = await run('node', ['bin/parley.mjs', 'workspace', 'create', 'Acme'], options)
  assert.match(stdout, /Acme/)
  if (!isRoot) return
  const refused = await run('node', ['bin/parley.mjs', 'workspace', 'list'], {
    ...options,
    env: { ...env, PARLEY_DATA_DIR: join(parley, 'data') },
  }).catch((error: { stderr: string }) => error)
  assert.equal(
    refused.stderr,
    `The data folder ${join(parley, 'data')} is not to be had (EACCES). Set PARLEY_DATA_DIR to a folder that this user may write to.\n`,
  )
}

/** An installation without the app serves the rest, and says on one line how to build it. */
async function withoutApp(parley: string, serve: string, env: NodeJS.ProcessEnv): Promise<void> {
  const bare = await start(serve, parley, env)
  const line = 'npm ci && npm run build && npm prune --omit=dev'
  assert.ok(
    bare
      .told()
      .includes(
        `The web app is not built. Stop the service, run this line, and start it again: cd "${parley}" && ${line}\n`,
      ),
  )
  assert.equal(await bare.stop(), 0)
  const build = await promisify(execFile)('npm', ['run', 'build'], { cwd: parley, env }).catch((error) => error)
  assert.equal(build.code, 1)
  assert.match(build.stderr, /The tools that build the web app are missing\. Run: npm ci && npm run build\n/)
}
