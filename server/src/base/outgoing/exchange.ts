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

interface Content {
  method: string
  headers: Record<string, string>
  body: string | Buffer | null
  timeoutMs: number
  maxAnswerBytes: number
  maySend?: () => boolean
}

type Phase = 'connect' | 'tls' | 'sent' | 'answering'

export type Exchange =
  | { outcome: 'answered'; status: number; headers: IncomingHttpHeaders; body: Buffer; isWhole: boolean }
  | { outcome: 'failed'; error: Failure; code: string; hasLeft: boolean; wasStale: boolean }

type Failure = GuardError['code'] | 'invalid_request' | 'connect' | 'tls' | 'reset' | 'answer'

// For the name, the connection and TLS together.
const connectTimeoutMs = 5_000
const maxHeadBytes = 16 * 1024
// The client's own to set: they say where a message goes and where it ends.
const ownHeaders =
  /^(?:host|connection|keep-alive|content-length|transfer-encoding|te|trailer|upgrade|expect|accept-encoding|proxy-.*)$/i

/** One request and its answer; never throws, and always ends within the timeout. */
export function exchange(way: Way, content: Content): Promise<Exchange> {
  return new Promise((resolve) => {
    let phase: Phase = 'connect'
    let timer: NodeJS.Timeout | undefined
    const end = (result: Exchange) => {
      clearTimeout(timer)
      resolve(result)
    }
    const fail = (request: ClientRequest | null, error: unknown) => {
      const hasLeft = phase === 'sent' || phase === 'answering'
      const wasStale = phase === 'sent' && request?.reusedSocket === true && isClosing(error)
      end({ outcome: 'failed', error: failureOf(error, phase), code: codeOf(error, phase), hasLeft, wasStale })
    }
    let request: ClientRequest
    try {
      request = prepare(way, content)
    } catch {
      const error = 'invalid_request'
      return end({ outcome: 'failed', error, code: error, hasLeft: false, wasStale: false })
    }
    const endAfter = (ms: number) => {
      clearTimeout(timer)
      timer = setTimeout(() => request.destroy(new GuardError('timeout')), ms)
    }
    const startedMs = performance.now()
    endAfter(Math.min(content.timeoutMs, connectTimeoutMs))
    request.on('error', (error) => fail(request, error))
    request.once('close', () => fail(request, null))
    request.on('response', (response) => {
      phase = 'answering'
      readAnswer(request, response, content.maxAnswerBytes, end)
    })
    request.once('socket', (socket: Socket) => {
      const send = () => {
        const isGood = mayTalkTo(socket.remoteAddress, way.target, way.judge)
        if (!isGood) return request.destroy(new GuardError('forbidden_address'))
        if (content.maySend?.() === false) return request.destroy(new GuardError('withheld'))
        phase = 'sent'
        endAfter(content.timeoutMs - (performance.now() - startedMs))
        request.end(content.body ?? undefined)
      }
      if (!socket.connecting && (!way.target.isHttps || request.reusedSocket)) return send()
      socket.once('connect', () => {
        phase = 'tls'
      })
      socket.once(way.target.isHttps ? 'secureConnect' : 'connect', send)
    })
  })
}

// Until `end` a request holds its head back, so that the time to connect is not the time to send.
function prepare({ agents, lookup, target, isFresh }: Way, { method, headers }: Content): ClientRequest {
  const { isHttps, host, port, path } = target
  const own = Object.entries(headers).filter(([name]) => !ownHeaders.test(name))
  const options = {
    method,
    hostname: host,
    port,
    path,
    headers: { 'accept-encoding': 'identity', ...Object.fromEntries(own) },
    lookup,
    maxHeaderSize: maxHeadBytes,
    rejectUnauthorized: true,
  }
  if (isFresh) return isHttps ? httpsRequest({ ...options, agent: false }) : httpRequest({ ...options, agent: false })
  return isHttps ? httpsRequest({ ...options, agent: agents.https }) : httpRequest({ ...options, agent: agents.http })
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
  response.once('end', () => answer(size <= maxBytes))
  // It comes before the end when the answer is cut.
  response.on('error', (error) => request.destroy(error))
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
