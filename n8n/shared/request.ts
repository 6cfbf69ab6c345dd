import {
  type IDataObject,
  type IExecuteFunctions,
  type IHookFunctions,
  type IHttpRequestOptions,
  type ILoadOptionsFunctions,
  type ITriggerFunctions,
  type JsonObject,
  NodeApiError,
  sleep,
} from 'n8n-workflow'
import { type ApiError, createError } from '../../client/src/errors.ts'

export type Context = IExecuteFunctions | IHookFunctions | ILoadOptionsFunctions | ITriggerFunctions

export interface RequestOptions {
  method: IHttpRequestOptions['method']
  /** Path after the base URL. */
  path: string
  query?: IDataObject
  body?: IDataObject
  /** Raw bytes of a file, instead of `body`. */
  bytes?: Uint8Array
  timeoutMs?: number
  itemIndex?: number
  signal?: AbortSignal
}

export type CredentialName = 'parleyApi' | 'parleyTeamApi'

// A send can wait for the platform.
const defaultTimeoutMs = 100_000
const maxPauseMs = 60_000
const maxRetries = 3

/** Sends a request; throws errors that n8n displays. Retries 429 responses after the requested pause. */
export async function sendRequest<Answer>(
  context: Context,
  credential: CredentialName,
  call: RequestOptions,
): Promise<Answer> {
  for (let retries = 0; ; retries++) {
    const { status, headers, body } = await fetchOnce(context, credential, call)
    if (status >= 200 && status < 300) return body as Answer
    const refusal = createError({ status, headers: new Headers(headers) }, body, Date.now())
    const pauseMs = refusal.retryAfterMs ?? 0
    if (status !== 429 || retries >= maxRetries || pauseMs > maxPauseMs)
      throw toNodeError(context, refusal, call.itemIndex)
    await sleep(Math.max(1000, pauseMs))
  }
}

interface HttpAnswer {
  statusCode: number
  headers?: object
  body: unknown
}

interface Response {
  status: number
  headers: Record<string, string>
  body: unknown
}

async function fetchOnce(context: Context, credential: CredentialName, call: RequestOptions): Promise<Response> {
  const { baseUrl } = await context.getCredentials<{ baseUrl: string }>(credential)
  const { method, path, query, body, bytes, timeoutMs = defaultTimeoutMs, signal, itemIndex } = call
  const options: IHttpRequestOptions = {
    method,
    url: `${baseUrl.trim().replace(/\/+$/, '')}${path}`,
    json: true,
    returnFullResponse: true,
    // Error bodies have more details than n8n's own messages.
    ignoreHttpStatusErrors: true,
    disableFollowRedirect: true,
    timeout: timeoutMs,
    ...(query !== undefined && { qs: query }),
    ...(body !== undefined && { body }),
    ...(bytes !== undefined && { body: bytes, headers: { 'content-type': 'application/octet-stream' } }),
    ...(signal !== undefined && { abortSignal: signal }),
  }
  try {
    const answer = (await context.helpers.httpRequestWithAuthentication.call(
      context,
      credential,
      options,
    )) as HttpAnswer
    return { status: answer.statusCode, headers: stringsOf(answer.headers), body: objectOf(answer.body) }
  } catch (error) {
    throw new NodeApiError(context.getNode(), error as JsonObject, itemIndex === undefined ? {} : { itemIndex })
  }
}

function toNodeError(context: Context, refusal: ApiError, itemIndex: number | undefined): NodeApiError {
  const { status, code, issues, next, message, requestId, data } = refusal
  const error = new NodeApiError(
    context.getNode(),
    { message, code: code ?? String(status) },
    {
      message,
      httpCode: String(status),
      description: [...issues.map((issue) => `${issue.path}: ${issue.message}.`), ...next].join('\n'),
      ...(itemIndex !== undefined && { itemIndex }),
    },
  )
  error.context.parley = { status, code, issues, next, requestId, data }
  return error
}

const stringsOf = (headers: object = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))

/** Parses problem details, which n8n does not treat as JSON. */
function objectOf(body: unknown): unknown {
  if (typeof body === 'object' && body !== null) return body
  try {
    return JSON.parse(String(body))
  } catch {
    return {}
  }
}
