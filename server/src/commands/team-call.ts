import type { Config } from '../config.ts'
import type { OpenRuntime } from './start/runtime.ts'
import { readServerFile, type ServerAddress } from './start/server-file.ts'
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
 * itself for that long, and asks the same routes; `work` is given it then, since nobody does the chores.
 */
export async function withTeam<T>(
  config: Config,
  work: (call: TeamCall, runtime: OpenRuntime | null) => Promise<T>,
): Promise<T> {
  const server = await runningServer(config)
  if (server !== null) return work(callAt(server), null)

  // A second of loading, which a command that found its server does without.
  const [{ buildApp }, { openRuntime: openHouse }] = await Promise.all([
    import('../app/app.ts'),
    import('./start/runtime.ts'),
  ])
  const runtime = await openHouse({ ...config, logLevel: 'warn' }, say)
  try {
    const app = await buildApp(runtime)
    const send: Send = async (method, path, body) => {
      const headers = { authorization: `Bearer ${runtime.localToken}` }
      const reply = await app.inject({ method, url: prefix + path, headers, ...(body && { payload: body }) })
      return { status: reply.statusCode, text: reply.body }
    }
    return await work(callOver(send), runtime).finally(() => app.close())
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
