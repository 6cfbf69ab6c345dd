import { setMaxListeners } from 'node:events'
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { currentContext, traced } from '../scheduling/work-context.ts'
import {
  type AddressFilter,
  createAddressFilter,
  guardedLookup,
  parseTarget,
  type Resolver,
  refusalOfLiteral,
  refusalOfName,
  systemResolver,
} from './guard.ts'
import {
  type Agents,
  type ConnectionRoute,
  exchange,
  type FailedExchange,
  type HttpAnswer,
  type OutgoingFailure,
  type OutgoingRequest,
} from './http-exchange.ts'
import { type OpenStream, openStream, type StreamContent } from './stream.ts'

export type OutgoingAnswer = (HttpAnswer | FailedExchange) & { ms: number }

export interface StreamRequest extends StreamContent {
  url: string
}

export type StreamAnswer = OpenStream | FailedExchange

/** Requests to user-supplied URLs. Never reach the operator's network, unless the operator allows it. */
export interface Outgoing {
  /** Performs one exchange without redirects or proxies; never throws. */
  call(request: OutgoingRequest): Promise<OutgoingAnswer>
  /** The same for files: neither the request body nor the response is ever in memory as a whole. */
  stream(request: StreamRequest): Promise<StreamAnswer>
  /** Returns why a URL is refused, to follow the field name, or null. Names are resolved and checked only by calls. */
  refusal(url: string): string | null
  /** Closes all connections, including those in use. */
  close(): void
}

export interface OutgoingOptions {
  /** Addresses and ranges that are allowed although they are not public. */
  allowCidrs: readonly string[]
  resolve?: Resolver
}

// Shorter than the idle timeout of servers, so that few sockets are reused just as the server closes them.
const idleSocketMs = 4_000
const perOrigin = { maxSockets: 512, maxFreeSockets: 64 }

/** Throws if an entry of `allowCidrs` is not a range. */
export function openOutgoing({ allowCidrs, resolve = systemResolver() }: OutgoingOptions): Outgoing {
  const filter = createAddressFilter(allowCidrs)
  const settings = { keepAlive: true, timeout: idleSocketMs, scheduling: 'lifo', ...perOrigin } as const
  const agents: Agents = { http: new HttpAgent(settings), https: new HttpsAgent(settings) }
  const closing = new AbortController()
  // Each open stream adds a listener.
  setMaxListeners(0, closing.signal)
  const deps = { agents, filter, resolve }
  return {
    call: (request) => inClientSpan(request, (traceparent) => call(deps, request, traceparent)),
    stream: (request) => inClientSpan(request, () => stream(deps, closing.signal, request)),
    refusal: (url) => {
      const target = parseTarget(url)
      if ('refused' in target) return target.refused
      return refusalOfLiteral(target, filter) ?? refusalOfName(target, filter, allowCidrs)
    },
    close: () => {
      closing.abort()
      agents.http.destroy()
      agents.https.destroy()
    },
  }
}

interface Deps {
  agents: Agents
  filter: AddressFilter
  resolve: Resolver
}

/** Returns the route of a URL, with a pooled or a fresh connection, or why it is refused. */
function routeTo(
  { agents, filter, resolve }: Deps,
  url: string,
): ((isFresh: boolean) => ConnectionRoute) | OutgoingFailure {
  const target = parseTarget(url)
  if ('refused' in target) return 'invalid_address'
  if (refusalOfLiteral(target, filter) !== null) return 'forbidden_address'
  const lookup = guardedLookup(resolve, filter, target)
  return (isFresh) => ({ agents, filter, lookup, target, isFresh })
}

async function call(deps: Deps, request: OutgoingRequest, traceparent: string | null): Promise<OutgoingAnswer> {
  const startedMs = performance.now()
  const elapsedMs = () => Math.round(performance.now() - startedMs)
  const failed = (error: OutgoingFailure, code: string = error, wasSent = false): OutgoingAnswer => ({
    outcome: 'failed',
    error,
    code,
    wasSent,
    ms: elapsedMs(),
  })
  const route = routeTo(deps, request.url)
  if (typeof route === 'string') return failed(route)

  const headers =
    request.propagatesTrace && traceparent !== null ? { ...request.headers, traceparent } : request.headers
  const attempt = (isFresh: boolean) =>
    exchange(route(isFresh), { ...request, headers, timeoutMs: request.timeoutMs - elapsedMs() })
  let result = await attempt(false)
  const isRepeated = result.outcome === 'failed' && result.wasStale && request.canRepeat === true
  if (isRepeated) result = await attempt(true)
  if (result.outcome === 'failed') return failed(result.error, result.code, result.wasSent || isRepeated)
  return { ...result, ms: elapsedMs() }
}

async function stream(deps: Deps, closing: AbortSignal, { url, ...content }: StreamRequest): Promise<StreamAnswer> {
  const route = routeTo(deps, url)
  if (typeof route === 'string') return { outcome: 'failed', error: route, code: route, wasSent: false }
  const signal = AbortSignal.any([closing, content.signal])
  const attempt = (isFresh: boolean) => openStream(route(isFresh), { ...content, signal })
  // A body can be read only once, so it uses a fresh connection, which the server is not about to close.
  const answer = await attempt(content.body !== null)
  return answer.outcome === 'failed' && answer.wasStale && content.body === null ? attempt(true) : answer
}

/** Runs the request in a span of the current trace, if there is one. */
function inClientSpan<A extends OutgoingAnswer | StreamAnswer>(
  { method, url }: { method: string; url: string },
  run: (traceparent: string | null) => Promise<A>,
): Promise<A> {
  if (currentContext().span === null) return run(null)
  const target = parseTarget(url)
  // A span contains only the host of a URL.
  const place = 'refused' in target ? {} : { 'server.address': target.host, 'server.port': target.port }
  return traced('client', method, { 'http.request.method': method, ...place }, async (span) => {
    const answer = await run(span?.traceparent ?? null)
    if (answer.outcome === 'answered') span?.setFields({ 'http.response.status_code': answer.status })
    const problem = answer.outcome === 'failed' ? answer.code : answer.status >= 400 ? String(answer.status) : undefined
    span?.end(problem)
    return answer
  })
}
