import fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import type { Clock } from '../../base/clock.ts'
import { ApiError } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import type { Log } from '../../base/log.ts'
import type { App } from '../../base/route.ts'
import { requestContext, runInContext, type WorkContext } from '../../base/scheduling/work-context.ts'
import { maxHeadBytes } from '../../base/schema-types.ts'
import { parseTraceparent, type Span, type Tracer } from '../../base/tracing/span.ts'
import { compileForRequest } from '../../base/validation.ts'
import { paths, rejectWhileClosing } from '../monitoring/health.ts'
import { compressResponses } from './compression.ts'
import { createErrorReply, handleClientErrors, handleUnknownRoutes, routeOf } from './error-reply.ts'
import { limitBodyTime, parseJsonBodies, parseQuery, rejectBadQueries } from './request-body.ts'
import { requestIdHeader, requestIdOf, securityHeaders } from './response-headers.ts'

const maxBodyBytes = 1024 * 1024
/** Milliseconds for the request head, and for a body that is not a file. */
const defaultBodyTimeoutMs = 30_000
/** Milliseconds for a file over a slow connection. */
const fileTimeoutMs = 30 * 60_000

declare module 'fastify' {
  interface FastifyRequest {
    work: WorkContext | null
  }
}

export interface ServerOptions {
  log: Log
  clock: Clock
  /** Sends `Strict-Transport-Security`; set if people use HTTPS. */
  isHttps?: boolean
  /** Milliseconds in which a body that is not a file must arrive. */
  bodyTimeoutMs?: number
  /** Returns the id of the request's API key, for its log entry. */
  keyIdOf?: (request: FastifyRequest) => string | undefined
  /** Traces each request except health checks and metrics. */
  tracer?: Tracer | undefined
  /** Called for every response. */
  observe?: (method: string, route: string | undefined, status: number, ms: number) => void
}

/**
 * Creates the HTTP server without routes: uniform errors, strict bodies and queries, request ids, headers, logs.
 * `app.close()` lets running requests finish.
 */
export function createServer(options: ServerOptions): App {
  const { log, clock } = options
  const replyWithError = createErrorReply(log)
  const setCommonHeaders = (request: FastifyRequest, reply: FastifyReply) => {
    reply.headers(securityHeaders).header(requestIdHeader, request.id)
    if (options.isHttps) reply.header('strict-transport-security', 'max-age=31536000')
  }
  const app: App = fastify({
    // Fastify's log entries contain URLs; ours are in `logResponses`.
    logger: false,
    genReqId: (request) => requestIdOf(request, clock),
    bodyLimit: maxBodyBytes,
    requestTimeout: fileTimeoutMs,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    exposeHeadRoutes: false,
    http: { maxHeaderSize: maxHeadBytes, requireHostHeader: false, headersTimeout: defaultBodyTimeoutMs },
    routerOptions: { maxParamLength: maxHeadBytes, querystringParser: parseQuery },
    clientErrorHandler: handleClientErrors(clock),
    frameworkErrors: (error, request, reply) => {
      setCommonHeaders(request, reply)
      replyWithError(error, request, reply)
    },
  })
  // Node responds 417 to an unknown `Expect` header; HTTP allows a server to ignore it.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.setValidatorCompiler(({ schema, httpPart }) => compileForRequest(schema, httpPart))
  // A schema-driven serializer drops fields that a schema lacks, which hides the mistake from tests.
  app.setSerializerCompiler(() => (body) => JSON.stringify(body))
  app.setErrorHandler(replyWithError)

  trackWork(app, options.tracer)
  // Synchronous hooks use callbacks, which saves a promise per request.
  app.addHook('onRequest', (request, reply, done) => {
    setCommonHeaders(request, reply)
    const isHostMissing = request.raw.httpVersion === '1.1' && !request.headers.host
    done(isHostMissing ? new ApiError(400, 'Host header required') : undefined)
  })
  rejectWhileClosing(app)
  limitBodyTime(app, options.bodyTimeoutMs ?? defaultBodyTimeoutMs)
  parseJsonBodies(app)
  rejectBadQueries(app)
  handleUnknownRoutes(app)
  compressResponses(app)
  logResponses(app, options)
  return app
}

/** Runs each request in a work context of its own, until its workspace is known. */
function trackWork(app: App, tracer: Tracer | undefined): void {
  app.decorateRequest('work', null)
  app.addHook('onRequest', (request, reply, done) => {
    request.work = requestContext(
      laneOf(request.params),
      tracer === undefined ? null : traceRequest(tracer, request, reply),
    )
    const { waitBudget } = request.work
    // Also fires if the client disconnects without a response.
    reply.raw.once('close', () => waitBudget?.stop())
    runInContext(request.work, done)
  })
  // The body parser calls back outside of the context.
  app.addHook('preValidation', ({ work }, _reply, done) => (work === null ? done() : runInContext(work, done)))
}

/** Returns the first path parameter, such as a workspace: requests of different lanes do not wait for each other. */
function laneOf(params: unknown): string {
  const [first = ''] = Object.values(params ?? {})
  return String(first)
}

const untracedRoutes: readonly (string | undefined)[] = [paths.alive, paths.ready, '/metrics']

function traceRequest(tracer: Tracer, request: FastifyRequest, reply: FastifyReply): Span | null {
  const { method } = request
  const route = routeOf(request)
  if (untracedRoutes.includes(route)) return null
  const name = route === undefined ? method : `${method} ${route}`
  const fields = {
    'http.request.method': method,
    ...(route && { 'http.route': route }),
    // A caller's own request id can contain arbitrary text.
    ...(isUuid(request.id) && { 'parley.request_id': request.id }),
  }
  const span = tracer.begin('server', name, fields, parseTraceparent(request.headers.traceparent))
  // Also ends spans of aborted requests.
  reply.raw.once('close', () => {
    const { statusCode: status, writableEnded: isAnswered } = reply.raw
    const owner = request.work?.owner ?? ''
    span.setFields({ ...(isAnswered && { 'http.response.status_code': status }) })
    if (isUuid(owner)) span.setFields({ 'parley.workspace_id': owner })
    span.end(isAnswered ? (status >= 500 ? String(status) : undefined) : 'aborted')
  })
  return span
}

function logResponses(app: App, { log, keyIdOf, observe }: ServerOptions): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { elapsedTime, statusCode: status } = reply
    const route = routeOf(request)
    observe?.(request.method, route, status, elapsedTime)
    log.info('request', {
      requestId: request.id,
      method: request.method,
      route,
      status,
      durationMs: Math.round(elapsedTime * 10) / 10,
      keyId: keyIdOf?.(request),
      traceId: request.work?.span?.traceparent.slice(3, 35),
    })
    done()
  })
}
