import {
  createMcpHandler,
  isLegacyRequest,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { type Caller, callerOf } from '../../access/keys/caller.ts'
import type { Guard } from '../../access/keys/guard.ts'
import { rejectKey } from '../../access/keys/reject-key.ts'
import { scopes } from '../../access/keys/scopes.ts'
import { ApiError, badRequest, forbidden } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { App } from '../../base/route.ts'
import { admitTo, isFor } from '../admit.ts'
import type { AgentDeps, Verb } from '../verb.ts'
import { type McpServerDeps, serverFor } from './server.ts'
import { createTools } from './tools.ts'

export interface McpDeps {
  log: Log
  publicUrl: string
}

const path = '/mcp'
const metadataPath = '/.well-known/oauth-protected-resource'

/**
 * The verbs as tools of the Model Context Protocol, by Streamable HTTP without sessions: one request, one answer. Clients of
 * the revision of 2026 and of those before it are served.
 */
export function mcpRoutes(
  app: App,
  agents: AgentDeps,
  guard: Pick<Guard, 'anyKey' | 'admit'>,
  verbs: readonly Verb[],
  { log, publicUrl }: McpDeps,
): void {
  const deps: McpServerDeps = { log, verbs, tools: createTools(agents, guard, verbs) }
  serveMetadata(app, publicUrl)
  // A scope of its own: failures are worded as JSON-RPC here, and nowhere else.
  app.register(async (scope: App) => {
    scope.setErrorHandler(answerAsJsonRpc(publicUrl))
    scope.post(
      path,
      { onRequest: [refuseOrigins(publicUrl), guard.anyKey()], schema: { hide: true } },
      async (request, reply) => {
        const caller = callerOf(request)
        refuseBatch(request.body)
        if (!isCountedByItsTool(request.body)) await admitAny(guard, verbs, caller)
        return reply.send(await answer(serverFor(deps, caller, request.id), publicUrl, request, reply))
      },
    )
    // There are no sessions to stream to or to end.
    scope.route({ method: ['GET', 'DELETE'], url: path, schema: { hide: true }, handler: refuseMethod })
  })
}

/** A page of another site has no business here. Programs send no origin; keys are not in browsers. */
function refuseOrigins(publicUrl: string): onRequestHookHandler {
  const own = new URL(publicUrl).origin
  return ({ headers: { origin } }, _reply, done) =>
    done(origin === undefined || origin === own ? undefined : forbidden('Requests from other sites are refused here'))
}

// Many calls at once would be one to whatever counts requests; the protocol itself has dropped them.
function refuseBatch(body: unknown): void {
  if (Array.isArray(body)) throw badRequest('Send one message at a time: batches are not taken')
}

/** Calls of tools and readings of resources are counted by what they do, as over HTTP. */
function isCountedByItsTool(body: unknown): boolean {
  const method = typeof body === 'object' && body !== null && 'method' in body ? body.method : undefined
  return method === 'tools/call' || method === 'resources/read'
}

async function admitAny(guard: Pick<Guard, 'admit'>, verbs: readonly Verb[], caller: Caller): Promise<void> {
  const verb = verbs.find((each) => isFor(caller, each))
  if (verb === undefined) throw rejectKey({ lacks: scopes })
  await admitTo(guard, verb, caller)
}

async function answer(
  server: Server,
  publicUrl: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Response> {
  const gone = new AbortController()
  const hungUp = new Promise<Response>((resolve) => {
    reply.raw.once('close', () => {
      gone.abort()
      resolve(new Response(null, { status: 499 }))
    })
  })
  const asked = new Request(publicUrl + path, {
    method: 'POST',
    headers: protocolHeaders(request),
    signal: gone.signal,
  })
  const parsedBody = request.body ?? null
  const answering = (await isLegacyRequest(asked, parsedBody))
    ? answerLegacy(server, asked, parsedBody)
    : createMcpHandler(() => server, { legacy: 'reject', maxSubscriptions: 0 }).fetch(asked, { parsedBody })
  return Promise.race([answering, hungUp])
}

// As one JSON body: it is compressed, and a wait is shorter than what any proxy cuts.
async function answerLegacy(server: Server, asked: Request, parsedBody: unknown): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  asked.signal.addEventListener('abort', () => server.close())
  return transport.handleRequest(asked, { parsedBody })
}

/** What the protocol reads, and never the key. Whatever a client says it accepts, it gets JSON. */
function protocolHeaders({ headers }: FastifyRequest): Record<string, string> {
  const names = Object.keys(headers).filter((name) => name.startsWith('mcp-'))
  const passed = names.map((name): [string, string] => [name, String(headers[name])])
  return {
    ...Object.fromEntries(passed),
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }
}

function refuseMethod(): never {
  throw new ApiError(405, 'Use POST here: there are no sessions, and nothing is streamed', {
    headers: { allow: 'POST' },
  })
}

/** Clients look into the body of a failure for JSON-RPC, and into `WWW-Authenticate` for where keys come from. */
function answerAsJsonRpc(publicUrl: string) {
  const challenge = `Bearer resource_metadata="${publicUrl}${metadataPath}${path}"`
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    if (!(error instanceof ApiError)) throw error
    const { statusCode, message, headers, data } = error
    const code = data === undefined ? {} : { data }
    if (statusCode === 401) {
      const invalid = request.headers.authorization === undefined ? '' : `, error="invalid_token"`
      headers['www-authenticate'] = `${challenge}${invalid}`
    }
    return reply
      .code(statusCode)
      .headers(headers)
      .send({ jsonrpc: '2.0', id: null, error: { code: -32000, message, ...code } })
  }
}

/** RFC 9728. No authorization server is named, since there is none: keys are made by people of the workspace. */
function serveMetadata(app: App, publicUrl: string): void {
  const document = {
    resource: `${publicUrl}${path}`,
    resource_name: 'Parley',
    resource_documentation: `${publicUrl}/docs/agents.md`,
    bearer_methods_supported: ['header'],
    scopes_supported: scopes,
  }
  for (const url of [metadataPath, `${metadataPath}${path}`]) {
    app.get(url, { schema: { hide: true } }, async (_request, reply) =>
      reply.header('access-control-allow-origin', '*').send(document),
    )
  }
}
