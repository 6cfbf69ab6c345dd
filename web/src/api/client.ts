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

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'
type PathWith<M extends Method> = { [P in keyof paths]: paths[P] extends Record<M, unknown> ? P : never }[keyof paths]
type Operation<P, M> = P extends keyof paths ? (M extends keyof paths[P] ? paths[P][M] : never) : never

type Nullable<T> = { [K in keyof T]: T[K] | null }
type PathOf<O> = O extends { parameters: { path: infer Path } } ? Path : unknown
type QueryOf<O> = O extends { parameters: { query: infer Query } }
  ? { query: Nullable<Query> }
  : O extends { parameters: { query?: infer Query } }
    ? { query?: Nullable<NonNullable<Query>> }
    : unknown
type JsonOf<T> = T extends { content: { 'application/json': infer Body } } ? Body : never
type BodyOf<O> = O extends { requestBody: infer Body } ? { body: JsonOf<Body> } : unknown

/** The parameters of the path by name, beside the query, of which null leaves a parameter out, and the body. */
type Input<O> = PathOf<O> & QueryOf<O> & BodyOf<O> & Pick<RequestInit, 'headers' | 'signal' | 'keepalive'>
type Arguments<O> = Partial<Input<O>> extends Input<O> ? [input?: Input<O>] : [input: Input<O>]
type Output<O> = O extends { responses: infer All } ? JsonOf<All[keyof All & (200 | 201 | 202)]> : never

/** Body of the response of a GET operation. */
export type ResponseOf<P extends PathWith<'get'>> = Output<Operation<P, 'get'>>
/** Body of the request of an operation. */
export type RequestOf<P extends PathWith<M>, M extends Method> =
  Operation<P, M> extends { requestBody: infer Body } ? JsonOf<Body> : never

const client = createClient<paths>({ baseUrl: window.location.origin })
client.use(guard)

function callerOf<M extends Method>(method: M) {
  return async <P extends PathWith<M>>(path: P, ...[input]: Arguments<Operation<P, M>>) => {
    const { query, body, headers, signal, keepalive, ...names } = (input ?? {}) as Record<string, unknown>
    const { data } = await client.request(
      method,
      path as never,
      {
        params: { path: names, query },
        ...{ body, headers, signal, keepalive },
      } as never,
    )
    return data as Output<Operation<P, M>>
  }
}

/**
 * Calls operations of the team API, typed by its OpenAPI document. Resolves to the body of the response; rejects with an
 * `ApiError`.
 */
export const api = {
  GET: callerOf('get'),
  POST: callerOf('post'),
  PUT: callerOf('put'),
  PATCH: callerOf('patch'),
  DELETE: callerOf('delete'),
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
