import createClient, { type Middleware } from 'openapi-fetch'
import { Failure, failureOf, unreachable } from './failure.ts'
import type { components, paths } from './schema.ts'

export type Schemas = components['schemas']

/** Goes with every change. */
export let csrfToken = ''
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
    throw await failed(response)
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
  throw await failed(response)
}

/** What a refused request is thrown as; whose session has ended goes to the sign-in page. */
export async function failed(response: Response): Promise<Failure> {
  const failure = await failureOf(response)
  if (failure.status === 401) onSignedOut()
  return failure
}
