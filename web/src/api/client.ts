import createClient, { type Middleware } from 'openapi-fetch'
import { ApiError, networkError, parseApiError } from './api-error.ts'
import type { components, paths } from './schema.ts'

export type Schemas = components['schemas']

/** Sent with every change. */
export let csrfToken = ''
let onSignedOut = () => {}

/** Stores the CSRF token of the session, and what to do when the session ends. */
export function setSessionToken(token: string, signedOut: () => void): void {
  csrfToken = token
  onSignedOut = signedOut
}

const guard: Middleware = {
  onRequest: ({ request }) => {
    if (request.method !== 'GET') request.headers.set('x-parley-csrf', csrfToken)
  },
  onResponse: async ({ response }) => {
    if (response.ok) return undefined
    throw await toApiError(response)
  },
  onError: ({ error }) => (error instanceof ApiError ? error : networkError()),
}

/** Typed client of the team API, generated from its OpenAPI document. Rejects with an `ApiError`. */
export const api = createClient<paths>({ baseUrl: window.location.origin })
api.use(guard)

/** Returns the response body. Responses other than 2xx have already been thrown. */
export async function unwrap<T>(call: Promise<{ data?: T }>): Promise<T> {
  const { data } = await call
  return data as T
}

/** Sends requests that the typed client does not support: uploads, downloads, streams. */
export async function fetchRaw(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers)
  if (init.method !== undefined && init.method !== 'GET') headers.set('x-parley-csrf', csrfToken)
  const response = await fetch(path, { ...init, headers }).catch(() => {
    throw networkError()
  })
  if (response.ok) return response
  throw await toApiError(response)
}

/** Converts a failed response to an error. On 401 the app goes to the sign-in page. */
export async function toApiError(response: Response): Promise<ApiError> {
  const failure = await parseApiError(response)
  if (failure.status === 401) onSignedOut()
  return failure
}
