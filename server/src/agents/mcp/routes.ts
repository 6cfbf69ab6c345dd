import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { KeyGuard } from '../../auth/api-keys/authenticate.ts'
import { type Caller, callerOf, rejectKey, scopes } from '../../auth/api-keys/caller.ts'
import { ApiError, badRequest, forbidden } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { isLoopback } from '../../base/outgoing/address.ts'
import type { App } from '../../base/route.ts'
import { type AgentDeps, type AgentTool, authorizeTool, canUse } from '../tool.ts'
import { createMcpTools, type McpTools } from './tools.ts'

export interface McpDeps extends OriginSettings {
  log: Log
}

const path = '/mcp'
const defaultBody = 1_048_576
const metadataPath = '/.well-known/oauth-protected-resource'

/**
 * The verbs as tools of the Model Context Protocol, by Streamable HTTP without sessions: one request, one answer. Clients of
 * the revision of 2026 and of those before it are served.
 */
export function mcpRoutes(
  app: App,
  agents: AgentDeps,
  guard: Pick<KeyGuard, 'anyKey' | 'authorize'>,
  agentTools: readonly AgentTool[],
  { log, ...origins }: McpDeps,
): void {
  const deps = { log, agentTools, tools: createMcpTools(agents, guard, agentTools) }
  const { publicUrl } = origins
  const url = publicUrl + path
  const originHook = checkOrigin(origins)
  serveMetadata(app, publicUrl)
  // A scope of its own: failures are worded as JSON-RPC here, and nowhere else.
  app.register(async (scope: App) => {
    scope.setErrorHandler(answerAsJsonRpc(publicUrl))
    scope.options(path, { onRequest: originHook, schema: { hide: true } }, ({ headers }, reply) =>
      reply.code(204).headers(preflight(headers['access-control-request-headers'])).send(),
    )
    scope.post(
      path,
      { bodyLimit: maxToolBody(agentTools), onRequest: [originHook, guard.anyKey()], schema: { hide: true } },
      async (request, reply) => {
        const caller = callerOf(request)
        rejectBatch(request.body)
        if (!isCountedByItsTool(deps.tools, request.body)) await authorizeAny(guard, agentTools, caller)
        // It takes 35 MB and a tenth of a second, which nobody is to wait for at a start.
        const { exchange, createMcpServer } = await import('./server.ts')
        const recordCall = (verb: string, status: number) => {
          request.call = { verb, status }
        }
        return exchange(createMcpServer(deps, caller, request.id, recordCall), url, request, reply)
      },
    )
  })
}

/** What the largest of the verbs takes, and what is around it. */
const maxToolBody = (agentTools: readonly AgentTool[]): number =>
  Math.max(defaultBody, ...agentTools.map(({ http: { maxBodyBytes = 0 } }) => maxBodyBytes + 16_384))

// Many calls at once would be one to whatever counts requests; the protocol itself has dropped them.
function rejectBatch(body: unknown): void {
  if (Array.isArray(body)) throw badRequest('Send one message at a time: batches are not taken')
}

/** Calls of tools and readings of resources are counted by what they do, as over HTTP. */
function isCountedByItsTool(tools: McpTools, body: unknown): boolean {
  const { method, params } = (body ?? {}) as { method?: unknown; params?: { name?: unknown } | null }
  return method === 'resources/read' || (method === 'tools/call' && tools.has(params?.name))
}

async function authorizeAny(
  guard: Pick<KeyGuard, 'authorize'>,
  agentTools: readonly AgentTool[],
  caller: Caller,
): Promise<void> {
  const tool = agentTools.find((each) => canUse(caller, each))
  if (tool === undefined) throw rejectKey({ lacks: scopes })
  await authorizeTool(guard, tool, caller)
}

/** Clients look into the body of a failure for JSON-RPC, and into `WWW-Authenticate` for where keys come from. */
function answerAsJsonRpc(publicUrl: string) {
  const challenge = `Bearer resource_metadata="${publicUrl}${metadataPath}${path}"`
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    if (!(error instanceof ApiError)) throw error
    const { statusCode, message, headers, data } = error
    const failure = { code: -32000, message, ...(data !== undefined && { data }) }
    const invalid = request.headers.authorization === undefined ? '' : ', error="invalid_token"'
    return reply
      .code(statusCode)
      .headers(statusCode === 401 ? { ...headers, 'www-authenticate': challenge + invalid } : headers)
      .send({ jsonrpc: '2.0', id: null, error: failure })
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

/** What decides which pages may call from a browser. */
interface OriginSettings {
  publicUrl: string
  /** The address that the service listens on. */
  host: string
  allowedOrigins: readonly string[]
}

/**
 * Returns whether a page of this origin may call: our own, those that the settings list, and pages of this machine while
 * nobody else reaches the service. A page whose name was made to lead here (DNS rebinding) still has its own origin.
 */
export function isAllowedOrigin(origin: string, { publicUrl, host, allowedOrigins }: OriginSettings): boolean {
  if (origin === new URL(publicUrl).origin || allowedOrigins.includes(origin)) return true
  return isLoopback(host) && isLocalOrigin(origin)
}

function isLocalOrigin(origin: string): boolean {
  if (!URL.canParse(origin)) return false
  const url = new URL(origin)
  // Whatever else stands in an address is in no origin.
  return /^https?:$/.test(url.protocol) && url.origin === origin && isLoopback(url.hostname)
}

/** What a script of another origin reads of an answer beside its body. */
const exposedHeaders = 'www-authenticate, retry-after, x-request-id'

/** Refuses pages that may not call with 403, and has browsers show answers to those that may. Programs send no origin. */
const checkOrigin =
  (settings: OriginSettings): onRequestHookHandler =>
  ({ headers: { origin } }, reply, done) => {
    if (origin === undefined) return done()
    reply.header('vary', 'origin')
    if (!isAllowedOrigin(origin, settings)) return done(forbidden('Requests from other sites are refused here'))
    reply.headers({
      'access-control-allow-origin': origin,
      'access-control-expose-headers': exposedHeaders,
      'cross-origin-resource-policy': 'cross-origin',
    })
    done()
  }

/** What a browser asks for before it lets a page send a key. No cookie is ever taken here, so none is offered. */
const preflight = (requestedHeaders: string | undefined): Record<string, string> => ({
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers': /^[\w, -]{1,1000}$/.test(requestedHeaders ?? '')
    ? String(requestedHeaders)
    : 'authorization, content-type',
  'access-control-max-age': '600',
})
