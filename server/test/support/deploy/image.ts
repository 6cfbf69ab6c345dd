import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { chmod, cp, mkdir, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { atEnd } from '../file-end.ts'
import { newFolder } from '../folder.ts'
import { type Instruction, isInContext, type Stage } from './dockerfile.ts'

// What `docker build` and `docker run` do, with what Debian has: a folder for each image, and chroot.

const run = promisify(execFile)

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
export type Base = (from: string, folder: string) => Promise<void>

/** Does what the stages say, and returns the last image. `files` is what a build is given, before `ignore`. */
export async function buildImage(stages: Stage[], base: Base, context: string): Promise<Image> {
  const images = new Map<string, Image>()
  let last: Image | undefined
  for (const { from, name, instructions } of stages) {
    const folder = await newFolder()
    await base(from, folder)
    last = { folder, env: {}, user: '0:0', workdir: '/', entrypoint: [], command: [], healthCheck: [] }
    for (const instruction of instructions) await carryOut(instruction, last, { context, images })
    if (name !== null) images.set(name, last)
  }
  if (last === undefined) throw new Error('A Dockerfile has a stage')
  return last
}

interface Sources {
  context: string
  images: ReadonlyMap<string, Image>
}

async function carryOut({ name, flags, text, words }: Instruction, image: Image, sources: Sources): Promise<void> {
  const given = () => Object.fromEntries(words.map((word) => word.replaceAll('"', '').split(/=(.*)/s)))
  switch (name) {
    case 'RUN':
      await runInside(image, ['sh', '-c', text])
      return
    case 'COPY': {
      const from = flags.from === undefined ? sources.context : sources.images.get(flags.from)?.folder
      if (from === undefined) throw new Error(`There is no stage ${flags.from}`)
      await copy(from, words.slice(0, -1), image, words.at(-1) ?? '')
      return
    }
    case 'ARG':
    case 'ENV':
      Object.assign(image.env, given())
      return
    case 'WORKDIR':
      image.workdir = resolve(image.workdir, text)
      await mkdir(join(image.folder, image.workdir), { recursive: true })
      return
    case 'USER':
      image.user = text
      return
    case 'ENTRYPOINT':
      image.entrypoint = words
      return
    case 'CMD':
      image.command = words
      return
    case 'HEALTHCHECK':
      image.healthCheck = JSON.parse(text.replace(/^CMD /, ''))
      return
    case 'EXPOSE':
    case 'VOLUME':
      return
    default:
      throw new Error(`${name} is not known here: add it to ${import.meta.filename}`)
  }
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

const mountMachine = 'for one in dev proc; do mount --rbind /$one $root/$one; done'

async function runInside({ folder, env, workdir }: Image, command: readonly string[]): Promise<void> {
  const script = `${mountMachine}\nexec chroot $root sh -ec 'cd "$0"; exec "$@"' ${workdir} "$@"`
  await run('unshare', ['--mount', '--propagation', 'private', 'bash', '-ec', script, 'bash', ...command], {
    env: { ...insideEnvironment(), ...env, root: folder },
    maxBuffer: 50_000_000,
  })
}

// A registry may be behind an authority of the machine's own.
function insideEnvironment(): NodeJS.ProcessEnv {
  const authority = process.env.NODE_EXTRA_CA_CERTS
  return {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: '/root',
    ...(authority && { NODE_EXTRA_CA_CERTS: authority, npm_config_cafile: authority }),
  }
}

export interface Container {
  process: ChildProcess
  /** Resolves with its exit code. */
  gone: Promise<number | null>
  told(): string
  /** Runs a command beside it, as `docker exec` does. */
  execute(command: readonly string[]): Promise<string>
}

/** What a container has of its own: a port of this machine, and a folder for each volume. */
export interface ContainerOptions {
  env: Record<string, string>
  /** Where in the container, and which folder. */
  volumes: Readonly<Record<string, string>>
  command?: readonly string[]
}

/** Runs the image with nothing to write to but its volumes and a /tmp in memory, as the image's user. */
export function runContainer(image: Image, { env, volumes, command }: ContainerOptions): Container {
  const words = [...image.entrypoint, ...(command ?? image.command)]
  const child = enter(image, env, volumes, words)
  let told = ''
  for (const output of [child.stdout, child.stderr]) output?.setEncoding('utf8').on('data', (more) => (told += more))
  const gone = new Promise<number | null>((over) => child.once('exit', over))
  atEnd(async () => {
    child.kill('SIGTERM')
    await gone
  })
  return {
    process: child,
    gone,
    told: () => told,
    execute: async (inside) => {
      const other = enter(image, env, volumes, inside)
      let output = ''
      for (const stream of [other.stdout, other.stderr])
        stream?.setEncoding('utf8').on('data', (more) => (output += more))
      const code = await new Promise((over) => other.once('close', over))
      if (code !== 0) throw new Error(`${inside.join(' ')} ended with ${code}: ${output}`)
      return output
    },
  }
}

function enter(
  image: Image,
  env: Record<string, string>,
  volumes: Readonly<Record<string, string>>,
  words: readonly string[],
): ChildProcess {
  const mounts = Object.entries(volumes).map(([inside, folder]) => `mount --bind ${folder} $root${inside}`)
  const script = [
    'mount --bind $root $root',
    ...mounts,
    'mount -t tmpfs -o mode=1777 tmpfs $root/tmp',
    mountMachine,
    // The folder itself: mounts within keep what they allow.
    'mount -o remount,ro,bind $root',
    `exec chroot --userspec=${image.user} $root sh -ec 'cd "$0"; exec "$@"' ${image.workdir} "$@"`,
  ].join('\n')
  return spawn('unshare', ['--mount', '--propagation', 'private', 'bash', '-ec', script, 'bash', ...words], {
    env: { PATH: insideEnvironment().PATH, ...image.env, ...env, root: image.folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** Copies what a build of `root` is given: the files of the work tree that are in git or could be, less what is left out. */
export async function contextOf(root: string, ignore: string): Promise<string> {
  const context = await newFolder()
  await chmod(context, 0o755)
  const { stdout } = await run('git', ['-C', root, 'ls-files', '-co', '--exclude-standard', '-z'], {
    maxBuffer: 50_000_000,
  })
  for (const path of new Set(stdout.split('\0'))) {
    if (path !== '' && isInContext(ignore, path)) await cp(join(root, path), join(context, path))
  }
  return context
}

/** Makes bases of Debian's packages by `mmdebstrap`; `node` and `npm` are put in where one is of Node. */
export function debianBases(node: string, npm: string): Base {
  const suites = new Map<string, Promise<string>>()
  return async (from, folder) => {
    const suite = /\b(trixie|bookworm)-slim$/.exec(from)?.[1]
    if (suite === undefined) throw new Error(`There is nothing here that could stand for ${from}`)
    const made = suites.get(suite) ?? bootstrap(suite)
    suites.set(suite, made)
    await run('cp', ['-a', `${await made}/.`, folder])
    if (from.startsWith('node:')) await addNode(folder, node, npm)
  }
}

async function bootstrap(suite: string): Promise<string> {
  const folder = join(await newFolder(), suite)
  await run('mmdebstrap', ['--variant=minbase', suite, folder, 'http://deb.debian.org/debian'], {
    maxBuffer: 50_000_000,
  })
  return folder
}

async function addNode(folder: string, node: string, npm: string): Promise<void> {
  await run('chroot', [folder, 'sh', '-ec', 'apt-get update; apt-get install -y --no-install-recommends libatomic1'])
  await cp(node, join(folder, 'usr/local/bin/node'))
  await cp(npm, join(folder, 'usr/local/lib/node_modules/npm'), { recursive: true })
  await run('ln', ['-s', '../lib/node_modules/npm/bin/npm-cli.js', join(folder, 'usr/local/bin/npm')])
  const authority = process.env.NODE_EXTRA_CA_CERTS
  if (authority) await cp(authority, join(folder, authority), { dereference: true })
}
