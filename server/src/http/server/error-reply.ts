import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { isAgentUrl, problemOf, problemType } from '../../agents/http/problem.ts'
import type { Clock } from '../../base/clock.ts'
import { isOutOfDisk, isUnavailable, RetryTransaction } from '../../base/db.ts'
import {
  ApiError,
  badRequest,
  InvalidInput,
  invalid,
  notFound,
  type RequestPart,
  unavailable,
} from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import type { Log } from '../../base/log.ts'
import type { App } from '../../base/route.ts'
import { TooBusy } from '../../base/scheduling/fair-queue.ts'
import { type Html, html } from '../../base/text/html.ts'
import { invalidInput } from '../../base/validation.ts'
import { type PageTexts, page, sendPage, textsFor } from '../pages/page.ts'
import { requestIdHeader, securityHeaders } from './response-headers.ts'

interface ErrorBody {
  statusCode: number
  statusMessage: string
  data?: Record<string, unknown>
}

// Set explicitly, because a file that fails before its first byte has set its own type.
const json = 'application/json; charset=utf-8'

/** Converts all errors to responses: `{ statusCode, statusMessage, data? }`, or problem details in the agent API. */
export function createErrorReply(log: Log) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const fields = { requestId: request.id, method: request.method, route: routeOf(request) }
    const known = toApiError(error, request)
    if (known === null) {
      log.error('request failed', fields, error)
      return sendError(new ApiError(500, 'Internal error', { data: { requestId: request.id } }), request, reply)
    }
    if (known.statusCode === 503 && known !== error) log.warn(reasonOf(error), fields, error)
    return sendError(known, request, reply)
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof TooBusy) return 'no database connection free for the workspace; request refused'
  if (isOutOfDisk(error)) return 'database out of disk space; writes refused'
  return 'database unavailable; requests refused'
}

function sendError(error: ApiError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.code(error.statusCode).headers(error.headers)
  if (isAgentUrl(request.url)) return reply.type(problemType).send(problemOf(error))
  return reply.type(json).send(bodyOf(isInbox(request) ? toInboxError(error) : error))
}

function bodyOf(error: ApiError): ErrorBody {
  const { statusCode, message, data } = error
  return data === undefined ? { statusCode, statusMessage: message } : { statusCode, statusMessage: message, data }
}

/** Returns the route pattern for logs; undefined for unknown routes, because their URL is text of the caller. */
export function routeOf(request: FastifyRequest): string | undefined {
  return request.is404 ? undefined : request.routeOptions.url
}

/** Returns the error for the caller; null for an internal error. */
function toApiError(error: unknown, request: FastifyRequest): ApiError | null {
  if (error instanceof ApiError) return error
  if (!(error instanceof Error)) return null
  // A client that disconnects during its body also causes ECONNRESET; the parser sets a status on that one.
  if (isDatabaseUnavailable(error) && !('statusCode' in error))
    return unavailable('Not available at the moment. Try again shortly.')
  const { validation, validationContext, code, statusCode } = error as FastifyError
  if (validation) {
    const part = partOf(validationContext)
    if (part === 'body' && request.body === undefined) return invalid('', 'is required: send a JSON body')
    return invalidInput(validation as Parameters<typeof invalidInput>[0], part)
  }
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new ApiError(413, 'Body is larger than 1 MiB')
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new ApiError(415, 'Send the body as application/json')
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return invalid('', 'does not match Content-Length')
    case 'FST_ERR_BAD_URL':
      return invalid('', 'is not valid percent-encoding', 'params')
    default:
      return statusCode !== undefined && statusCode >= 400 && statusCode < 500 ? badRequest('Bad request') : null
  }
}

function partOf(context: FastifyError['validationContext']): RequestPart {
  if (context === 'querystring') return 'query'
  return context === 'params' || context === 'headers' ? context : 'body'
}

function isInbox(request: FastifyRequest): boolean {
  return /^\/api\/v1\/inbox(?:[/?]|$)/.test(request.routeOptions.url ?? request.url)
}

// Inbox clients branch on `data.code`, so general errors get a code there.
function toInboxError(error: ApiError): ApiError {
  if (error instanceof InvalidInput) {
    const code = error.part === 'query' ? 'INVALID_QUERY' : 'INVALID_REQUEST'
    const [first] = error.issues
    const subject = first?.path || subjects[error.part]
    return badRequest(`${subject} ${first?.message ?? 'is not valid'}`, { code, issues: error.issues })
  }
  if (error.statusCode !== 503 || error.data !== undefined) return error
  return new ApiError(503, error.message, { data: { code: 'CHAT_INBOX_UNAVAILABLE' }, headers: error.headers })
}

const subjects = { body: 'The body', query: 'The query', params: 'The path', headers: 'A header' } as const

/** Returns whether the database was unavailable, so that the request can be retried. */
const isDatabaseUnavailable = (error: unknown): boolean =>
  error instanceof TooBusy || error instanceof RetryTransaction || isUnavailable(error)

const clientErrors: Record<string, readonly [statusCode: number, statusMessage: string]> = {
  HPE_HEADER_OVERFLOW: [431, 'The address and headers are too large'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'Body is larger than 1 MiB'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive'],
}

/** Responds to malformed requests, for which no request object exists, in the format of all errors. */
export function handleClientErrors(clock: Clock) {
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable || hasResponseStarted(socket)) {
      socket.destroy()
      return
    }
    const [statusCode, statusMessage] = clientErrors[error.code ?? ''] ?? [400, 'Not a valid HTTP request']
    const body = JSON.stringify({ statusCode, statusMessage } satisfies ErrorBody)
    const headers = {
      ...securityHeaders,
      [requestIdHeader]: newId(clock.now()),
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      date: clock.now().toUTCString(),
      connection: 'close',
    }
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.end(`HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}\r\n${lines.join('')}\r\n${body}`)
  }
}

// Bytes after a request can also be malformed; a second response head would corrupt the one in progress.
function hasResponseStarted(socket: Socket): boolean {
  const { _httpMessage: message } = socket as Socket & { _httpMessage?: { headersSent: boolean } | null }
  return message?.headersSent === true
}

/**
 * Responds to unknown routes: 404, or 405 with `Allow` if the route exists for other methods; browsers get a page for
 * 404.
 */
export function handleUnknownRoutes(app: App): void {
  const methods = new Set<HTTPMethods>()
  app.addHook('onRoute', (route) => {
    for (const method of [route.method].flat()) methods.add(method)
  })
  app.setNotFoundHandler(async (request, reply) => {
    // Only browsers send OPTIONS, automatically.
    const allowed = [...methods].filter((method) => method !== 'OPTIONS' && hasRoute(app, method, request)).sort()
    if (allowed.length === 0 && isBrowserRequest(request))
      return sendPage(reply, notFoundPage(textsFor(request.headers)), 404)
    if (allowed.length === 0) throw notFound('Route not found')
    throw new ApiError(405, `Use ${allowed.join(' or ')} here`, { headers: { allow: allowed.join(', ') } })
  })
}

function isBrowserRequest({ method, url, headers }: FastifyRequest): boolean {
  return method === 'GET' && !url.startsWith('/api/') && (headers.accept ?? '').includes('text/html')
}

// Ignores wildcard routes (static files, pages of the web app): they match addresses that do not exist.
function hasRoute(app: App, method: HTTPMethods, request: FastifyRequest): boolean {
  const path = request.url.split('?', 1)[0] ?? '/'
  const route = app.findRoute({ method, url: path })
  return route !== null && !('*' in (route.params ?? {}))
}

function notFoundPage(words: PageTexts): Html {
  return page(
    { title: words.nothingHere, words },
    html`<div class="card">
<h1>${words.nothingHere}</h1>
<p class="quiet">${words.nothingHereHelp}</p>
<p><a href="/">${words.home}</a></p>
</div>`,
  )
}
