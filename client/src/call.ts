import {
  ApiError,
  createError,
  NetworkError,
  ParleyError,
  RateLimitedError,
  TimeoutError,
  UnavailableError,
} from './errors.ts'
import { type Pause, pause, timeoutSignal } from './pause.ts'

export interface ParleyOptions {
  /** Base URL, such as `https://parley.example.com`. Over plain `http`, others can read the key. */
  baseUrl: string
  /** `plk_…`. Keep it in the environment, never in a page, a prompt or a log. */
  apiKey: string
  /** Milliseconds per attempt. Default: 30 s; 90 s for a send, 15 s more than the wait for a long poll. */
  timeoutMs?: number
  /** Retries per call. Default: 3. */
  maxRetries?: number
  /** Longest pause before a retry; if the service requests more, the error is thrown. Default: one minute. */
  maxPauseMs?: number
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch
  /** Replaces timers, for tests. */
  pause?: Pause
}

export interface CallOptions {
  /** Aborts the call, including pauses; its reason is thrown. */
  signal?: AbortSignal | undefined
  timeoutMs?: number | undefined
  maxRetries?: number | undefined
  maxPauseMs?: number | undefined
}

/** Options of loops that run until their signal aborts, however long the service is unavailable. */
export const retryForever = { maxRetries: Number.POSITIVE_INFINITY, maxPauseMs: Number.POSITIVE_INFINITY } as const

export interface Call {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** Path below the base URL, with encoded parts. */
  path: string
  query?: object | undefined
  body?: unknown
  idempotencyKey?: string | undefined
  /** Whether a repetition is harmless; only then is the call retried after an unknown result. */
  isRepeatable: boolean
  /** Whether the response is a file instead of JSON. */
  isFile?: boolean
  timeoutMs?: number
}

/** Sends a call and returns the response body, typed by the contract. */
export type Caller = <Answer>(call: Call, options?: CallOptions) => Promise<Answer>

const defaults = { timeoutMs: 30_000, maxRetries: 3, maxPauseMs: 60_000, pause }
const initialPauseMs = 500
const maxRetryPauseMs = 30_000

/** Creates the function that calls the service. Keeps the options in its closure, so that no object exposes the key. */
export function createCaller(parleyOptions: ParleyOptions): Caller {
  const settings = { ...defaults, ...defined(parleyOptions) }
  // An error of fetch would contain the invalid header value.
  if (!/^[\x21-\x7e]+$/.test(parleyOptions.apiKey))
    throw new ParleyError('apiKey is invalid: check it for spaces and line breaks')
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
        // Jitter spreads out calls that were rejected at the same time.
        await settings.pause(pauseMs + jitterMs(pauseMs), options.signal)
      }
    }
  }
}

/** Returns the minimum milliseconds before the next attempt; null for no retry. */
export function pauseBeforeRetry(error: ParleyError, isRepeatable: boolean, retries: number): number | null {
  const isRateLimited = error instanceof RateLimitedError
  const isUncertain = error instanceof UnavailableError || error instanceof NetworkError
  if (!isRateLimited && !(isUncertain && isRepeatable)) return null
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
    if (signal.aborted) throw new TimeoutError(`No response within ${limits.timeoutMs} ms`, { cause: error })
    throw new NetworkError('The service is unreachable, or its response was incomplete', { cause: error })
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
  // Does not follow redirects: the key must not go to another address, and a POST must not become a GET.
  const init: RequestInit = { method, headers, redirect: 'manual' }
  return body === undefined ? init : { ...init, body: isFile ? body : JSON.stringify(body) }
}

function readAnswer(response: Response, text: string): unknown {
  const { status } = response
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400))
    throw new ParleyError('The service responded with a redirect: set baseUrl to the target address')
  const body = parse(text)
  if (!response.ok) throw createError(response, body, Date.now())
  if (body === undefined) throw new ParleyError('The response is not JSON: check that baseUrl is the address of Parley')
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

export const pathOf = (...parts: string[]): string => parts.map(encodeURIComponent).join('/')
