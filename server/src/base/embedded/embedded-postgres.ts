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
  rotateLog,
  type ServerProcess,
  type ServerSettings,
  type ServerStart,
  serverSettings,
  startServer,
} from './server-process.ts'

export interface EmbeddedPostgres {
  /** With `user`, `database` and `password`, the options of `openDb`. */
  readonly socketFolder: string
  readonly user: 'parley'
  readonly database: 'parley'
  readonly password: string
  /** Current process of the server; changes after a restart. */
  readonly pid: number
  /** Resolves when `stop` has stopped the server. Not on a crash, which is followed by a restart. */
  readonly exited: Promise<void>
  stop(): Promise<void>
}

interface EmbeddedPostgresOptions {
  /** Data folder with the cluster, the server's log and the lock. Created if missing. */
  folder: string
  log: (line: string) => void
  /** Called when the process of the server runs, before it accepts connections. */
  onSpawn?: () => void
  /** Called when the server has restarted after a crash. */
  onRestart?: () => void
  /** Overrides the settings, for tests. */
  settings?: ServerSettings
}

const maxBackoffMs = 5_000
const logCheckMs = 3_600_000
// Linux allows 107 bytes and macOS 103 for the path of a socket; its name takes 14 of them.
const maxSocketFolderBytes = 103 - '/.s.PGSQL.5432'.length

/**
 * Starts the embedded PostgreSQL and keeps it running until `stop`. Throws if another process uses the folder, if there
 * is no embedded PostgreSQL for this platform, or if the server does not start.
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
    const server = await supervise(start, options)
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

/** Folder in which a restore is built before it replaces the data. */
export const restoringName = 'restoring'
/** File that marks data as moved to another database, so that no process writes here. */
export const movedName = 'moved.json'

/** Throws after an interrupted restore or a move: a new installation here would be mistaken for the old one. */
function refuseUnfinished(folder: string): void {
  if (existsSync(join(folder, restoringName))) {
    throw new Error(`A restore into ${folder} was cut off. Empty the folder, and restore again.`)
  }
  if (existsSync(join(folder, movedName))) {
    throw new Error(
      `The data of ${folder} was moved to another database: set DATABASE_URL to it. To use the old data instead, ` +
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

interface SupervisedServer {
  pid(): number
  ended: Promise<void>
  stop(): void
}

async function supervise(
  prepared: ServerStart,
  { onSpawn = () => {}, onRestart = () => {} }: Pick<EmbeddedPostgresOptions, 'onSpawn' | 'onRestart'>,
): Promise<SupervisedServer> {
  const stopping = Promise.withResolvers<void>()
  let pid = 0
  const start: ServerStart = {
    ...prepared,
    onSpawn: (spawned) => {
      pid = spawned
      onSpawn()
    },
  }
  // A program that exits without `stop` (an uncaught error) must not leave a server running.
  const stopAtExit = () => isServerOf(pid, start.cluster.folder) && process.kill(pid, 'SIGINT')
  process.once('exit', stopAtExit)
  let server = await startServer(start).catch((error: unknown) => {
    process.off('exit', stopAtExit)
    throw error
  })
  let stopped = false
  const logCheck = setInterval(() => rotateLog(start.logFile).catch(() => undefined), logCheckMs).unref()

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
    pid: () => pid,
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

/** Returns the address of the server that another process runs on this data folder. */
export async function addressOfRunning(dataFolder: string): Promise<DatabaseAddress> {
  const folder = await realpath(dataFolder)
  const socketFolder = await socketFolderOf(join(folder, 'postgres'))
  const password = await readFile(join(folder, 'postgres.password'), 'utf8')
  return socketAddress({ socketFolder, database: 'parley', user: 'parley', password })
}

/** Returns a folder for the server's socket: the cluster's own, or a symlink if its path is too long. */
async function socketFolderOf(clusterFolder: string): Promise<string> {
  if (Buffer.byteLength(clusterFolder) <= maxSocketFolderBytes) return clusterFolder

  const name = `parley-${createHash('sha256').update(clusterFolder).digest('hex').slice(0, 16)}`
  const link = join(Buffer.byteLength(tmpdir()) < 60 ? tmpdir() : '/tmp', name)
  await symlink(clusterFolder, link).catch(() => undefined)
  // Anyone can write to /tmp: another user's link could lead to another server.
  const { uid } = await lstat(link)
  if (uid === (process.getuid?.() ?? uid) && (await readlink(link)) === clusterFolder) return link
  throw new Error(`${link} is not a link to ${clusterFolder}. Remove it, or set PARLEY_DATA_DIR to a shorter path.`)
}

interface FolderLock {
  release(): void
}

const sqliteBusy = 5

/** Another process uses the data folder. */
export class FolderInUse extends Error {}

/**
 * Locks the data folder for this process. Throws and names the other process if it is in use. The operating system
 * releases the lock when the process dies, so a lock can't be stale.
 */
export function lockFolder(folder: string): FolderLock {
  // Node has no file lock; SQLite takes one on every platform.
  const file = new DatabaseSync(join(folder, 'parley.lock'), { timeout: 0 })
  const pidFile = join(folder, 'parley.pid')
  try {
    file.exec('begin exclusive')
  } catch (error) {
    file.close()
    if (!isBusy(error)) throw error
    throw new FolderInUse(
      `The data folder ${folder} is in use by ${describeHolder(pidFile)}. Stop it, or set PARLEY_DATA_DIR to another folder.`,
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

function describeHolder(pidFile: string): string {
  try {
    const pid = Number(readFileSync(pidFile, 'utf8'))
    // The file of a killed process may still exist before the new process has written its own.
    process.kill(pid, 0)
    return `process ${pid}`
  } catch (error) {
    const isOtherUser = error instanceof Error && 'code' in error && error.code === 'EPERM'
    return isOtherUser ? `process ${readFileSync(pidFile, 'utf8').trim()}` : 'another process'
  }
}
