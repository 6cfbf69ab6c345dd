import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { App } from '../base/route.ts'
import { type Config, loadConfig } from '../config.ts'

import type { OpenRuntime } from './start/runtime.ts'
import { printMessage } from './terminal.ts'

/** Sends a request to the team API as an operator. Throws an error with the API's message if it is refused. */
export type TeamCall = <Answer>(method: Method, path: string, body?: object) => Promise<Answer>

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

interface Reply {
  status: number
  text: string
}

export const prefix = '/api/team/v1'
const answerWithinMs = 30_000

/**
 * Runs `work` through the server that runs on this data folder. Without one, opens the installation for that time and
 * calls the same routes in this process; `work` then gets the runtime, because nobody runs the scheduled jobs.
 */
export async function withTeam<T>(work: (call: TeamCall, runtime: OpenRuntime | null) => Promise<T>): Promise<T> {
  const config = loadConfig(process.env)
  const server = await runningServer(config)
  if (server !== null) return work(callAt(server), null)
  return withApp(config, (app, runtime) => {
    const send: Send = async (method, path, body) => {
      const headers = { authorization: `Bearer ${runtime.localToken}` }
      const reply = await app.inject({ method, url: prefix + path, headers, ...(body && { payload: body }) })
      return { status: reply.statusCode, text: reply.body }
    }
    return work(callOver(send), runtime)
  })
}

/** Does the same in the workspace with this id or name. Its routes begin with `place`. */
export function withWorkspace<T>(
  requested: string | undefined,
  work: (call: TeamCall, place: string, workspace: Workspace, runtime: OpenRuntime | null) => Promise<T>,
): Promise<T> {
  return withTeam(async (call, runtime) => {
    const workspace = await pickWorkspace(call, requested)
    return work(call, `/workspaces/${workspace.id}`, workspace, runtime)
  })
}

/** Opens the installation while `work` runs. Loads modules on demand, which takes a second, only if no server runs. */
async function withApp<T>(config: Config, work: (app: App, runtime: OpenRuntime) => Promise<T>): Promise<T> {
  const [{ buildApp }, { openRuntime }] = await Promise.all([import('../app/app.ts'), import('./start/runtime.ts')])
  const runtime = await openRuntime({ ...config, logLevel: 'warn' }, printMessage)
  try {
    const app = await buildApp(runtime)
    return await work(app, runtime).finally(() => app.close())
  } finally {
    await runtime.close()
  }
}

/** Returns the server that runs on this data folder; null if none responds. */
export async function runningServer({ dataFolder }: Config): Promise<ServerAddress | null> {
  const server = readServerFile(dataFolder)
  return server !== null && (await isResponding(server)) ? server : null
}

export function callAt(server: ServerAddress): TeamCall {
  return callOver((...request) => sendTo(server, ...request))
}

type Send = (method: Method, path: string, body?: object) => Promise<Reply>

function callOver(send: Send): TeamCall {
  return async (method, path, body) => {
    const { status, text } = await send(method, path, body)
    const answer = JSON.parse(text)
    if (status < 400) return answer
    const issues: { path: string; message: string }[] = answer.data?.issues ?? []
    throw new Error([answer.statusMessage, ...issues.map((issue) => `  ${issue.path} ${issue.message}`)].join('\n'))
  }
}

/** Checks the server, because a killed one leaves its address behind, where another program may listen now. */
async function isResponding(server: ServerAddress): Promise<boolean> {
  try {
    return (await sendTo(server, 'GET', '/session')).status === 200
  } catch {
    return false
  }
}

async function sendTo({ url, token }: ServerAddress, method: Method, path: string, body?: object): Promise<Reply> {
  const response = await fetch(url + prefix + path, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(answerWithinMs),
  })
  return { status: response.status, text: await response.text() }
}

/**
 * Runs `work`, which transfers files, with the server that runs on this data folder. Without one, starts a server for
 * that time on the loopback address.
 */
export async function withServer<T>(work: (server: ServerAddress) => Promise<T>): Promise<T> {
  const config = loadConfig(process.env)
  const running = await runningServer(config)
  if (running !== null) return work(running)
  const { startImports } = await import('../leads/transfer/import/run-import.ts')
  return withApp(config, async (app, runtime) => {
    const imports = startImports(runtime)
    try {
      const url = await app.listen({ host: '127.0.0.1', port: 0 })
      return await work({ url, token: runtime.localToken })
    } finally {
      await imports.stop()
    }
  })
}

export interface Workspace {
  id: string
  name: string
  defaultCountry: string | null
  /** Minutes an agent may leave a customer unanswered; null for no limit. */
  agentWatchdogMinutes: number | null
  createdAt: string
}

export async function listWorkspaces(call: TeamCall): Promise<Workspace[]> {
  const { workspaces } = await call<{ workspaces: Workspace[] }>('GET', '/workspaces')
  return workspaces
}

/** Returns the workspace with this id or name; without either, the only one. */
export async function pickWorkspace(call: TeamCall, requested: string | undefined): Promise<Workspace> {
  const workspaces = await listWorkspaces(call)
  const matching =
    requested === undefined ? workspaces : workspaces.filter(({ id, name }) => id === requested || name === requested)
  const [workspace, other] = matching
  if (workspace !== undefined && other === undefined) return workspace
  if (workspaces.length === 0) {
    throw new Error(
      'There is no workspace yet. Create one with: parley workspace create "Acme" --owner you@example.com',
    )
  }
  const names = workspaces.map(({ id, name }) => `  ${id}  ${name}`).join('\n')
  const problem = matching.length > 1 ? 'Specify the workspace with --workspace' : `Workspace "${requested}" not found`
  throw new Error(`${problem}. Workspaces:\n${names}`)
}

/** Address of the server that runs on the same data folder. */
export interface ServerAddress {
  url: string
  /** Operator token of the team API, valid until the server stops. */
  token: string
}

const serverFilePath = (dataFolder: string) => join(dataFolder, 'server.json')

/** Writes the address to a file that only the owner of the data folder can read. */
export function writeServerFile(dataFolder: string, address: ServerAddress): void {
  const path = serverFilePath(dataFolder)
  const temporaryPath = `${path}.${process.pid}`
  rmSync(temporaryPath, { force: true })
  writeFileSync(temporaryPath, JSON.stringify(address), { mode: 0o600, flag: 'wx' })
  renameSync(temporaryPath, path)
}

/** Returns null if no server has written the file. A killed server leaves a stale one. */
function readServerFile(dataFolder: string): ServerAddress | null {
  try {
    return JSON.parse(readFileSync(serverFilePath(dataFolder), 'utf8')) as ServerAddress
  } catch {
    return null
  }
}

/** Removes the file, unless another server has replaced it. */
export function removeServerFile(dataFolder: string, token: string): void {
  if (readServerFile(dataFolder)?.token === token) rmSync(serverFilePath(dataFolder), { force: true })
}
