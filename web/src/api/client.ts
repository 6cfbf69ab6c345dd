import createClient, { type Middleware } from 'openapi-fetch'
import { ApiError, networkError, parseApiError } from './api-error.ts'
import type { components, paths } from './schema.ts'

export type Schemas = components['schemas']

/** Goes with every change. */
export let csrfToken = ''
let onSignedOut = () => {}

/** Every change carries the session's token; without a session the app goes to the sign-in page. */
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

/** The team's interface, typed by its OpenAPI document. Rejects with a `Failure`. */
export const api = createClient<paths>({ baseUrl: window.location.origin })
api.use(guard)

/** The body of an answer: what is not 2xx has been thrown before. */
export async function unwrap<T>(call: Promise<{ data?: T }>): Promise<T> {
  const { data } = await call
  return data as T
}

/** For what the typed client does not carry: uploads, downloads, streams. */
export async function fetchRaw(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers)
  if (init.method !== undefined && init.method !== 'GET') headers.set('x-parley-csrf', csrfToken)
  const response = await fetch(path, { ...init, headers }).catch(() => {
    throw networkError()
  })
  if (response.ok) return response
  throw await toApiError(response)
}

/** What a refused request is thrown as; whose session has ended goes to the sign-in page. */
export async function toApiError(response: Response): Promise<ApiError> {
  const failure = await parseApiError(response)
  if (failure.status === 401) onSignedOut()
  return failure
}
