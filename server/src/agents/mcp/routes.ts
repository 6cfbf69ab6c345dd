import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { KeyGuard } from '../../auth/api-keys/authenticate.ts'
import { type Caller, callerOf, rejectKey, scopes } from '../../auth/api-keys/caller.ts'
import { oauthScopes } from '../../auth/oauth/authorization-request.ts'
import { resourceOf, servesOAuth } from '../../auth/oauth/redirects.ts'
import { ApiError, badRequest, forbidden } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { isLoopback } from '../../base/outgoing/address.ts'
import type { App } from '../../base/route.ts'
import { type AgentDeps, type AgentTool, authorizeTool, canUse } from '../define-tool.ts'
import { createMcpTools, type McpTools } from './mcp-tools.ts'

export interface McpDeps extends OriginSettings {
  log: Log
}

const path = '/mcp'
const defaultBodyBytes = 1_048_576
const metadataPath = '/.well-known/oauth-protected-resource'

/**
 * Registers the tools as an MCP server: Streamable HTTP without sessions, one response per request. Serves clients of
 * the 2026 revision of the protocol and of earlier ones.
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
  // An encapsulated scope: only its errors are formatted as JSON-RPC.
  app.register(async (scope: App) => {
    scope.setErrorHandler(sendJsonRpcError(publicUrl))
    scope.options(path, { onRequest: originHook, schema: { hide: true } }, ({ headers }, reply) =>
      reply.code(204).headers(preflightHeaders(headers['access-control-request-headers'])).send(),
    )
    scope.post(
      path,
      {
        bodyLimit: maxToolBodyBytes(agentTools),
        onRequest: [originHook, guard.anyKey('keys and tokens')],
        schema: { hide: true },
      },
      async (request, reply) => {
        const caller = callerOf(request)
        rejectBatch(request.body)
        if (caller.isOAuth === true) requireScopes(publicUrl, agentTools, caller, request)
        if (!isCountedByTool(deps.tools, request.body)) await authorizeAny(guard, agentTools, caller)
        // Imported on first use: it takes 35 MB and 0.1 s, which would slow down the start.
        const { exchange, createMcpServer } = await import('./server.ts')
        const recordCall = (toolName: string, status: number) => {
          request.call = { verb: toolName, status }
        }
        return exchange(createMcpServer(deps, caller, request.id, recordCall), url, request, reply)
      },
    )
  })
}

/** Returns the largest body of any tool, plus 16 KiB for the JSON-RPC envelope. */
const maxToolBodyBytes = (agentTools: readonly AgentTool[]): number =>
  Math.max(defaultBodyBytes, ...agentTools.map(({ http: { maxBodyBytes = 0 } }) => maxBodyBytes + 16_384))

// A batch would count as one request for the rate limit; newer revisions of the protocol have no batches.
function rejectBatch(body: unknown): void {
  if (Array.isArray(body)) throw badRequest('Send one message per request: batches are not supported')
}

/** Returns whether the tool that serves the request authorizes and counts it: tool calls and resource reads. */
function isCountedByTool(tools: McpTools, body: unknown): boolean {
  const { method, params } = (body ?? {}) as { method?: unknown; params?: { name?: unknown } | null }
  return method === 'resources/read' || (method === 'tools/call' && tools.has(params?.name))
}

/** Throws the 403 by which a client asks the person for more, if the called tool needs a scope that it lacks. */
function requireScopes(publicUrl: string, agentTools: readonly AgentTool[], caller: Caller, request: FastifyRequest) {
  const { method, params } = (request.body ?? {}) as { method?: unknown; params?: { name?: unknown } | null }
  const tool = method === 'tools/call' ? agentTools.find(({ name }) => name === params?.name) : undefined
  if (tool === undefined || canUse(caller, tool)) return
  const [scope] = tool.scopes
  request.call = { verb: tool.name, status: 403 }
  throw new ApiError(403, `This needs the scope ${scope}. Connect again and grant it.`, {
    headers: { 'www-authenticate': challengeOf(publicUrl, { error: 'insufficient_scope', scope }) },
  })
}

/** Returns a challenge (RFC 6750) with the URL of the metadata, by which clients find the authorization server. */
function challengeOf(publicUrl: string, parameters: { scope?: string; error?: string }): string {
  const all = { resource_metadata: `${publicUrl}${metadataPath}${path}`, ...parameters }
  const given = Object.entries(all).filter(([, value]) => value !== undefined)
  return `Bearer ${given.map(([name, value]) => `${name}="${value}"`).join(', ')}`
}

async function authorizeAny(guard: Pick<KeyGuard, 'authorize'>, agentTools: readonly AgentTool[], caller: Caller) {
  const tool = agentTools.find((each) => canUse(caller, each))
  if (tool === undefined) throw rejectKey({ lacks: scopes })
  await authorizeTool(guard, tool, caller)
}

/** Formats errors as JSON-RPC, with the metadata URL in `WWW-Authenticate`, as MCP clients expect. */
function sendJsonRpcError(publicUrl: string) {
  const wanted: { scope?: string } = servesOAuth(publicUrl) ? { scope: oauthScopes.join(' ') } : {}
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    if (!(error instanceof ApiError)) throw error
    const { statusCode, message, headers, data } = error
    const failure = { code: -32000, message, ...(data !== undefined && { data }) }
    const invalid: { error?: string } = request.headers.authorization === undefined ? {} : { error: 'invalid_token' }
    return reply
      .code(statusCode)
      .headers(
        statusCode === 401
          ? { ...headers, 'www-authenticate': challengeOf(publicUrl, { ...wanted, ...invalid }) }
          : headers,
      )
      .send({ jsonrpc: '2.0', id: null, error: failure })
  }
}

/** Serves RFC 9728 metadata, which names the authorization server: this one, unless its URL is unencrypted. */
function serveMetadata(app: App, publicUrl: string): void {
  const document = {
    resource: resourceOf(publicUrl),
    ...(servesOAuth(publicUrl) && { authorization_servers: [publicUrl] }),
    resource_name: 'Parley',
    resource_documentation: `${publicUrl}/docs/agents.md`,
    bearer_methods_supported: ['header'],
    scopes_supported: oauthScopes,
  }
  for (const url of [metadataPath, `${metadataPath}${path}`]) {
    app.get(url, { schema: { hide: true } }, async (_request, reply) =>
      reply.header('access-control-allow-origin', '*').send(document),
    )
  }
}

/** Settings that decide which pages may call from a browser. */
interface OriginSettings {
  publicUrl: string
  /** Address that the service listens on. */
  host: string
  allowedOrigins: readonly string[]
}

/**
 * Returns whether a page of this origin may call: our own, those in the settings, and pages of this machine while the
 * service listens on loopback only. A page that uses DNS rebinding still sends its own origin.
 */
export function isAllowedOrigin(origin: string, { publicUrl, host, allowedOrigins }: OriginSettings): boolean {
  if (origin === new URL(publicUrl).origin || allowedOrigins.includes(origin)) return true
  return isLoopback(host) && isLocalOrigin(origin)
}

function isLocalOrigin(origin: string): boolean {
  if (!URL.canParse(origin)) return false
  const url = new URL(origin)
  // Rejects values with anything beyond an origin, such as a path.
  return /^https?:$/.test(url.protocol) && url.origin === origin && isLoopback(url.hostname)
}

/** Headers that scripts of other origins may read. */
const exposedHeaders = 'www-authenticate, retry-after, x-request-id'

/** Rejects disallowed origins with 403 and sets CORS headers for allowed ones. Requests without an origin pass. */
const checkOrigin =
  (settings: OriginSettings): onRequestHookHandler =>
  ({ headers: { origin } }, reply, done) => {
    if (origin === undefined) return done()
    reply.header('vary', 'origin')
    if (!isAllowedOrigin(origin, settings)) return done(forbidden('Requests from this origin are not allowed'))
    reply.headers({
      'access-control-allow-origin': origin,
      'access-control-expose-headers': exposedHeaders,
      'cross-origin-resource-policy': 'cross-origin',
    })
    done()
  }

/** Returns the headers of a CORS preflight response. Allows no credentials, because cookies are not accepted here. */
const preflightHeaders = (requestedHeaders: string | undefined): Record<string, string> => ({
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers': /^[\w, -]{1,1000}$/.test(requestedHeaders ?? '')
    ? String(requestedHeaders)
    : 'authorization, content-type',
  'access-control-max-age': '600',
})
