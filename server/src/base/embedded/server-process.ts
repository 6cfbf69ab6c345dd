import { spawn } from 'node:child_process'
import { copyFile, type FileHandle, open, stat, truncate } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { memoryBytes } from '../process-limits.ts'
import { type Binaries, dataArgument, serverEnvironment } from './binaries.ts'
import { type Cluster, readPostmaster, stopOrphan } from './cluster.ts'

export type ServerSettings = Record<string, string | number>

const megabyte = 1024 ** 2

/**
 * Returns an eighth of the memory, between 128 MB and 1 GB. Writes to a large workspace touch pages all over it: pages
 * that don't stay in memory must be read and evicted for each change.
 */
export function sharedBuffers(memory: number): string {
  const share = Math.floor(memory / 8 / megabyte)
  return `${Math.min(Math.max(share, 128), 1024)}MB`
}

/** Passed on every start instead of written once, so that a new version of Parley can change them. */
export const serverSettings: ServerSettings = {
  listen_addresses: '',
  // Relative to the data folder, which has mode 0700, so no other user reaches it; works with paths of any length.
  unix_socket_directories: '.',
  port: 5432,
  max_connections: 60,
  shared_buffers: sharedBuffers(memoryBytes()),
  max_wal_size: '1GB',
  // After a checkpoint the first change of a page writes the whole page to the WAL, and a write to a large workspace
  // changes about ten. The only compression method of these binaries would take more time than everything else
  // together.
  wal_compression: 'off',
  random_page_cost: 1.1,
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  lc_messages: 'C',
  log_destination: 'stderr',
  logging_collector: 'off',
  log_line_prefix: '%m [%p] ',
  // Statements, parameters and even plain errors ("invalid input syntax … «value»") can contain personal data, so they
  // are not logged. Parley logs failed statements itself.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_statement: 'none',
  log_min_duration_statement: -1,
  log_parameter_max_length: 0,
  log_parameter_max_length_on_error: 0,
  log_autovacuum_min_duration: -1,
  log_checkpoints: 'off',
  log_lock_waits: 'off',
}

export interface ServerProcess {
  pid: number
  /** Resolves with the exit code or signal when the process ends. */
  exited: Promise<string>
}

export interface ServerStart {
  cluster: Cluster
  binaries: Binaries
  settings: ServerSettings
  logFile: string
  log: (line: string) => void
  /** Called with each process of the server, before it accepts connections. */
  onSpawn?: (pid: number) => void
}

const pollMs = 5
const startTimeoutMs = 30_000
const recoveryNoticeMs = 10_000
// Left by a killed server: backends that have not noticed yet, or the lock file of a server that was just starting.
const startConflicts = /pre-existing shared memory block|lock file "[^"]*" (already exists|is empty)/

/** Starts the server and resolves when it accepts connections. Throws with the end of its log on failure. */
export async function startServer(start: ServerStart): Promise<ServerProcess> {
  const deadline = performance.now() + startTimeoutMs
  for (let delayMs = 20; ; delayMs = Math.min(delayMs * 2, 500)) {
    await stopOrphan(start.cluster.folder, start.binaries, start.log)
    const logStart = await sizeOf(start.logFile)
    const server = await spawnServer(start)
    start.onSpawn?.(server.pid)
    if (await waitUntilReady(server, start)) return server

    const logText = await logSince(start.logFile, logStart)
    if (!startConflicts.test(logText) || performance.now() > deadline) {
      throw new Error(`The embedded PostgreSQL did not start (${await server.exited}):\n${logText.trim()}`)
    }
    await wait(delayMs)
  }
}

async function spawnServer({ cluster, binaries, settings, logFile }: ServerStart): Promise<ServerProcess> {
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const output = await openServerLog(logFile)
  try {
    const child = spawn(binaries.postgres, ['-D', dataArgument(cluster.folder), ...args], {
      ...cluster.user,
      cwd: cluster.folder,
      env: serverEnvironment(),
      stdio: ['ignore', output.fd, output.fd],
      // A separate session, so that Ctrl+C reaches only the program, which stops the server after its last statement.
      detached: true,
    })
    const exited = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message))
      child.once('exit', (code, signal) => resolve(signal ?? `exit ${code}`))
    })
    return { pid: child.pid ?? 0, exited }
  } finally {
    await output.close()
  }
}

async function waitUntilReady(server: ServerProcess, { cluster, log }: ServerStart): Promise<boolean> {
  let running = true
  server.exited.then(() => {
    running = false
  })
  // No deadline: after a crash the server replays its WAL, and a restart would only repeat that.
  let noticeAtMs = performance.now() + recoveryNoticeMs
  while (running) {
    const postmaster = await readPostmaster(cluster.folder)
    if (postmaster?.pid === server.pid && postmaster.ready) return true
    if (performance.now() > noticeAtMs) {
      log('The database is still recovering from a crash')
      noticeAtMs += recoveryNoticeMs
    }
    await wait(pollMs)
  }
  return false
}

const maxBytes = 4 * 1024 * 1024

/** Opens the server's log for appending, readable only by its owner. */
async function openServerLog(path: string): Promise<FileHandle> {
  await rotateLog(path)
  return open(path, 'a', 0o600)
}

/** Keeps one previous log. The server appends, so the file can be truncated while it runs. */
export async function rotateLog(path: string): Promise<void> {
  const size = await sizeOf(path)
  if (size <= maxBytes) return
  await copyFile(path, `${path}.1`)
  await truncate(path)
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0
}

/** Returns at most the last 2,000 characters of the log since this offset in bytes. */
async function logSince(path: string, start: number): Promise<string> {
  const log = await open(path)
  try {
    const { size } = await log.stat()
    const from = Math.max(start, size - 2000)
    if (size <= from) return ''
    const { buffer } = await log.read({ buffer: Buffer.alloc(size - from), position: from })
    return buffer.toString('utf8')
  } finally {
    await log.close()
  }
}
