import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { isForAgents, problemOf, problemType } from '../../agents/http/problem.ts'
import { isAway, isOutOfDisk, NotYet } from '../../base/db.ts'
import { ApiError, badRequest, InvalidInput, invalid, type RequestPart, unavailable } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { TooBusy } from '../../base/shares/shares.ts'
import { invalidInput } from '../../base/validation.ts'

export interface ErrorBody {
  statusCode: number
  statusMessage: string
  data?: Record<string, unknown>
}

// Said, since a file that fails before its first byte has announced a type of its own.
const json = 'application/json; charset=utf-8'

/** The one place where a failure becomes an answer: `{ statusCode, statusMessage, data? }` on every face. */
export function createErrorReply(log: Log) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const fields = { requestId: request.id, method: request.method, route: routeOf(request) }
    const known = knownError(error, request)
    if (known === null) {
      log.error('request failed', fields, error)
      return answer(new ApiError(500, 'Internal error', { data: { requestId: request.id } }), request, reply)
    }
    if (known.statusCode === 503 && known !== error) log.warn(reasonOf(error), fields, error)
    return answer(known, request, reply)
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof TooBusy) return 'no database connection free for the workspace; request refused'
  if (isOutOfDisk(error)) return 'database out of disk space; writes refused'
  return 'database unavailable; requests refused'
}

function answer(error: ApiError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.code(error.statusCode).headers(error.headers)
  if (isForAgents(request.url)) return reply.type(problemType).send(problemOf(error))
  return reply.type(json).send(bodyOf(isInbox(request) ? wordForInbox(error) : error))
}

export function bodyOf(error: ApiError): ErrorBody {
  const { statusCode, message, data } = error
  return data === undefined ? { statusCode, statusMessage: message } : { statusCode, statusMessage: message, data }
}

/** The route's pattern for logs; nothing for an unknown route, whose address is the caller's text. */
export function routeOf(request: FastifyRequest): string | undefined {
  return request.is404 ? undefined : request.routeOptions.url
}

/** The failure as the caller may see it, or null when it is a fault of ours. */
function knownError(error: unknown, request: FastifyRequest): ApiError | null {
  if (error instanceof ApiError) return error
  if (!(error instanceof Error)) return null
  // A caller that hangs up in the middle of a body is an ECONNRESET as well; the parser marks that one with a status.
  if (databaseIsAway(error) && !('statusCode' in error))
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
      return invalid('', 'is not as long as Content-Length says')
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

// Callers of the inbox branch on `data.code`, so what is general elsewhere has a code there.
function wordForInbox(error: ApiError): ApiError {
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

/** Whether the database could not be asked, as opposed to having refused: the request may be tried again. */
const databaseIsAway = (error: unknown): boolean => error instanceof TooBusy || error instanceof NotYet || isAway(error)
