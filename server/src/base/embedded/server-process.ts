import { spawn } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import type { Binaries } from './binaries.ts'
import type { Cluster } from './cluster.ts'
import { readPostmaster, stopOrphan } from './postmaster.ts'
import { logSince, openServerLog, sizeOf } from './server-log.ts'
import { dataArgument, serverEnvironment } from './server-user.ts'
import type { ServerSettings } from './settings.ts'

export interface ServerProcess {
  pid: number
  /** Says how the process ended, once it has. */
  exited: Promise<string>
}

export interface ServerStart {
  cluster: Cluster
  binaries: Binaries
  settings: ServerSettings
  logFile: string
  log: (line: string) => void
}

const pollMs = 5
const patienceMs = 30_000
const recoveryNoticeMs = 10_000
// What a killed server can leave: backends, which take a moment to notice, and a server that had only just begun.
const remnants = /pre-existing shared memory block|lock file "[^"]*" (already exists|is empty)/

/** Starts the server and resolves once it takes connections. Throws with the end of its log when it gives up. */
export async function startServer(start: ServerStart): Promise<ServerProcess> {
  const deadline = performance.now() + patienceMs
  for (let delayMs = 20; ; delayMs = Math.min(delayMs * 2, 500)) {
    await stopOrphan(start.cluster.folder, start.binaries, start.log)
    const logStart = await sizeOf(start.logFile)
    const server = await spawnServer(start)
    if (await becomesReady(server, start)) return server

    const words = await logSince(start.logFile, logStart)
    if (!remnants.test(words) || performance.now() > deadline) {
      throw new Error(`The embedded PostgreSQL did not start (${await server.exited}):\n${words.trim()}`)
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
      // A session of its own: Ctrl+C reaches the program alone, which stops the server after its last statement.
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

async function becomesReady(server: ServerProcess, { cluster, log }: ServerStart): Promise<boolean> {
  let running = true
  server.exited.then(() => {
    running = false
  })
  // No deadline: after a crash the server replays its log first, and giving up would only begin that anew.
  let notice = performance.now() + recoveryNoticeMs
  while (running) {
    const postmaster = await readPostmaster(cluster.folder)
    if (postmaster?.pid === server.pid && postmaster.ready) return true
    if (performance.now() > notice) {
      log('The database is still recovering from a crash')
      notice += recoveryNoticeMs
    }
    await wait(pollMs)
  }
  return false
}
