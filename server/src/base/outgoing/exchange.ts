import {
  type ClientRequest,
  type Agent as HttpAgent,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http'
import { type Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { LookupFunction, Socket } from 'node:net'
import type { AddressJudge } from './address-judge.ts'
import { GuardError, mayTalkTo } from './guard.ts'
import type { Target } from './target.ts'

export interface Agents {
  http: HttpAgent
  https: HttpsAgent
}

/** Where an exchange goes, and by what. */
export interface Way {
  agents: Agents
  judge: AddressJudge
  lookup: LookupFunction
  target: Target
  /** Over a connection of its own. */
  isFresh: boolean
}

interface Head {
  method: string
  headers: Record<string, string>
}

interface Content extends Head {
  body: string | Buffer | null
  timeoutMs: number
  maxAnswerBytes: number
  maySend?: () => boolean
}

export type Phase = 'connect' | 'tls' | 'sent' | 'answering'

export type Exchange =
  | { outcome: 'answered'; status: number; headers: IncomingHttpHeaders; body: Buffer; isWhole: boolean }
  | Failed

export interface Failed {
  outcome: 'failed'
  error: Failure
  code: string
  hasLeft: boolean
  /** A kept connection ended just as it was used again. */
  wasStale: boolean
}

type Failure = GuardError['code'] | 'invalid_request' | 'connect' | 'tls' | 'reset' | 'answer'

// For the name, the connection and TLS together.
export const connectTimeoutMs = 5_000
const maxHeadBytes = 16 * 1024
// The client's own to set: they say where a message goes and where it ends.
const ownHeaders =
  /^(?:host|connection|keep-alive|content-length|transfer-encoding|te|trailer|upgrade|expect|accept-encoding|proxy-.*)$/i

/** One request and its answer; never throws, and always ends within the timeout. */
export function exchange(way: Way, content: Content): Promise<Exchange> {
  return new Promise((resolve) => {
    const startedMs = performance.now()
    let phase: Phase = 'connect'
    let timer: NodeJS.Timeout | undefined
    const end = (result: Exchange) => {
      clearTimeout(timer)
      resolve(result)
    }
    const request = prepare(way, content)
    if (request === null) return end(invalidRequest)
    const fail = (error: unknown) => end(failureAt(phase, request, error))
    // The first end counts: what giving up makes of the request and its socket is not heard any more.
    const giveUp = (reason: GuardError['code']) => {
      fail(new GuardError(reason))
      request.destroy()
    }
    const giveUpAt = (ms: number) => {
      clearTimeout(timer)
      timer = setTimeout(giveUp, Math.max(1, ms - (performance.now() - startedMs)), 'timeout')
    }
    giveUpAt(Math.min(content.timeoutMs, connectTimeoutMs))
    request.on('error', fail)
    request.once('close', () => phase === 'answering' || fail(null))
    request.on('response', (response) => {
      phase = 'answering'
      response.on('error', fail)
      readAnswer(request, response, content.maxAnswerBytes, end)
    })
    whenConnected(request, way, {
      securing: () => {
        phase = 'tls'
      },
      forbidden: () => giveUp('forbidden_address'),
      connected: () => {
        if (content.maySend?.() === false) return giveUp('withheld')
        phase = 'sent'
        giveUpAt(content.timeoutMs)
        request.end(content.body ?? undefined)
      },
    })
  })
}

export const invalidRequest: Failed = {
  outcome: 'failed',
  error: 'invalid_request',
  code: 'invalid_request',
  hasLeft: false,
  wasStale: false,
}

/** Why there is no answer, by how far the request had come. */
export function failureAt(phase: Phase, request: ClientRequest, error: unknown): Failed {
  const hasLeft = phase === 'sent' || phase === 'answering'
  const wasStale = phase === 'sent' && request.reusedSocket && isClosing(error)
  return { outcome: 'failed', error: failureOf(error, phase), code: codeOf(error, phase), hasLeft, wasStale }
}

/** A request whose head is held back until its `end` or first `write`; null for headers that cannot be written. */
export function prepare({ agents, lookup, target, isFresh }: Way, { method, headers }: Head): ClientRequest | null {
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

interface Steps {
  securing: () => void
  connected: () => void
  /** The other side is at an address that may not be talked to. */
  forbidden: () => void
}

/**
 * Until its `end` a request holds its head back, so that the time to connect is not the time to send, and nothing of it goes
 * to an address that has not been judged.
 */
export function whenConnected(request: ClientRequest, { target, judge }: Way, steps: Steps): void {
  const { isHttps } = target
  const connected = ({ remoteAddress }: Socket) => {
    // A kept connection may have been closed at this very moment.
    if (remoteAddress === undefined) request.destroy()
    else if (mayTalkTo(remoteAddress, target, judge)) steps.connected()
    else steps.forbidden()
  }
  request.once('socket', (socket: Socket) => {
    if (!socket.connecting && (!isHttps || request.reusedSocket)) return connected(socket)
    if (isHttps) socket.once('connect', steps.securing)
    socket.once(isHttps ? 'secureConnect' : 'connect', () => connected(socket))
  })
}

function readAnswer(
  request: ClientRequest,
  response: IncomingMessage,
  maxBytes: number,
  end: (result: Exchange) => void,
): void {
  const chunks: Buffer[] = []
  let size = 0
  const answer = (isWhole: boolean) => {
    const body = Buffer.concat(chunks).subarray(0, maxBytes)
    end({ outcome: 'answered', status: response.statusCode ?? 0, headers: response.headers, body, isWhole })
  }
  response.on('data', (chunk: Buffer) => {
    if (size > maxBytes) return
    chunks.push(chunk)
    size += chunk.length
    if (size <= maxBytes) return
    answer(false)
    request.destroy()
  })
  response.once('end', () => answer(true))
}

function isClosing(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE'].includes(errnoOf(error))
}

function failureOf(error: unknown, phase: Phase): Failure {
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
