import { spawn } from 'node:child_process'
import { openSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { logFile, recordProcess } from './cluster-folder.ts'
import type { Machine } from './machines.ts'
import { namespaceOf, processesIn } from './network.ts'

export interface ProcessOptions {
  /** Name of the process and of its log. */
  name: string
  argv: readonly string[]
  env?: Record<string, string>
  /** System user; defaults to the current one. */
  user?: string
}

/** Starts a program on a machine; it outlives this process and writes to its own log. */
export function startOn(machine: Machine, { name, argv, env = {}, user }: ProcessOptions): number {
  const log = openSync(logFile(name), 'a')
  const as = user === undefined ? [] : ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--init-groups']
  const child = spawn('ip', ['netns', 'exec', namespaceOf(machine), ...as, ...argv], {
    detached: true,
    cwd: '/',
    stdio: ['ignore', log, log],
    env: { PATH: process.env.PATH, LANG: 'C.UTF-8', ...env },
  })
  if (child.pid === undefined) throw new Error(`Failed to start ${name}`)
  // Happens if `ip` is missing, for example; the wait for the program then times out.
  child.on('error', () => {})
  child.unref()
  recordProcess({ name, machine, pid: child.pid })
  return child.pid
}

/** Sends a signal to all processes of a machine; ignores those that have ended. */
export async function signalAll(machine: Machine, signal: NodeJS.Signals): Promise<void> {
  for (const pid of await processesIn(namespaceOf(machine))) signalOne(pid, signal)
}

export function signalOne(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has already ended.
  }
}

/** Kills all processes of a machine at once, as a power failure does. */
export async function killMachine(machine: Machine): Promise<void> {
  await endAll(namespaceOf(machine), [{ signal: 'SIGKILL', timeoutMs: 10_000 }])
}

/** Ends all processes of a namespace with these signals in turn, each with a timeout. */
export async function endAll(
  namespace: string,
  steps: readonly { signal: NodeJS.Signals; timeoutMs: number }[],
): Promise<void> {
  for (const { signal, timeoutMs } of steps) {
    const endsAt = performance.now() + timeoutMs
    let pids = await livingProcesses(namespace)
    for (const pid of pids) signalOne(pid, signal)
    while (pids.length > 0 && performance.now() < endsAt) {
      await wait(50)
      pids = await livingProcesses(namespace)
      if (signal === 'SIGKILL') for (const pid of pids) signalOne(pid, signal)
    }
    if (pids.length === 0) return
  }
  throw new Error(`Processes of ${namespace} did not end: ${(await livingProcesses(namespace)).join(', ')}`)
}

const livingProcesses = async (namespace: string): Promise<number[]> => (await processesIn(namespace)).filter(isAlive)

/** Returns whether the process is running; zombies do not count. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return !stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z')
  } catch {
    return false
  }
}

export async function waitForExit(pid: number, timeoutMs: number): Promise<void> {
  await until(() => !isAlive(pid), `the end of process ${pid}`, timeoutMs)
}

/** Polls until the condition holds. An error counts as false; throws after the timeout. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  timeoutMs = 60_000,
  everyMs = 100,
): Promise<void> {
  const endsAt = performance.now() + timeoutMs
  for (;;) {
    if (await Promise.resolve(condition()).catch(() => false)) return
    if (performance.now() > endsAt) throw new Error(`Timed out after ${timeoutMs / 1000} s waiting for ${what}`)
    await wait(everyMs)
  }
}
