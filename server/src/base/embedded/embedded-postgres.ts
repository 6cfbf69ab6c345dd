import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { lstat, mkdir, readFile, readlink, realpath, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as wait } from 'node:timers/promises'
import { type DatabaseAddress, socketAddress } from '../postgres/address.ts'
import { findBinaries } from './binaries.ts'
import { findPassword, isServerOf, openCluster, stopServer } from './cluster.ts'
import {
  keepLogSmall,
  type ServerProcess,
  type ServerSettings,
  type ServerStart,
  serverSettings,
  startServer,
} from './server-process.ts'

export interface EmbeddedPostgres {
  /** With `user`, `database` and `password`, what `openDb` takes. */
  readonly socketFolder: string
  readonly user: 'parley'
  readonly database: 'parley'
  readonly password: string
  /** The server's process now; another one after a restart. */
  readonly pid: number
  /** Resolves once `stop` has ended the server for good; a crash does not resolve it, since the server comes back. */
  readonly exited: Promise<void>
  stop(): Promise<void>
}

interface EmbeddedPostgresOptions {
  /** The data folder: holds the cluster, the server's log and the lock. Made when missing. */
  folder: string
  log: (line: string) => void
  /** Called when the server has come back after it died. */
  onRestart?: () => void
  /** Instead of the product's settings, for tests. */
  settings?: ServerSettings
}

const maxBackoffMs = 5_000
const logCheckMs = 3_600_000
// Linux allows 107 bytes and macOS 103 for the path of a socket; its name takes 14 of them.
const maxSocketFolderBytes = 103 - '/.s.PGSQL.5432'.length

/**
 * Starts the PostgreSQL that Parley brings along and keeps it running until `stop`. Throws when another process uses
 * the folder, when there is no embedded PostgreSQL for this platform, or when the server does not start.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  await mkdir(options.folder, { recursive: true, mode: 0o700 })
  const folder = await realpath(options.folder)
  const lock = lockFolder(folder)
  try {
    refuseUnfinished(folder)
    const password = await findPassword(folder)
    const start = await prepare(folder, password, options)
    const socketFolder = await socketFolderOf(start.cluster.folder)
    const server = await supervise(start, options.onRestart)
    const exited = server.ended.finally(lock.release)
    return {
      socketFolder,
      user: 'parley',
      database: 'parley',
      password,
      get pid() {
        return server.pid()
      },
      exited,
      stop: () => {
        server.stop()
        return exited
      },
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

/** Where a restore builds what it then puts in its place. */
export const restoringName = 'restoring'
/** Says that the data went to another database, and lets nobody write here what would be missed there. */
export const movedName = 'moved.json'

/** An installation that began anew where another one was about to be would pass for it. */
function refuseUnfinished(folder: string): void {
  if (existsSync(join(folder, restoringName))) {
    throw new Error(`A restore into ${folder} was cut off. Empty the folder, and restore again.`)
  }
  if (existsSync(join(folder, movedName))) {
    throw new Error(
      `The data of ${folder} was moved to another database: set DATABASE_URL to it. To go back to what was here then, ` +
        `remove ${join(folder, movedName)}.`,
    )
  }
}

async function prepare(
  dataFolder: string,
  password: string,
  { log, settings }: EmbeddedPostgresOptions,
): Promise<ServerStart> {
  const binaries = await findBinaries(dataFolder)
  const cluster = await openCluster({ dataFolder, binaries, password, sync: settings?.fsync !== 'off', log })
  return {
    cluster,
    binaries,
    settings: { ...serverSettings, ...settings },
    logFile: join(dataFolder, 'postgres.log'),
    log,
  }
}

interface Supervised {
  pid(): number
  ended: Promise<void>
  stop(): void
}

async function supervise(start: ServerStart, onRestart = () => {}): Promise<Supervised> {
  const stopping = Promise.withResolvers<void>()
  let server = await startServer(start)
  let stopped = false

  // A program that ends without `stop` (an uncaught error) must not leave a server behind.
  const stopAtExit = () => isServerOf(server.pid, start.cluster.folder) && process.kill(server.pid, 'SIGINT')
  process.once('exit', stopAtExit)
  const logCheck = setInterval(() => keepLogSmall(start.logFile).catch(() => undefined), logCheckMs).unref()

  const keepRunning = async () => {
    while (!stopped) {
      const ending = await Promise.race([server.exited, stopping.promise])
      if (ending === undefined) break
      start.log(`The database ended unexpectedly (${ending}); starting it again`)
      const next = await startAgain(start, () => stopped)
      if (next === undefined) return
      server = next
      onRestart()
    }
    await stopServer(server.pid, start.cluster.folder, start.binaries)
  }
  const ended = keepRunning().finally(() => {
    clearInterval(logCheck)
    process.off('exit', stopAtExit)
  })
  return {
    pid: () => server.pid,
    ended,
    stop: () => {
      stopped = true
      stopping.resolve()
    },
  }
}

async function startAgain(start: ServerStart, isStopped: () => boolean): Promise<ServerProcess | undefined> {
  for (let backoffMs = 100; !isStopped(); backoffMs = Math.min(backoffMs * 2, maxBackoffMs)) {
    try {
      return await startServer(start)
    } catch (error) {
      start.log(error instanceof Error ? error.message : String(error))
      await wait(backoffMs)
    }
  }
  return undefined
}

/** How a server that another process runs on this data folder is reached. */
export async function addressOfRunning(dataFolder: string): Promise<DatabaseAddress> {
  const folder = await realpath(dataFolder)
  const socketFolder = await socketFolderOf(join(folder, 'postgres'))
  const password = await readFile(join(folder, 'postgres.password'), 'utf8')
  return socketAddress({ socketFolder, database: 'parley', user: 'parley', password })
}

/** A folder by which clients reach the server's socket: the cluster's own, or a link to it when its path is too long. */
async function socketFolderOf(clusterFolder: string): Promise<string> {
  if (Buffer.byteLength(clusterFolder) <= maxSocketFolderBytes) return clusterFolder

  const name = `parley-${createHash('sha256').update(clusterFolder).digest('hex').slice(0, 16)}`
  const link = join(Buffer.byteLength(tmpdir()) < 60 ? tmpdir() : '/tmp', name)
  await symlink(clusterFolder, link).catch(() => undefined)
  // Anyone may write to /tmp: a link that is not ours could lead to somebody else's server.
  const { uid } = await lstat(link)
  if (uid === (process.getuid?.() ?? uid) && (await readlink(link)) === clusterFolder) return link
  throw new Error(`${link} is not a link to ${clusterFolder}. Remove it, or set PARLEY_DATA_DIR to a shorter path.`)
}

interface FolderLock {
  release(): void
}

const sqliteBusy = 5

/** Another process has the data folder, and may serve it. */
export class FolderInUse extends Error {}

/**
 * Takes the data folder for this process. Throws, naming the holder, when another process has it. The operating
 * system drops the lock with the process, however it dies, so there is never a stale lock to remove.
 */
export function lockFolder(folder: string): FolderLock {
  // Node offers no file lock of its own; SQLite takes a real one on every platform.
  const file = new DatabaseSync(join(folder, 'parley.lock'), { timeout: 0 })
  const pidFile = join(folder, 'parley.pid')
  try {
    file.exec('begin exclusive')
  } catch (error) {
    file.close()
    if (!isBusy(error)) throw error
    throw new FolderInUse(
      `The data folder ${folder} is in use by ${holder(pidFile)}. Stop it, or set PARLEY_DATA_DIR to another folder.`,
    )
  }
  writeFileSync(pidFile, `${process.pid}\n`)
  return {
    release: () => {
      rmSync(pidFile, { force: true })
      file.close()
    },
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy
}

function holder(pidFile: string): string {
  try {
    const pid = Number(readFileSync(pidFile, 'utf8'))
    // The file of a killed process may still be there when the new holder has not yet written its own.
    process.kill(pid, 0)
    return `process ${pid}`
  } catch (error) {
    const notOurs = error instanceof Error && 'code' in error && error.code === 'EPERM'
    return notOurs ? `process ${readFileSync(pidFile, 'utf8').trim()}` : 'another process'
  }
}
