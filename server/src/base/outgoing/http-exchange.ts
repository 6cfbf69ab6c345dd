import {
  type ClientRequest,
  type Agent as HttpAgent,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http'
import { type Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { LookupFunction, Socket } from 'node:net'
import { type AddressFilter, GuardError, isAllowedTarget, type Target } from './guard.ts'

export interface Agents {
  http: HttpAgent
  https: HttpsAgent
}

/** Route of an exchange. */
export interface ConnectionRoute {
  agents: Agents
  filter: AddressFilter
  lookup: LookupFunction
  target: Target
  /** Uses a new connection instead of a pooled one. */
  isFresh: boolean
}

export interface OutgoingRequest {
  method: 'POST' | 'GET' | 'DELETE'
  url: string
  headers: Record<string, string>
  body: string | Buffer | null
  /** Covers DNS, connection, request and response. A whole number from 1. */
  timeoutMs: number
  /** Maximum number of response bytes read; the rest is dropped. */
  maxAnswerBytes: number
  /** Called after connecting, before the first byte is sent; false sends nothing. */
  shouldSend?: () => boolean
  /**
   * Whether the request may arrive twice. If the server closes a pooled connection just as it is reused, before any
   * response, it is unknown whether it received the request: then the request is repeated once on a fresh connection.
   * Otherwise the failure is `reset`, because the server may have processed it.
   */
  canRepeat?: boolean
  /** Sends the current trace, if any, as `traceparent`. */
  propagatesTrace?: boolean
}

/**
 * Why there is no response. `reset`: the connection ended too early. `answer`: not HTTP, or the head is too large.
 * `withheld`: the caller refused to send. At most 20 characters.
 */
export type OutgoingFailure =
  | 'invalid_address'
  | 'forbidden_address'
  | 'invalid_request'
  | 'dns'
  | 'connect'
  | 'tls'
  | 'withheld'
  | 'timeout'
  | 'reset'
  | 'answer'

export interface HttpAnswer {
  outcome: 'answered'
  status: number
  headers: IncomingHttpHeaders
  /** The first `maxAnswerBytes` of the body as received, never decompressed. */
  body: Buffer
  isWhole: boolean
}

export interface FailedExchange {
  outcome: 'failed'
  error: OutgoingFailure
  /** The system's error code in lower case, such as `econnrefused`; otherwise equal to `error`. Never an address. */
  code: string
  /** False guarantees that no byte of the request was sent. */
  wasSent: boolean
}

/** `wasStale`: a pooled connection ended just as it was reused. */
export type ExchangeFailure = FailedExchange & { wasStale: boolean }

type Head = Pick<OutgoingRequest, 'method' | 'headers'>
type Phase = 'connect' | 'tls' | 'sent' | 'answering'

// Covers DNS, connection and TLS.
export const connectTimeoutMs = 5_000
const maxHeadBytes = 16 * 1024
// Set by the client itself: they determine routing and framing.
const ownHeaders =
  /^(?:host|connection|keep-alive|content-length|transfer-encoding|te|trailer|upgrade|expect|accept-encoding|proxy-.*)$/i

/** A request in progress. Only the first result counts; errors caused by cancelling are ignored. */
export interface OpenRequest<T> {
  request: ClientRequest
  end(result: T): void
  fail(error: unknown): void
  cancel(reason: GuardError['code']): void
  /** Cancels after this time, unless called again or ended before. */
  cancelAfter(ms: number): void
}

interface RequestHandlers<T> {
  connectWithinMs: number
  /** Called before anything is sent. */
  onCreated?(openRequest: OpenRequest<T>): void
  /** Called when connected to an allowed address: sends the request or cancels. */
  onConnected(openRequest: OpenRequest<T>): void
  /** Called when the response head has arrived. */
  onResponse(response: IncomingMessage, openRequest: OpenRequest<T>): void
}

/** Performs one request until a handler ends it; never throws. */
export function sendRequest<T>(
  route: ConnectionRoute,
  head: Head,
  handlers: RequestHandlers<T>,
): Promise<T | ExchangeFailure> {
  const { promise, resolve } = Promise.withResolvers<T | ExchangeFailure>()
  let phase: Phase = 'connect'
  let timer: NodeJS.Timeout | undefined
  const request = prepare(route, head)
  if (request === null) return Promise.resolve(invalidRequest)
  const end = (result: T | ExchangeFailure) => {
    clearTimeout(timer)
    resolve(result)
  }
  const fail = (error: unknown) => end(failureAt(phase, request, error))
  const cancel = (reason: GuardError['code']) => {
    fail(new GuardError(reason))
    request.destroy()
  }
  const cancelAfter = (ms: number) => {
    clearTimeout(timer)
    timer = setTimeout(cancel, ms, 'timeout')
  }
  const openRequest: OpenRequest<T> = { request, end, fail, cancel, cancelAfter }
  cancelAfter(handlers.connectWithinMs)
  handlers.onCreated?.(openRequest)
  request.on('error', fail)
  request.once('close', () => {
    if (phase !== 'answering') fail(null)
    clearTimeout(timer)
  })
  request.once('response', (response) => {
    phase = 'answering'
    handlers.onResponse(response, openRequest)
  })
  const connected = ({ remoteAddress }: Socket) => {
    // A pooled connection may have been closed at this moment.
    if (remoteAddress === undefined) return request.destroy()
    if (!isAllowedTarget(remoteAddress, route.target, route.filter)) return cancel('forbidden_address')
    handlers.onConnected(openRequest)
    phase = 'sent'
  }
  // Until its `end`, a request holds its head back, so connecting has its own timeout, and nothing is sent to an
  // address that has not been checked.
  request.once('socket', (socket: Socket) => {
    const { isHttps } = route.target
    if (!socket.connecting && (!isHttps || request.reusedSocket)) return connected(socket)
    if (isHttps) {
      socket.once('connect', () => {
        phase = 'tls'
      })
    }
    socket.once(isHttps ? 'secureConnect' : 'connect', () => connected(socket))
  })
  return promise
}

const invalid = 'invalid_request'
const invalidRequest: ExchangeFailure = {
  outcome: 'failed',
  error: invalid,
  code: invalid,
  wasSent: false,
  wasStale: false,
}

/** Performs one request and reads at most `maxAnswerBytes` of the response; always ends within the timeout. */
export function exchange(route: ConnectionRoute, content: OutgoingRequest): Promise<HttpAnswer | ExchangeFailure> {
  const { timeoutMs, maxAnswerBytes, shouldSend, body } = content
  const startedMs = performance.now()
  return sendRequest<HttpAnswer>(route, content, {
    connectWithinMs: Math.max(1, Math.min(timeoutMs, connectTimeoutMs)),
    onConnected: ({ request, cancel, cancelAfter }) => {
      if (shouldSend?.() === false) return cancel('withheld')
      cancelAfter(Math.max(1, timeoutMs - (performance.now() - startedMs)))
      request.end(body ?? undefined)
    },
    onResponse: (response, { request, end, fail }) => {
      const chunks: Buffer[] = []
      let size = 0
      const answer = (isWhole: boolean) => {
        const body = Buffer.concat(chunks).subarray(0, maxAnswerBytes)
        end({ outcome: 'answered', status: response.statusCode ?? 0, headers: response.headers, body, isWhole })
      }
      response.on('error', fail)
      response.on('data', (chunk: Buffer) => {
        if (size > maxAnswerBytes) return
        chunks.push(chunk)
        size += chunk.length
        if (size <= maxAnswerBytes) return
        answer(false)
        request.destroy()
      })
      response.once('end', () => answer(true))
    },
  })
}

/** Describes the failure, by the phase that the request had reached. */
function failureAt(phase: Phase, request: ClientRequest, error: unknown): ExchangeFailure {
  const wasSent = phase === 'sent' || phase === 'answering'
  const wasStale = phase === 'sent' && request.reusedSocket && isClosing(error)
  return { outcome: 'failed', error: failureOf(error, phase), code: codeOf(error, phase), wasSent, wasStale }
}

/** Creates a request whose head is held back until its `end` or first `write`; null if headers are invalid. */
function prepare(
  { agents, lookup, target, isFresh }: ConnectionRoute,
  { method, headers }: Head,
): ClientRequest | null {
  const { isHttps, host, port, path } = target
  const allowedHeaders = Object.entries(headers).filter(([name]) => !ownHeaders.test(name))
  const options = {
    method,
    hostname: host,
    port,
    path,
    headers: { 'accept-encoding': 'identity', ...Object.fromEntries(allowedHeaders) },
    lookup,
    // The default of 250 ms is too short for servers on other continents.
    autoSelectFamilyAttemptTimeout: 1_000,
    maxHeaderSize: maxHeadBytes,
    // Explicit, so that the environment can't disable it.
    rejectUnauthorized: true,
  }
  try {
    return isHttps
      ? httpsRequest({ ...options, agent: isFresh ? false : agents.https })
      : httpRequest({ ...options, agent: isFresh ? false : agents.http })
  } catch {
    return null
  }
}

function isClosing(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE'].includes(errnoOf(error))
}

function failureOf(error: unknown, phase: Phase): OutgoingFailure {
  if (error instanceof GuardError) return error.code
  if (phase === 'connect' || phase === 'tls') return phase
  return errnoOf(error).startsWith('HPE_') ? 'answer' : 'reset'
}

// Only the code, because messages of the network stack contain addresses.
function codeOf(error: unknown, phase: Phase): string {
  return errnoOf(error).toLowerCase() || failureOf(error, phase)
}

function errnoOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null
  return typeof code === 'string' && /^\w{1,60}$/.test(code) ? code : ''
}
