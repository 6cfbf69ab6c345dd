import createClient, { type Middleware } from 'openapi-fetch'
import { Failure, failureOf, unreachable } from './failure.ts'
import type { components, paths } from './schema.ts'

export type Schemas = components['schemas']

let csrfToken = ''
let onSignedOut = () => {}

/** Every change carries the session's token; without a session the app goes to the sign-in page. */
export function useSession(token: string, signedOut: () => void): void {
  csrfToken = token
  onSignedOut = signedOut
}

const guard: Middleware = {
  onRequest: ({ request }) => {
    if (request.method !== 'GET') request.headers.set('x-parley-csrf', csrfToken)
  },
  onResponse: async ({ response }) => {
    if (response.ok) return undefined
    const failure = await failureOf(response)
    if (failure.status === 401) onSignedOut()
    throw failure
  },
  onError: ({ error }) => (error instanceof Failure ? error : unreachable()),
}

/** The team's interface, typed by its OpenAPI document. Rejects with a `Failure`. */
export const api = createClient<paths>({ baseUrl: window.location.origin })
api.use(guard)

/** The body of an answer: what is not 2xx has been thrown before. */
export async function body<T>(call: Promise<{ data?: T }>): Promise<T> {
  const { data } = await call
  return data as T
}

/** For what the typed client does not carry: uploads, downloads, streams. */
export async function rawCall(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers)
  if (init.method !== undefined && init.method !== 'GET') headers.set('x-parley-csrf', csrfToken)
  const response = await fetch(path, { ...init, headers }).catch(() => {
    throw unreachable()
  })
  if (response.ok) return response
  const failure = await failureOf(response)
  if (failure.status === 401) onSignedOut()
  throw failure
}

interface FileOptions {
  /** How much has gone, from 0 to 1. */
  sent(share: number): void
  signal: AbortSignal
}

/** Sends a file as the body and says how far it is, which `fetch` does not. Rejects with a `Failure`. */
export function sendFile(path: string, file: Blob, { sent, signal }: FileOptions): Promise<unknown> {
  const request = new XMLHttpRequest()
  const stop = () => request.abort()
  const answer = new Promise<unknown>((resolve, reject) => {
    request.upload.onprogress = ({ loaded, total }) => sent(total === 0 ? 0 : loaded / total)
    request.onerror = () => reject(unreachable())
    request.onabort = () => reject(signal.reason)
    request.onload = () => settle(request).then(resolve, reject)
    request.open('POST', path)
    request.setRequestHeader('content-type', 'application/octet-stream')
    request.setRequestHeader('x-parley-csrf', csrfToken)
    request.send(file)
  })
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop)
  return answer.finally(() => signal.removeEventListener('abort', stop))
}

async function settle({ status, responseText, statusText }: XMLHttpRequest): Promise<unknown> {
  const response = new Response(status === 204 ? null : responseText, { status, statusText })
  if (response.ok) return response.json()
  const failure = await failureOf(response)
  if (failure.status === 401) onSignedOut()
  throw failure
}
