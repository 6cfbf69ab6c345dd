import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Process that listens on a port. */
export interface Child {
  port: number
  pid: number
  stop: () => Promise<void>
}

/** Starts a file of this folder, or of another, as a process, and resolves when it listens. */
export async function startChild(
  file: string,
  env: Record<string, string>,
  folder = import.meta.dirname,
): Promise<Child> {
  const child = spawn(process.execPath, [join(folder, file)], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const port = await new Promise<number>((resolve, reject) => {
    let text = ''
    child.stdout.on('data', (chunk) => {
      text += chunk
      const ready = /ready (\d+)/.exec(text)
      if (ready !== null) resolve(Number(ready[1]))
    })
    void exited.then(() => reject(new Error(`${file} ended before it was ready`)))
  })
  return {
    port,
    pid: child.pid ?? 0,
    stop: () => {
      child.kill('SIGKILL')
      return exited
    },
  }
}

/** Returns the resident memory of the process, or its maximum, in MB. */
export function memoryOf({ pid }: Pick<Child, 'pid'>, what: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  const [, kilobytes = '0'] = new RegExp(`${what}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kilobytes) / 1024)
}

export type Start = (file: string, env: Record<string, string>) => Promise<Child>
