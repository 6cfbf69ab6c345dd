import { execFile, execFileSync } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Binaries } from './binaries.ts'

export interface Postmaster {
  pid: number
  ready: boolean
}

type StopSignal = 'INT' | 'QUIT' | 'KILL'

const pollMs = 10

/** Who claims the cluster by its `postmaster.pid`, dead or alive. */
export async function readPostmaster(clusterFolder: string): Promise<Postmaster | undefined> {
  const lines = (await readFile(join(clusterFolder, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')
  const pid = Number(lines[0])
  return pid > 0 ? { pid, ready: lines[7]?.trim() === 'ready' } : undefined
}

/**
 * Stops the server that a killed program left behind. It is not taken over: its output and its settings belong to
 * a program that is gone. The caller holds the lock of the data folder.
 */
export async function stopOrphan(
  clusterFolder: string,
  binaries: Binaries,
  log: (line: string) => void,
): Promise<void> {
  const orphan = await readPostmaster(clusterFolder)
  if (orphan === undefined) return removeEmptyLock(clusterFolder)
  if (isServerOf(orphan.pid, clusterFolder)) {
    log(`Stopping the database that an earlier run left behind (process ${orphan.pid})`)
    await stopServer(orphan.pid, clusterFolder, binaries)
  }
  // The number may by now belong to an unrelated process (or to a zombie): PostgreSQL would give way to that one.
  if (exists(orphan.pid)) await removeLocks(clusterFolder)
}

/** A server that is killed between making its lock file and writing it leaves one that no server starts over. */
async function removeEmptyLock(clusterFolder: string): Promise<void> {
  const isEmpty = async () => (await readFile(join(clusterFolder, 'postmaster.pid'), 'utf8').catch(() => 'none')) === ''
  if (!(await isEmpty())) return
  // One that is starting just now writes it within microseconds.
  await wait(200)
  if (await isEmpty()) await removeLocks(clusterFolder)
}

async function removeLocks(clusterFolder: string): Promise<void> {
  await rm(join(clusterFolder, 'postmaster.pid'), { force: true })
  await rm(join(clusterFolder, '.s.PGSQL.5432.lock'), { force: true })
}

/** Ends a server: politely (clients are cut off, everything is flushed), then at once, then by force. */
export async function stopServer(pid: number, clusterFolder: string, binaries: Binaries): Promise<void> {
  const steps: [StopSignal, number][] = [
    ['INT', 10_000],
    ['QUIT', 5_000],
    ['KILL', 5_000],
  ]
  for (const [signal, patienceMs] of steps) {
    if (!isServerOf(pid, clusterFolder)) return
    await signalServer(pid, signal, binaries)
    const deadline = performance.now() + patienceMs
    while (performance.now() < deadline) {
      if (!isServerOf(pid, clusterFolder)) return
      await wait(pollMs)
    }
  }
  throw new Error(`The database server (process ${pid}) cannot be stopped`)
}

async function signalServer(pid: number, signal: StopSignal, { pgCtl }: Binaries): Promise<void> {
  // Windows has no signals: PostgreSQL brings its own, sent by pg_ctl.
  if (process.platform === 'win32') {
    await promisify(execFile)(pgCtl, ['kill', signal, String(pid)]).catch(() => undefined)
    return
  }
  try {
    process.kill(pid, `SIG${signal}`)
  } catch {
    // Gone already, which the caller finds out by looking.
  }
}

/** Whether this very process is a PostgreSQL on this very folder: process numbers are used again. */
export function isServerOf(pid: number, clusterFolder: string): boolean {
  try {
    if (process.platform === 'linux') {
      const name = readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
      return name === 'postgres' && readlinkSync(`/proc/${pid}/cwd`) === clusterFolder
    }
    if (process.platform === 'win32') return exists(pid)
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).includes(clusterFolder)
  } catch {
    return false
  }
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
