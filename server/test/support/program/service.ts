import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { newFolder } from '../folder.ts'
import { startProgram } from './program.ts'

export const mainProgram = fileURLToPath(new URL('../../../src/main.ts', import.meta.url))
export const operatorToken = 'operator-token-of-the-service-tests'

/** The real program, with its log lines. */
export type Service = Awaited<ReturnType<typeof startService>>

export interface ServiceOptions {
  /** Defaults to a new one. */
  folder?: string
  port?: number
  env?: Record<string, string>
  /** Such as `--only worker`. */
  args?: string[]
}

/** Starts `serve` and resolves once it listens. */
export async function startService(options: ServiceOptions = {}) {
  const { env, args = [], folder = await newFolder(), port = await freePort() } = options
  const counts = new Map<string, number>()
  const waiting = new Set<() => void>()
  const lines: string[] = []
  let output = ''
  const onStderr = (text: string) => {
    output += text
    for (const check of [...waiting]) check()
  }
  const onLine = (line: string) => {
    lines.push(line)
    const message = /"msg":"([^"]*)"/.exec(line)?.[1] ?? ''
    counts.set(message, (counts.get(message) ?? 0) + 1)
    for (const check of [...waiting]) check()
  }
  const program = startProgram([mainProgram, 'serve', ...args], {
    onLine,
    onStderr,
    env: serviceEnvironment(folder, port, env),
  })
  const count = (message: string) => counts.get(message) ?? 0
  const until = (condition: () => boolean, what: string) =>
    new Promise<void>((resolve, reject) => {
      const check = () => {
        if (!condition()) return
        waiting.delete(check)
        resolve()
      }
      waiting.add(check)
      check()
      program.exited.then((end) =>
        reject(new Error(`The service ended (${end}) before it printed "${what}": ${output}`)),
      )
    })
  /** Resolves when a line with this message has been logged, if `after` such lines came before. */
  const logged = (message: string, after = 0) => until(() => count(message) > after, message)
  await logged('listening')
  return {
    ...program,
    url: `http://127.0.0.1:${port}`,
    folder,
    port,
    logged,
    /** How many lines with this message have been logged. */
    count,
    lines: (): readonly string[] => lines,
    /** Everything that it has printed so far. */
    output: () => output,
    hasPrinted: (words: string) => until(() => output.includes(words), words),
    /** Stops the service, and fails unless it stops without an error. */
    stop: async () => {
      program.kill('SIGTERM')
      const code = await program.exited
      const failures = lines.filter((line) => line.includes('"shutdown failed"'))
      assert.deepEqual({ code, failures }, { code: 0, failures: [] })
    },
  }
}

export function serviceEnvironment(folder: string, port: number, env: Record<string, string> = {}): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    ...(process.env.NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }),
    PARLEY_DATA_DIR: folder,
    PARLEY_PORT: String(port),
    PARLEY_DEMO: '0',
    PARLEY_DRAIN_SECONDS: '0',
    PARLEY_LEADS_RATE_LIMIT: '0',
    PARLEY_TEAM_RATE_LIMIT: '0',
    PARLEY_TEAM_TOKEN: operatorToken,
    ...env,
  }
}

/** Returns the settings of a process whose clock is ahead of the others, or behind if negative. */
export function clockAhead(minutes: number): Record<string, string> {
  const preload = new URL('./shift-clock.ts', import.meta.url).href
  return { NODE_OPTIONS: `--import=${preload}`, TEST_CLOCK_AHEAD_MS: String(minutes * 60_000) }
}

/**
 * Returns a free port below the range that the system assigns to outgoing connections, one of which could otherwise
 * take it before the service starts.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000)
    const server = createServer().listen(port, '127.0.0.1')
    try {
      await once(server, 'listening')
    } catch {
      continue
    }
    server.close()
    await once(server, 'close')
    return port
  }
}

/** Returns the process id of the embedded database in this data folder. */
export async function databasePidOf(folder: string): Promise<number> {
  const [pid = ''] = (await readFile(join(folder, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')
  return Number(pid)
}

/** Creates a workspace and a key, which has all scopes of leads unless `settings` say otherwise. */
export async function newWorkspace(url: string, settings: object = {}): Promise<{ workspaceId: string; key: string }> {
  const team = (path: string, body: object) => ask(url, operatorToken, `POST /api/team/v1/workspaces${path}`, body)
  const { workspace } = (await team('', { name: 'Test', dailyLeadQuota: 0 })).body
  const scopes = ['leads.read', 'leads.write', 'leads.delete', 'leads.bulk']
  const { value } = (await team(`/${workspace.id}/keys`, { name: 'Test', scopes, ...settings })).body
  return { workspaceId: workspace.id, key: value }
}

export interface Reply {
  status: number
  headers: Headers
  text: string
  /** Undefined unless the response is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape; a test fails where one is wrong
  body: any
}

/** Sends a request such as `GET /some/path`, and reads the response. */
export async function ask(
  url: string,
  token: string,
  what: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const [method = '', path] = what.split(' ')
  const response = await fetch(`${url}${path}`, {
    method,
    redirect: 'manual',
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined }
}
