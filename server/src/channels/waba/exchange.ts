import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestOptions,
} from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import { objectOf } from './json.ts'

export interface Call {
  method: 'GET' | 'POST'
  url: string
  accessToken: string
  body?: object
  timeoutMs: number
  /** No byte leaves at or after this. */
  deadline?: Date
}

/** What became of a call. `not_sent` is certain: nothing left. After `lost` the platform may have acted on it. */
export type Exchange =
  | { outcome: 'answered'; status: number; body: string }
  | { outcome: 'not_sent'; code: string }
  | { outcome: 'lost'; code: string }

const maxAnswerBytes = 8 * 1024 * 1024
// Shorter than servers keep an idle socket, so that none is used just as the other side closes it.
const idleSocketMs = 4_000

const agents = {
  http: new HttpAgent({ keepAlive: true, timeout: idleSocketMs, scheduling: 'lifo' }),
  https: new HttpsAgent({ keepAlive: true, timeout: idleSocketMs, scheduling: 'lifo' }),
}

/** One HTTP call without retries or redirects; never throws. */
export function exchange(clock: Clock, call: Call): Promise<Exchange> {
  return new Promise((resolve) => {
    const payload = call.body === undefined ? '' : JSON.stringify(call.body)
    let hasLeft = false
    const fail = (error: unknown) => resolve({ outcome: hasLeft ? 'lost' : 'not_sent', code: codeOf(error) })
    try {
      const request = prepare(call, payload)
      const timer = setTimeout(() => request.destroy(new ExchangeError('timeout')), call.timeoutMs)
      request.once('close', () => clearTimeout(timer))
      request.on('error', fail)
      request.on('response', (response) => {
        collect(request, response).then((body) => {
          resolve({ outcome: 'answered', status: response.statusCode ?? 0, body })
        }, fail)
      })
      whenConnected(request, () => {
        if (call.deadline !== undefined && clock.now() >= call.deadline) {
          request.destroy(new ExchangeError('deadline_passed'))
          return
        }
        hasLeft = true
        request.end(payload)
      })
    } catch (error) {
      fail(error)
    }
  })
}

function prepare(call: Call, payload: string): ClientRequest {
  const isHttps = call.url.startsWith('https:')
  const headers: OutgoingHttpHeaders = { authorization: `Bearer ${call.accessToken}`, accept: 'application/json' }
  if (call.body !== undefined) {
    headers['content-type'] = 'application/json'
    headers['content-length'] = Buffer.byteLength(payload)
  }
  const options: RequestOptions = { method: call.method, agent: isHttps ? agents.https : agents.http, headers }
  return isHttps ? httpsRequest(call.url, options) : httpRequest(call.url, options)
}

async function collect(request: ClientRequest, response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxAnswerBytes) {
      request.destroy()
      throw new ExchangeError('answer_too_large')
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

// Until `end` the request holds its head back, so that the time to connect is not the time to send.
function whenConnected(request: ClientRequest, write: () => void): void {
  const isHttps = request.protocol === 'https:'
  request.once('socket', (socket: Socket) => {
    if (!socket.connecting && (!isHttps || request.reusedSocket)) write()
    else socket.once(isHttps ? 'secureConnect' : 'connect', write)
  })
}

class ExchangeError extends Error {
  readonly code: string

  constructor(code: string) {
    super(code)
    this.code = code
  }
}

// The code alone: messages of the network stack hold addresses.
function codeOf(error: unknown): string {
  const { code } = objectOf(error)
  return typeof code === 'string' && /^\w{1,60}$/.test(code) ? code.toLowerCase() : 'network'
}
