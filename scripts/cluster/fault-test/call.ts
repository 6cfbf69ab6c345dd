import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'

export interface Answer {
  /** HTTP status, or the reason why the answer is invalid for any request. */
  status: number | 'cut' | 'no answer' | '503 without Retry-After'
  body: string
  isReplay: boolean
}

export interface RequestOptions {
  method?: 'GET' | 'POST' | 'PATCH'
  token?: string
  headers?: Record<string, string>
  body?: string | object
}

const timeoutMs = 30_000
const agent = new Agent({ keepAlive: true })

/** Sends one request without retries. Never rejects. */
export function call(url: string, { method = 'GET', token, headers, body }: RequestOptions = {}): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Answer>()
  const all = {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...headers,
  }
  const bytes = typeof body === 'object' ? JSON.stringify(body) : body
  const sent = request(url, { method, headers: all, agent })
  const timer = setTimeout(() => {
    resolve({ status: 'no answer', body: '', isReplay: false })
    sent.destroy()
  }, timeoutMs)
  const cut = () => {
    clearTimeout(timer)
    resolve({ status: 'cut', body: '', isReplay: false })
  }
  sent.on('error', cut)
  sent.once('response', (answer) => {
    const { statusCode = 0, headers: told } = answer
    const isBare = statusCode === 503 && told['retry-after'] === undefined
    const status = isBare ? '503 without Retry-After' : statusCode
    const isReplay = told['idempotent-replayed'] === 'true'
    text(answer).then((read) => {
      clearTimeout(timer)
      resolve({ status, body: read, isReplay })
    }, cut)
  })
  sent.end(bytes)
  return promise
}

/** Sends a request that must succeed, and returns its parsed body. Throws if it fails. */
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape; the fault test fails where one is wrong
export async function mustCall(url: string, options: RequestOptions = {}): Promise<any> {
  const { status, body } = await call(url, options)
  if (typeof status === 'string' || status >= 300)
    throw new Error(`${options.method ?? 'GET'} ${url}: ${status} ${body}`)
  return JSON.parse(body)
}
