import assert from 'node:assert/strict'
import { agentTools } from '../../../src/agents/tools/all-tools.ts'
import { checkOutput, requestOf } from '../../support/agents/agents-world.ts'
import type { Answer } from '../../support/world.ts'
import type { FaceName } from './injection.ts'
import type { Scene } from './scene.ts'

/** Result of a call, as a model sees it. */
export interface Reply {
  isDone: boolean
  /** Code of the problem; null for success. */
  code: string | null
  /** Everything that the model reads. */
  read: unknown
}

export interface Face {
  name: FaceName
  /** Calls a tool, existing or not, with any input. Checks the shape of every response. */
  ask(key: string, verb: string, input: object): Promise<Reply>
  readResource(key: string, uri: string): Promise<Reply>
}

export function facesOf({ w }: Scene): Record<FaceName, Face> {
  const say = async (key: string, method: string, params: { name?: string; [param: string]: unknown }) =>
    readRpc(await w.call('POST', '/mcp', { key, body: { jsonrpc: '2.0', id: 1, method, params } }), params.name)
  return {
    HTTP: {
      name: 'HTTP',
      ask: async (key, name, input) => {
        const verb = agentTools.find((each) => each.name === name)
        if (verb === undefined) return readProblem(await w.call('POST', `/api/v2/${encodeURIComponent(name)}`, { key }))
        const { method, path, query, body } = requestOf(verb, input as Record<string, unknown>)
        const answer = await w.call(method, path, { key, query, ...(method === 'GET' ? {} : { body }) })
        return answer.status === 200 ? done(name, answer.body) : readProblem(answer)
      },
      readResource: async (key, uri) =>
        readProblem(await w.call('GET', `/api/v2/${uri.replace('parley://', '')}`, { key })),
    },
    MCP: {
      name: 'MCP',
      ask: (key, name, input) => say(key, 'tools/call', { name, arguments: input }),
      readResource: (key, uri) => say(key, 'resources/read', { uri }),
    },
  }
}

/** Sends any HTTP request with the key. */
export async function fetchWith({ w }: Scene, key: string, method: string, path: string, body: object | null) {
  const verb = method as Parameters<typeof w.call>[0]
  const { status, body: read } = await w.call(verb, path, { key, ...(body === null ? {} : { body }) })
  return { isDone: status < 400, code: String(status), read: readable(read) }
}

/** Sends a raw JSON-RPC message. */
export async function sayRaw({ w }: Scene, key: string, raw: string): Promise<Reply> {
  return readRpc(await w.call('POST', '/mcp', { key, raw }))
}

function done(name: string, answer: unknown): Reply {
  const verb = agentTools.find((each) => each.name === name)
  assert.ok(verb !== undefined)
  assert.deepEqual(checkOutput(verb, answer), [], `${name} answers what it promises`)
  return { isDone: true, code: null, read: answer }
}

const readable = (body: unknown) => {
  if (typeof body !== 'string') return body
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}

const readProblem = ({ status, body, headers }: Answer): Reply => {
  assert.ok(status >= 400, `${status}`)
  assert.match(String(headers['content-type']), /^application\/problem\+json/)
  return problem(readable(body))
}

const problemFields = new Set(
  ['type', 'title', 'status', 'detail', 'code', 'issues', 'next', 'field', 'owner', 'since'].concat([
    'request_id',
    'retry_after_seconds',
    'scope',
    'lacks',
    'current_owner',
    'errors',
  ]),
)

function problem(read: Record<string, unknown>): Reply {
  const strange = Object.keys(read).filter((name) => !problemFields.has(name))
  assert.deepEqual(strange, [], 'a problem has fields of ours alone')
  return { isDone: false, code: String(read.code), read }
}

interface Rpc {
  error?: { code: number }
  result?: {
    isError?: boolean
    content?: { text: string }[]
    structuredContent?: object
    contents?: { text?: string }[]
  }
}

function readRpc({ status, body }: Answer, name?: string): Reply {
  if (status === 202) return { isDone: false, code: '202', read: null }
  assert.equal(body.jsonrpc, '2.0', JSON.stringify(body))
  const { error, result } = body as Rpc
  if (status !== 200 || result === undefined) return { isDone: false, code: String(error?.code), read: body }
  const [{ text } = { text: undefined }, ...more] = result.content ?? result.contents ?? []
  if (text === undefined) return { isDone: true, code: null, read: body }
  assert.deepEqual(more, [], 'one text is answered')
  const read = JSON.parse(text)
  if (result.isError === true) return problem(read)
  if (result.content === undefined) return { isDone: true, code: null, read }
  assert.deepEqual(read, result.structuredContent, 'the text is the structure')
  return name === undefined ? { isDone: true, code: null, read } : done(name, read)
}
