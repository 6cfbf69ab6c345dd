import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { chmod, cp, mkdir, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { atEnd } from '../file-end.ts'
import { newFolder } from '../folder.ts'
import { type Instruction, isInContext, type Stage } from './dockerfile.ts'

// What `docker build` and `docker run` do, with what Debian has: a folder for each image, and chroot.

const execute = promisify(execFile)
const run = (command: string, words: readonly string[], env?: NodeJS.ProcessEnv) =>
  execute(command, words, { maxBuffer: 50_000_000, ...(env && { env }) })

/** An image as a folder, with what its Dockerfile says of a container of it. */
export interface Image {
  folder: string
  env: Record<string, string>
  user: string
  workdir: string
  entrypoint: readonly string[]
  command: readonly string[]
  healthCheck: readonly string[]
}

/** Makes a folder of what the first line of a stage names, such as `debian:trixie-slim`. */
type Base = (from: string, folder: string) => Promise<void>

/** Does what the stages say, and returns the last image. `context` is the folder that a build is given. */
export async function buildImage(stages: Stage[], base: Base, context: string): Promise<Image> {
  const folders = new Map<string, string>()
  let image: Image | undefined
  for (const { from, name, instructions } of stages) {
    const folder = await newFolder()
    await base(from, folder)
    image = { folder, env: {}, user: '0:0', workdir: '/', entrypoint: [], command: [], healthCheck: [] }
    for (const instruction of instructions) await carryOut(instruction, image, context, folders)
    if (name !== null) folders.set(name, folder)
  }
  if (image === undefined) throw new Error('A Dockerfile has a stage')
  return image
}

async function carryOut(
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
  else if (name !== 'EXPOSE' && name !== 'VOLUME') throw new Error(`${name} is not known here: add it`)
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
/** A registry may be behind an authority of the machine's own. */
const authority = process.env.NODE_EXTRA_CA_CERTS
const mountMachine = 'for one in dev proc; do mount --rbind /$one $root/$one; done'
/** What `unshare` takes to run a script with a namespace of its own for mounts. */
const apart = (script: string, words: readonly string[]) => [
  ...['--mount', '--propagation', 'private', 'bash', '-ec', script, 'bash'],
  ...words,
]

async function runInside({ folder, env, workdir }: Image, command: readonly string[]): Promise<void> {
  const script = `${mountMachine}\nexec chroot $root sh -ec 'cd "$0"; exec "$@"' ${workdir} "$@"`
  const registry = authority && { NODE_EXTRA_CA_CERTS: authority, npm_config_cafile: authority }
  await run('unshare', apart(script, command), { PATH: path, HOME: '/root', ...registry, ...env, root: folder })
}

/** What a container has of its own: settings, and a folder for each place in it. */
interface ContainerOptions {
  env: Record<string, string>
  volumes: Readonly<Record<string, string>>
}

/** Runs the image with nothing to write to but its volumes and a /tmp in memory, as the image's user. */
export function runContainer(image: Image, options: ContainerOptions) {
  const child = enter(image, options, [...image.entrypoint, ...image.command])
  const told = toldBy(child)
  const gone = new Promise<number | null>((over) => child.once('exit', over))
  atEnd(async () => {
    child.kill('SIGTERM')
    await gone
  })
  return {
    process: child,
    gone,
    told,
    /** Runs a command beside it, as `docker exec` does. */
    execute: async (words: readonly string[]): Promise<string> => {
      const other = enter(image, options, words)
      const output = toldBy(other)
      const code = await new Promise((over) => other.once('close', over))
      if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${output()}`)
      return output()
    },
  }
}

function toldBy(child: ChildProcess): () => string {
  let told = ''
  for (const output of [child.stdout, child.stderr]) output?.setEncoding('utf8').on('data', (more) => (told += more))
  return () => told
}

function enter(image: Image, { env, volumes }: ContainerOptions, words: readonly string[]): ChildProcess {
  const script = [
    'mount --bind $root $root',
    ...Object.entries(volumes).map(([inside, folder]) => `mount --bind ${folder} $root${inside}`),
    'mount -t tmpfs -o mode=1777 tmpfs $root/tmp',
    mountMachine,
    // The folder itself: mounts within keep what they allow.
    'mount -o remount,ro,bind $root',
    `exec chroot --userspec=${image.user} $root sh -ec 'cd "$0"; exec "$@"' ${image.workdir} "$@"`,
  ].join('\n')
  return spawn('unshare', apart(script, words), {
    env: { PATH: path, ...image.env, ...env, root: image.folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** Copies what a build of `root` is given: the files of the work tree that are in git or could be, less what is left out. */
export async function contextOf(root: string, ignore: string): Promise<string> {
  const context = await newFolder()
  await chmod(context, 0o755)
  const { stdout } = await run('git', ['-C', root, 'ls-files', '-co', '--exclude-standard', '-z'])
  for (const path of new Set(stdout.split('\0'))) {
    if (path !== '' && isInContext(ignore, path)) await cp(join(root, path), join(context, path))
  }
  return context
}

/** Makes bases of Debian's packages by `mmdebstrap`; `node` and `npm` are put in where one is of Node. */
export function debianBases(node: string, npm: string): Base {
  const made = new Map<string, string>()
  return async (from, folder) => {
    const suite = /\b(trixie|bookworm)-slim$/.exec(from)?.[1]
    if (suite === undefined) throw new Error(`There is nothing here that could stand for ${from}`)
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
