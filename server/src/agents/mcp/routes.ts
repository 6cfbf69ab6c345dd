import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { type Caller, callerOf, rejectKey, scopes } from '../../access/keys/caller.ts'
import type { Guard } from '../../access/keys/guard.ts'
import { ApiError, badRequest, forbidden } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { isLoopback } from '../../base/outgoing/address.ts'
import type { App } from '../../base/route.ts'
import { type AgentDeps, admitTo, isFor, type Verb } from '../verb.ts'
import { createTools, type Tools } from './tools.ts'

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
  guard: Pick<Guard, 'anyKey' | 'admit'>,
  verbs: readonly Verb[],
  { log, ...origins }: McpDeps,
): void {
  const deps = { log, verbs, tools: createTools(agents, guard, verbs) }
  const { publicUrl } = origins
  const url = publicUrl + path
  const refuse = refuseOrigins(origins)
  serveMetadata(app, publicUrl)
  // A scope of its own: failures are worded as JSON-RPC here, and nowhere else.
  app.register(async (scope: App) => {
    scope.setErrorHandler(answerAsJsonRpc(publicUrl))
    scope.options(path, { onRequest: refuse, schema: { hide: true } }, ({ headers }, reply) =>
      reply.code(204).headers(preflight(headers['access-control-request-headers'])).send(),
    )
    scope.post(
      path,
      { bodyLimit: largestBody(verbs), onRequest: [refuse, guard.anyKey()], schema: { hide: true } },
      async (request, reply) => {
        const caller = callerOf(request)
        refuseBatch(request.body)
        if (!isCountedByItsTool(deps.tools, request.body)) await admitAny(guard, verbs, caller)
        // It takes 35 MB and a tenth of a second, which nobody is to wait for at a start.
        const { exchange, serverFor } = await import('./server.ts')
        const noteCall = (verb: string, status: number) => {
          request.call = { verb, status }
        }
        return exchange(serverFor(deps, caller, request.id, noteCall), url, request, reply)
      },
    )
  })
}

/** What the largest of the verbs takes, and what is around it. */
const largestBody = (verbs: readonly Verb[]): number =>
  Math.max(defaultBody, ...verbs.map(({ http: { maxBodyBytes = 0 } }) => maxBodyBytes + 16_384))

// Many calls at once would be one to whatever counts requests; the protocol itself has dropped them.
function refuseBatch(body: unknown): void {
  if (Array.isArray(body)) throw badRequest('Send one message at a time: batches are not taken')
}

/** Calls of tools and readings of resources are counted by what they do, as over HTTP. */
function isCountedByItsTool(tools: Tools, body: unknown): boolean {
  const { method, params } = (body ?? {}) as { method?: unknown; params?: { name?: unknown } | null }
  return method === 'resources/read' || (method === 'tools/call' && tools.knows(params?.name))
}

async function admitAny(guard: Pick<Guard, 'admit'>, verbs: readonly Verb[], caller: Caller): Promise<void> {
  const verb = verbs.find((each) => isFor(caller, each))
  if (verb === undefined) throw rejectKey({ lacks: scopes })
  await admitTo(guard, verb, caller)
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
  return isLoopback(host) && isOfThisMachine(origin)
}

function isOfThisMachine(origin: string): boolean {
  if (!URL.canParse(origin)) return false
  const url = new URL(origin)
  // Whatever else stands in an address is in no origin.
  return /^https?:$/.test(url.protocol) && url.origin === origin && isLoopback(url.hostname)
}

/** What a script of another origin reads of an answer beside its body. */
const shownHeaders = 'www-authenticate, retry-after, x-request-id'

/** Refuses pages that may not call with 403, and has browsers show answers to those that may. Programs send no origin. */
const refuseOrigins =
  (settings: OriginSettings): onRequestHookHandler =>
  ({ headers: { origin } }, reply, done) => {
    if (origin === undefined) return done()
    reply.header('vary', 'origin')
    if (!isAllowedOrigin(origin, settings)) return done(forbidden('Requests from other sites are refused here'))
    reply.headers({
      'access-control-allow-origin': origin,
      'access-control-expose-headers': shownHeaders,
      'cross-origin-resource-policy': 'cross-origin',
    })
    done()
  }

/** What a browser asks for before it lets a page send a key. No cookie is ever taken here, so none is offered. */
const preflight = (asked: string | undefined): Record<string, string> => ({
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers': /^[\w, -]{1,1000}$/.test(asked ?? '') ? String(asked) : 'authorization, content-type',
  'access-control-max-age': '600',
})
