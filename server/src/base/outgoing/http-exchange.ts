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

/** Where an exchange goes, and by what. */
export interface ConnectionRoute {
  agents: Agents
  filter: AddressFilter
  lookup: LookupFunction
  target: Target
  /** Over a connection of its own. */
  isFresh: boolean
}

export interface OutgoingRequest {
  method: 'POST' | 'GET'
  url: string
  headers: Record<string, string>
  body: string | Buffer | null
  /** Bounds everything: the name, the connection, the request and its answer. Whole numbers from 1. */
  timeoutMs: number
  /** The rest of the answer is not read. */
  maxAnswerBytes: number
  /** Asked once connected, right before the first byte leaves; false keeps all of it back. */
  maySend?: () => boolean
  /**
   * Whether the request may arrive twice. When the other side closes a connection that was kept open just as it is used
   * again, and no answer has begun, nobody can tell whether the request was taken: then it goes out once more, on a
   * connection of its own. Without this it is a `reset`, since the other side may well have acted on it.
   */
  mayRepeat?: boolean
  /** Sends the trace that it is a part of, if there is one, as `traceparent`. */
  tellsTrace?: boolean
}

/**
 * Why there is no answer. `reset` is a connection that ended too early, `answer` what is no HTTP or has too long a head,
 * `withheld` that `maySend` said no. All fit into 20 characters.
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

export interface Answered {
  outcome: 'answered'
  status: number
  headers: IncomingHttpHeaders
  /** Its first `maxAnswerBytes`, as they came: never unpacked. */
  body: Buffer
  isWhole: boolean
}

export interface FailedExchange {
  outcome: 'failed'
  error: OutgoingFailure
  /** The system's own word for it in lower case, `econnrefused`; else the same as `error`. Never an address. */
  code: string
  /** False is certain: no byte of the request has left. */
  hasLeft: boolean
}

/** `wasStale`: a kept connection ended just as it was used again. */
export type Ended = FailedExchange & { wasStale: boolean }

type Head = Pick<OutgoingRequest, 'method' | 'headers'>
type Phase = 'connect' | 'tls' | 'sent' | 'answering'

// For the name, the connection and TLS together.
export const connectTimeoutMs = 5_000
const maxHeadBytes = 16 * 1024
// The client's own to set: they say where a message goes and where it ends.
const ownHeaders =
  /^(?:host|connection|keep-alive|content-length|transfer-encoding|te|trailer|upgrade|expect|accept-encoding|proxy-.*)$/i

/** A request that is under way. The first end counts: what giving up makes of it and its socket is not heard any more. */
export interface OpenRequest<T> {
  request: ClientRequest
  end(result: T): void
  fail(error: unknown): void
  cancel(reason: GuardError['code']): void
  /** Gives up after so long, unless it is told another time, or ends. */
  cancelAfter(ms: number): void
}

interface Steps<T> {
  connectWithinMs: number
  /** Nothing of it has happened yet. */
  begun?(talk: OpenRequest<T>): void
  /** Connected to whom it may talk to: sends what it has to say, unless it gives up. */
  send(talk: OpenRequest<T>): void
  /** The head of the answer has come. */
  hear(response: IncomingMessage, talk: OpenRequest<T>): void
}

/** One request, as far as `hear` takes it; never throws. */
export function sendRequest<T>(way: ConnectionRoute, head: Head, steps: Steps<T>): Promise<T | Ended> {
  const { promise, resolve } = Promise.withResolvers<T | Ended>()
  let phase: Phase = 'connect'
  let timer: NodeJS.Timeout | undefined
  const request = prepare(way, head)
  if (request === null) return Promise.resolve(invalidRequest)
  const end = (result: T | Ended) => {
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
  const talk: OpenRequest<T> = { request, end, fail, cancel, cancelAfter }
  cancelAfter(steps.connectWithinMs)
  steps.begun?.(talk)
  request.on('error', fail)
  request.once('close', () => {
    if (phase !== 'answering') fail(null)
    clearTimeout(timer)
  })
  request.once('response', (response) => {
    phase = 'answering'
    steps.hear(response, talk)
  })
  const connected = ({ remoteAddress }: Socket) => {
    // A kept connection may have been closed at this very moment.
    if (remoteAddress === undefined) return request.destroy()
    if (!isAllowedTarget(remoteAddress, way.target, way.filter)) return cancel('forbidden_address')
    steps.send(talk)
    phase = 'sent'
  }
  // Until its `end` a request holds its head back, so that the time to connect is not the time to send, and nothing of it
  // goes to an address that has not been judged.
  request.once('socket', (socket: Socket) => {
    const { isHttps } = way.target
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
const invalidRequest: Ended = { outcome: 'failed', error: invalid, code: invalid, hasLeft: false, wasStale: false }

/** One request and its answer, of which not more than so many bytes are read; always ends within the timeout. */
export function exchange(way: ConnectionRoute, content: OutgoingRequest): Promise<Answered | Ended> {
  const { timeoutMs, maxAnswerBytes, maySend, body } = content
  const startedMs = performance.now()
  return sendRequest<Answered>(way, content, {
    connectWithinMs: Math.max(1, Math.min(timeoutMs, connectTimeoutMs)),
    send: ({ request, cancel, cancelAfter }) => {
      if (maySend?.() === false) return cancel('withheld')
      cancelAfter(Math.max(1, timeoutMs - (performance.now() - startedMs)))
      request.end(body ?? undefined)
    },
    hear: (response, { request, end, fail }) => {
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

/** Why there is no answer, by how far the request had come. */
function failureAt(phase: Phase, request: ClientRequest, error: unknown): Ended {
  const hasLeft = phase === 'sent' || phase === 'answering'
  const wasStale = phase === 'sent' && request.reusedSocket && isClosing(error)
  return { outcome: 'failed', error: failureOf(error, phase), code: codeOf(error, phase), hasLeft, wasStale }
}

/** A request whose head is held back until its `end` or first `write`; null for headers that cannot be written. */
function prepare(
  { agents, lookup, target, isFresh }: ConnectionRoute,
  { method, headers }: Head,
): ClientRequest | null {
  const { isHttps, host, port, path } = target
  const given = Object.entries(headers).filter(([name]) => !ownHeaders.test(name))
  const options = {
    method,
    hostname: host,
    port,
    path,
    headers: { 'accept-encoding': 'identity', ...Object.fromEntries(given) },
    lookup,
    // The default of a quarter of a second gives up on whoever is on the other side of the world.
    autoSelectFamilyAttemptTimeout: 1_000,
    maxHeaderSize: maxHeadBytes,
    // Not for the environment to switch off.
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

// The code alone: messages of the network stack hold addresses.
function codeOf(error: unknown, phase: Phase): string {
  return errnoOf(error).toLowerCase() || failureOf(error, phase)
}

function errnoOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null
  return typeof code === 'string' && /^\w{1,60}$/.test(code) ? code : ''
}
