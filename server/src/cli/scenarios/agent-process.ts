import { type ChildProcess, spawn } from 'node:child_process'

/** The agent's program, started for one sandbox. */
export interface AgentProcess {
  /** Why it ended by itself, with the end of its output; null while it runs. */
  problem(): string | null
  stop(): Promise<void>
}

const maxOutput = 4000
const killAfterMs = 3000
const isWindows = process.platform === 'win32'

/** Starts a command in a shell, with the address and the key of a sandbox in its environment. */
export function startAgent(command: string, url: string, key: string): AgentProcess {
  const child = spawn(command, {
    shell: true,
    // A group of its own, so that what the shell started ends with it.
    detached: !isWindows,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PARLEY_URL: url, PARLEY_API_KEY: key, PARLEY_KEY: key },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-maxOutput)
    })
  }
  let problem: string | null = null
  let isStopping = false
  const ended = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      problem ??= `The agent did not start: ${error.message}`
      resolve()
    })
    child.once('exit', (code, signal) => {
      if (!isStopping) problem ??= `The agent ended (${signal ?? `code ${code}`}):\n${output.trim()}`
      resolve()
    })
  })
  return {
    problem: () => problem,
    stop: async () => {
      isStopping = true
      end(child, 'SIGTERM')
      const timer = setTimeout(() => end(child, 'SIGKILL'), killAfterMs)
      await ended
      clearTimeout(timer)
    },
  }
}

function end(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  try {
    if (isWindows) child.kill(signal)
    else process.kill(-child.pid, signal)
  } catch {
    // It has just ended.
  }
}
