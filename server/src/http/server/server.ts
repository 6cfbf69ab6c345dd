import fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import type { Clock } from '../../base/clock.ts'
import { ApiError } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import type { Log } from '../../base/log.ts'
import type { App } from '../../base/route.ts'
import { requestContext, runInContext, type WorkContext } from '../../base/scheduling/work-context.ts'
import { maxHeadBytes } from '../../base/schema-types.ts'
import { readTraceparent, type Span, type Tracer } from '../../base/tracing/span.ts'
import { compileForRequest } from '../../base/validation.ts'
import { paths, refuseWhileClosing } from '../monitoring/health.ts'
import { requestIdHeader, requestIdOf, securityHeaders } from './answer-headers.ts'
import { compressAnswers } from './compression.ts'
import { answerBrokenRequests, answerUnknownRoutes, createErrorReply, routeOf } from './error-reply.ts'
import { limitBodies, parseQuery, readJsonBodies, refuseBadQueries } from './request-body.ts'

const maxBodyBytes = 1024 * 1024
/** For a head, and for a body that is no file. */
const arrivesWithinMs = 30_000
/** For a file by a slow line. */
const fileArrivesWithinMs = 30 * 60_000

declare module 'fastify' {
  interface FastifyRequest {
    work: WorkContext | null
  }
}

export interface ServerOptions {
  log: Log
  clock: Clock
  /** Sends `Strict-Transport-Security`; on when people reach the service over HTTPS. */
  isHttps?: boolean
  /** How long a body that is no file may take to arrive. */
  bodyWithinMs?: number
  /** The id of the key that a request came with, for its log line. */
  keyIdOf?: (request: FastifyRequest) => string | undefined
  /** Follows each request but those of machines that ask how the process is. */
  tracer?: Tracer | undefined
  /** Told of every answer. */
  observe?: (method: string, route: string | undefined, status: number, ms: number) => void
}

/**
 * The HTTP server without routes: errors in one shape, strict bodies and queries, request ids, headers, logs.
 * `app.close()` lets running requests end.
 */
export function createServer(options: ServerOptions): App {
  const { log, clock } = options
  const replyWithError = createErrorReply(log)
  const greet = (request: FastifyRequest, reply: FastifyReply) => {
    reply.headers(securityHeaders).header(requestIdHeader, request.id)
    if (options.isHttps) reply.header('strict-transport-security', 'max-age=31536000')
  }
  const app: App = fastify({
    // Fastify's own log lines hold urls; ours are written below.
    logger: false,
    genReqId: (request) => requestIdOf(request, clock),
    bodyLimit: maxBodyBytes,
    requestTimeout: fileArrivesWithinMs,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    exposeHeadRoutes: false,
    http: { maxHeaderSize: maxHeadBytes, requireHostHeader: false, headersTimeout: arrivesWithinMs },
    routerOptions: { maxParamLength: maxHeadBytes, querystringParser: parseQuery },
    clientErrorHandler: answerBrokenRequests(clock),
    frameworkErrors: (error, request, reply) => {
      greet(request, reply)
      replyWithError(error, request, reply)
    },
  })
  // Node answers an `Expect` it does not know with a bare 417, though HTTP lets a server pass over it.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.setValidatorCompiler(({ schema, httpPart }) => compileForRequest(schema, httpPart))
  // A schema-driven serializer drops what a schema forgot, and so hides the mistake from every test.
  app.setSerializerCompiler(() => (body) => JSON.stringify(body))
  app.setErrorHandler(replyWithError)

  followWork(app, options.tracer)
  // Hooks that wait for nothing take a callback: it spares a promise for each request.
  app.addHook('onRequest', (request, reply, done) => {
    greet(request, reply)
    const isHostMissing = request.raw.httpVersion === '1.1' && !request.headers.host
    done(isHostMissing ? new ApiError(400, 'Host header required') : undefined)
  })
  refuseWhileClosing(app)
  limitBodies(app, options.bodyWithinMs ?? arrivesWithinMs)
  readJsonBodies(app)
  refuseBadQueries(app)
  answerUnknownRoutes(app)
  compressAnswers(app)
  logAnswers(app, options)
  return app
}

/** Everything that a request does is its own work, until it is known for which workspace it is. */
function followWork(app: App, tracer: Tracer | undefined): void {
  app.decorateRequest('work', null)
  app.addHook('onRequest', (request, reply, done) => {
    request.work = requestContext(
      laneOf(request.params),
      tracer === undefined ? null : traceRequest(tracer, request, reply),
    )
    const { waitBudget } = request.work
    // Heard as well when the caller has gone without an answer.
    reply.raw.once('close', () => waitBudget?.over())
    runInContext(request.work, done)
  })
  // The parser hands bodies over on its own account.
  app.addHook('preValidation', ({ work }, _reply, done) => (work === null ? done() : runInContext(work, done)))
}

/** What the path names first, such as a workspace: who asks for another one does not wait for those who ask for it. */
function laneOf(params: unknown): string {
  const [first = ''] = Object.values(params ?? {})
  return String(first)
}

const untraced: readonly (string | undefined)[] = [paths.alive, paths.ready, '/metrics']

function traceRequest(tracer: Tracer, request: FastifyRequest, reply: FastifyReply): Span | null {
  const { method } = request
  const route = routeOf(request)
  if (untraced.includes(route)) return null
  const name = route === undefined ? method : `${method} ${route}`
  const fields = {
    'http.request.method': method,
    ...(route && { 'http.route': route }),
    // A caller may give it another shape, which may say anything.
    ...(isUuid(request.id) && { 'parley.request_id': request.id }),
  }
  const span = tracer.begin('server', name, fields, readTraceparent(request.headers.traceparent))
  // Of those that their caller has given up as well.
  reply.raw.once('close', () => {
    const { statusCode: status, writableEnded: isAnswered } = reply.raw
    const owner = request.work?.owner ?? ''
    span.note({ ...(isAnswered && { 'http.response.status_code': status }) })
    if (isUuid(owner)) span.note({ 'parley.workspace_id': owner })
    span.end(isAnswered ? (status >= 500 ? String(status) : undefined) : 'aborted')
  })
  return span
}

function logAnswers(app: App, { log, keyIdOf, observe }: ServerOptions): void {
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
