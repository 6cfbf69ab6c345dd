import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { App } from '../base/route.ts'
import { type Config, loadConfig } from '../config.ts'

import type { OpenRuntime } from './start/runtime.ts'
import { say } from './terminal.ts'

/** Sends one request to the team API as an operator; throws an error with the API's own words when it is refused. */
export type TeamCall = <Answer>(method: Method, path: string, body?: object) => Promise<Answer>

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

interface Reply {
  status: number
  text: string
}

export const prefix = '/api/team/v1'
const answerWithinMs = 30_000

/**
 * Does `work` through the server that runs on this data folder. When none answers, it opens the installation by
 * itself for that long, and asks the same routes; `work` is given it then, since nobody does the scheduled jobs.
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

/** The same, in the workspace of this id or name; its routes are under `place`. */
export function withWorkspace<T>(
  wanted: string | undefined,
  work: (call: TeamCall, place: string, workspace: Workspace, runtime: OpenRuntime | null) => Promise<T>,
): Promise<T> {
  return withTeam(async (call, runtime) => {
    const workspace = await pickWorkspace(call, wanted)
    return work(call, `/workspaces/${workspace.id}`, workspace, runtime)
  })
}

/** Opens the installation while `work` is done: a second of loading, which a command that found its server does without. */
async function withApp<T>(config: Config, work: (app: App, runtime: OpenRuntime) => Promise<T>): Promise<T> {
  const [{ buildApp }, { openRuntime }] = await Promise.all([import('../app/app.ts'), import('./start/runtime.ts')])
  const runtime = await openRuntime({ ...config, logLevel: 'warn' }, say)
  try {
    const app = await buildApp(runtime)
    return await work(app, runtime).finally(() => app.close())
  } finally {
    await runtime.close()
  }
}

/** The server that runs on this data folder; null when none answers. */
export async function runningServer({ dataFolder }: Config): Promise<ServerAddress | null> {
  const server = readServerFile(dataFolder)
  return server !== null && (await answers(server)) ? server : null
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

/** A server that was killed leaves its address behind, where another program may listen by now. */
async function answers(server: ServerAddress): Promise<boolean> {
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
 * Does `work`, which moves files, with the server that runs on this data folder. When none answers, one is opened for
 * that long, for this machine alone.
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
  /** How long an agent may leave a customer waiting; null: for ever. */
  agentWatchdogMinutes: number | null
  createdAt: string
}

export async function listWorkspaces(call: TeamCall): Promise<Workspace[]> {
  const { workspaces } = await call<{ workspaces: Workspace[] }>('GET', '/workspaces')
  return workspaces
}

/** The workspace of this id or name; without either, the only one there is. */
export async function pickWorkspace(call: TeamCall, wanted: string | undefined): Promise<Workspace> {
  const workspaces = await listWorkspaces(call)
  const fitting =
    wanted === undefined ? workspaces : workspaces.filter(({ id, name }) => id === wanted || name === wanted)
  const [workspace, other] = fitting
  if (workspace !== undefined && other === undefined) return workspace
  if (workspaces.length === 0) {
    throw new Error('There is no workspace yet. Make one with: parley workspace create "Acme" --owner you@example.com')
  }
  const names = workspaces.map(({ id, name }) => `  ${id}  ${name}`).join('\n')
  const problem = fitting.length > 1 ? 'Say which workspace, with --workspace' : `There is no workspace "${wanted}"`
  throw new Error(`${problem}. There are:\n${names}`)
}

/** How commands reach the server that runs on the same data folder. */
export interface ServerAddress {
  url: string
  /** Full rights over the team API until the server stops. */
  token: string
}

const pathIn = (dataFolder: string) => join(dataFolder, 'server.json')

/** Leaves the address where the owner of the data folder, and nobody else, can read it. */
export function writeServerFile(dataFolder: string, address: ServerAddress): void {
  const path = pathIn(dataFolder)
  const draft = `${path}.${process.pid}`
  rmSync(draft, { force: true })
  writeFileSync(draft, JSON.stringify(address), { mode: 0o600, flag: 'wx' })
  renameSync(draft, path)
}

/** Null when no server has left one. A server that was killed leaves a stale one. */
function readServerFile(dataFolder: string): ServerAddress | null {
  try {
    return JSON.parse(readFileSync(pathIn(dataFolder), 'utf8')) as ServerAddress
  } catch {
    return null
  }
}

/** Removes the file, unless another server has put its own there meanwhile. */
export function removeServerFile(dataFolder: string, token: string): void {
  if (readServerFile(dataFolder)?.token === token) rmSync(pathIn(dataFolder), { force: true })
}
