import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { atEnd, oncePerFile } from '../file-lifecycle.ts'

/** Program under test that runs in its own process and reports its actions line by line. */
export interface Program {
  pid: number
  /** Resolves with the exit code, or the signal that ended the program. */
  exited: Promise<number | string>
  /** Resolves with the rest of the next line that begins with this word. */
  waitForLine(word: string): Promise<string>
  kill(signal?: NodeJS.Signals): void
}

export interface ProgramOptions {
  /** Called with every line of standard output. */
  onLine?: (line: string) => void
  /** `ignore` for a program that is expected to fail: its output would look like a failure of the test. */
  stderr?: 'inherit' | 'ignore'
  /** Called with standard error, instead of printing it. */
  onStderr?: (text: string) => void
  /** Replaces the environment of the tests. */
  env?: NodeJS.ProcessEnv
}

// A failing test leaves its programs running, and their output would keep its file from ending.
const running = new Map<Program, Program['exited']>()
const endRunning = oncePerFile(() =>
  atEnd(() => {
    for (const program of running.keys()) program.kill('SIGTERM')
    return Promise.all(running.values())
  }),
)

/** Starts a TypeScript file with arguments; stops it when the test file ends, if it is still running. */
export function startProgram(args: string[], options: ProgramOptions = {}): Program {
  const { onLine = () => {}, env = process.env, onStderr } = options
  const stderr = onStderr === undefined ? (options.stderr ?? 'inherit') : 'pipe'
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', stderr], env })
  const waiting = new Set<(line: string) => void>()
  if (child.stdout === null) throw new Error('The program has no output')
  createInterface(child.stdout).on('line', (line) => {
    onLine(line)
    for (const hear of [...waiting]) hear(line)
  })
  if (onStderr !== undefined) child.stderr?.setEncoding('utf8').on('data', onStderr)
  const exited = once(child, 'exit').then(([code, signal]) => signal ?? code)
  const program: Program = {
    pid: child.pid ?? 0,
    exited,
    waitForLine: (word) => {
      const { promise, resolve, reject } = Promise.withResolvers<string>()
      const hear = (line: string) => {
        if (!line.startsWith(`${word} `)) return
        waiting.delete(hear)
        resolve(line.slice(word.length + 1))
      }
      waiting.add(hear)
      exited.then((end) => reject(new Error(`The program ended (${end}) before it printed "${word}"`)))
      return promise
    },
    kill: (signal = 'SIGKILL') => child.kill(signal),
  }
  running.set(program, exited)
  endRunning()
  exited.finally(() => running.delete(program))
  return program
}
