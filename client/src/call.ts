import {
  ApiError,
  errorOf,
  NetworkError,
  ParleyError,
  RateLimitedError,
  TimeoutError,
  UnavailableError,
} from './errors.ts'
import { type Pause, pause, timeoutSignal } from './pause.ts'

export interface ParleyOptions {
  /** Where the service is, such as `https://parley.example.com`; by `http` others on the way can read the key. */
  baseUrl: string
  /** `plk_…`. It belongs into the environment, never into a page, a prompt or a log. */
  apiKey: string
  /** How long one attempt may take. Default: 30 seconds; a send has 90, a wait what it waits for and 15. */
  timeoutMs?: number
  /** How often one call is tried again. Default: 3. */
  maxRetries?: number
  /** A longer pause than this is not waited for: the error says how long it would be. Default: a minute. */
  maxPauseMs?: number
  /** In place of the global one. */
  fetch?: typeof fetch
  /** In place of timers, for tests. */
  pause?: Pause
}

export interface CallOptions {
  /** Ends the call, its pauses included; the reason of the signal is what is thrown. */
  signal?: AbortSignal | undefined
  timeoutMs?: number | undefined
  maxRetries?: number | undefined
  maxPauseMs?: number | undefined
}

/** What goes on until its signal ends it, however long the service is away. */
export const retryForever = { maxRetries: Number.POSITIVE_INFINITY, maxPauseMs: Number.POSITIVE_INFINITY } as const

export interface Call {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** Below the base, each part of it encoded. */
  path: string
  query?: object | undefined
  body?: unknown
  idempotencyKey?: string | undefined
  /** Whether it does no harm twice: only then it is tried again when nobody knows what became of it. */
  isRepeatable: boolean
  /** Whether it answers bytes in place of JSON. */
  isFile?: boolean
  timeoutMs?: number
}

/** Makes a call and answers the body, which is what the contract says it is. */
export type Caller = <Answer>(call: Call, options?: CallOptions) => Promise<Answer>

const defaults = { timeoutMs: 30_000, maxRetries: 3, maxPauseMs: 60_000, pause }
const initialPauseMs = 500
const maxRetryPauseMs = 30_000

/** Calls the service as these options say. They are kept here alone: no object of the package shows the key. */
export function createCaller(parleyOptions: ParleyOptions): Caller {
  const settings = { ...defaults, ...defined(parleyOptions) }
  // An error of fetch would show what cannot be a header.
  if (!/^[\x21-\x7e]+$/.test(parleyOptions.apiKey))
    throw new ParleyError('apiKey is no key: look for spaces and line ends in it')
  const base = new URL(parleyOptions.baseUrl.endsWith('/') ? parleyOptions.baseUrl : `${parleyOptions.baseUrl}/`)
  return async <Answer>(call: Call, options: CallOptions = {}): Promise<Answer> => {
    const limits = { ...settings, ...(call.timeoutMs && { timeoutMs: call.timeoutMs }), ...defined(options) }
    for (let retries = 0; ; retries++) {
      try {
        return (await attempt(settings, base, call, { signal: options.signal, timeoutMs: limits.timeoutMs })) as Answer
      } catch (error) {
        if (!(error instanceof ParleyError)) throw error
        if (call.idempotencyKey !== undefined) error.idempotencyKey = call.idempotencyKey
        const pauseMs = retries < limits.maxRetries ? pauseBeforeRetry(error, call.isRepeatable, retries) : null
        if (pauseMs === null || pauseMs > limits.maxPauseMs) throw error
        // All that were refused at once should not come back at once.
        await settings.pause(pauseMs + jitterMs(pauseMs), options.signal)
      }
    }
  }
}

/** How long to wait before the next attempt at least; null when there is to be none. */
export function pauseBeforeRetry(error: ParleyError, isRepeatable: boolean, retries: number): number | null {
  const isRefused = error instanceof RateLimitedError
  const isUncertain = error instanceof UnavailableError || error instanceof NetworkError
  if (!isRefused && !(isUncertain && isRepeatable)) return null
  const retryAfterMs = error instanceof ApiError ? error.retryAfterMs : undefined
  return Math.max(initialPauseMs, retryAfterMs ?? Math.min(maxRetryPauseMs, initialPauseMs * 2 ** retries))
}

const jitterMs = (pauseMs: number): number => Math.min(pauseMs, maxRetryPauseMs) * 0.5 * Math.random()

type Settings = typeof defaults & ParleyOptions

async function attempt(
  settings: Settings,
  base: URL,
  call: Call,
  limits: { signal: AbortSignal | undefined; timeoutMs: number },
): Promise<unknown> {
  const { signal, end } = timeoutSignal(limits.signal, limits.timeoutMs)
  try {
    limits.signal?.throwIfAborted()
    const request = settings.fetch ?? fetch
    const response = await request(urlOf(base, call), { ...initOf(call, settings.apiKey), signal })
    if (call.isFile && response.ok) return await response.blob()
    return readAnswer(response, await response.text())
  } catch (error) {
    if (limits.signal?.aborted) throw limits.signal.reason
    if (error instanceof ParleyError) throw error
    if (signal.aborted) throw new TimeoutError(`No answer within ${limits.timeoutMs} ms`, { cause: error })
    throw new NetworkError('The service was not reached, or did not answer to the end', { cause: error })
  } finally {
    end()
  }
}

function urlOf(base: URL, { path, query = {} }: Call): URL {
  const url = new URL(path.replace(/^\//, ''), base)
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) url.searchParams.set(name, String(value))
  }
  return url
}

function initOf({ method, body, idempotencyKey }: Call, apiKey: string): RequestInit {
  const headers: Record<string, string> = { accept: 'application/json', authorization: `Bearer ${apiKey}` }
  const isFile = body instanceof Blob
  if (isFile) headers['content-type'] = body.type || 'application/octet-stream'
  else if (body !== undefined) headers['content-type'] = 'application/json'
  if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey
  // Another address than the one that was given gets neither the key nor a POST that became a GET.
  const init: RequestInit = { method, headers, redirect: 'manual' }
  return body === undefined ? init : { ...init, body: isFile ? body : JSON.stringify(body) }
}

function readAnswer(response: Response, text: string): unknown {
  const { status } = response
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400))
    throw new ParleyError('The service answers with a redirect: give the address that it leads to as baseUrl')
  const body = parse(text)
  if (!response.ok) throw errorOf(response, body, Date.now())
  if (body === undefined) throw new ParleyError('The answer is no JSON: is baseUrl the address of Parley?')
  return body
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const defined = <Options extends object>(options: Options): Options =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Options

/** A path of parts that may hold anything. */
export const pathOf = (...parts: string[]): string => parts.map(encodeURIComponent).join('/')
