import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  Server,
} from '@modelcontextprotocol/server'
import type { Caller } from '../../access/keys/caller.ts'
import { isAway, NotYet } from '../../base/db.ts'
import { ApiError, unavailable } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { TooBusy } from '../../base/shares/shares.ts'
import { version } from '../../base/version.ts'
import { problemOf } from '../http/problem.ts'
import type { Verb } from '../verb.ts'
import { answerNext, answerNextPrompt, instructions, promptName } from './prompt.ts'
import { readResource, resourceTemplates } from './resources.ts'
import { type Tools, toolAnswer, toolFailure } from './tools.ts'

export interface McpServerDeps {
  log: Log
  tools: Tools
  verbs: readonly Verb[]
}

const identity = { name: 'parley', title: 'Parley', version }
/** Lists change with the version and the scopes of a key; a client may keep its own for as long as this. */
const listsKeepMs = 60_000
const privateList = { ttlMs: listsKeepMs, cacheScope: 'private' } as const
const cacheHints = {
  'tools/list': privateList,
  'resources/list': privateList,
  'resources/templates/list': privateList,
  'prompts/list': privateList,
}

/** The protocol for one request of one caller: nothing is kept between requests, so that any node answers any of them. */
export function serverFor(
  { log, tools, verbs }: McpServerDeps,
  caller: Caller,
  requestId: string,
  /** Told what came of a tool, since the protocol says 200 whatever it was. */
  noteCall: (verb: string, status: number) => void,
): Server {
  const failure = (error: unknown, method: string, verb?: string) =>
    knownFailure(error) ?? internal(log, error, { requestId, method, ...(verb !== undefined && { verb }) })
  const server = new Server(identity, {
    capabilities: { tools: {}, resources: {}, prompts: {} },
    instructions,
    cacheHints,
  })

  server.setRequestHandler('tools/list', () => ({ tools: tools.shownTo(caller) }))
  server.setRequestHandler(
    'tools/call',
    async ({ params: { name, arguments: input = {} } }, { mcpReq }): Promise<CallToolResult> => {
      if (!tools.knows(name))
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no tool of this name. Use tools/list.')
      try {
        const answer = await tools.run(name, caller, input, mcpReq.signal)
        noteCall(name, 200)
        return toolAnswer(answer)
      } catch (error) {
        const known = failure(error, 'tools/call', name)
        noteCall(name, known.statusCode)
        return toolFailure(known)
      }
    },
  )

  server.setRequestHandler('resources/list', () => ({ resources: [] }))
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: resourceTemplates(verbs, caller) }))
  server.setRequestHandler('resources/read', async ({ params: { uri } }, { mcpReq }): Promise<ReadResourceResult> => {
    try {
      return await readResource(tools, caller, uri, mcpReq.signal)
    } catch (error) {
      if (error instanceof ProtocolError) throw error
      const problem = problemOf(failure(error, 'resources/read'))
      throw new ProtocolError(ProtocolErrorCode.InvalidRequest, problem.detail, problem)
    }
  })

  server.setRequestHandler('prompts/list', () => ({ prompts: [answerNext] }))
  server.setRequestHandler('prompts/get', ({ params: { name } }) => {
    if (name === promptName) return answerNextPrompt
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no prompt of this name. Use prompts/list.')
  })
  return server
}

function knownFailure(error: unknown): ApiError | null {
  if (error instanceof ApiError) return error
  const isDatabaseAway =
    error instanceof TooBusy || error instanceof NotYet || (error instanceof Error && isAway(error))
  return isDatabaseAway ? unavailable('Not available at the moment. Try again shortly.') : null
}

function internal(log: Log, error: unknown, fields: { requestId: string; method: string; verb?: string }): ApiError {
  log.error('agent call failed', fields, error)
  return new ApiError(500, 'Internal error', { data: { requestId: fields.requestId } })
}
