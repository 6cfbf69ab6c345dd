import type { Clock } from '../../base/clock.ts'
import type { Outgoing } from '../../base/outgoing/guarded-fetch.ts'
import { parseError } from './errors.ts'
import { type JsonObject, objectOf, parseJson } from './json.ts'
import type { WabaSettings } from './settings.ts'

/** Dependencies of calls to the platform. */
export interface PlatformHttp {
  outgoing: Outgoing
  clock: Clock
}

export interface Call {
  method: 'GET' | 'POST' | 'DELETE'
  url: string
  /** Including the credentials. */
  headers: Record<string, string>
  body?: object
  timeoutMs: number
  /** No byte is sent at or after this time. */
  deadline?: Date
}

/** Result of a call. `not_sent`: certainly nothing was sent. `lost`: the platform may have acted on it. */
export type CallResult =
  | { outcome: 'answered'; status: number; body: string }
  | { outcome: 'not_sent'; code: string }
  | { outcome: 'lost'; code: string }

const maxAnswerBytes = 8 * 1024 * 1024

/** Makes one HTTP call without retries or redirects; never throws. */
export async function callPlatform({ outgoing, clock }: PlatformHttp, call: Call): Promise<CallResult> {
  const { method, url, body, timeoutMs, deadline } = call
  const answer = await outgoing.call({
    method,
    url,
    headers: {
      ...call.headers,
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: body === undefined ? null : JSON.stringify(body),
    timeoutMs,
    maxAnswerBytes,
    shouldSend: () => deadline === undefined || clock.now() < deadline,
  })
  if (answer.outcome === 'answered') {
    if (!answer.isWhole) return { outcome: 'lost', code: 'answer_too_large' }
    return { outcome: 'answered', status: answer.status, body: answer.body.toString('utf8') }
  }
  const code = answer.error === 'withheld' ? 'deadline_passed' : answer.code
  return { outcome: answer.wasSent ? 'lost' : 'not_sent', code }
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** Result of a call of the API. `isDown`: the platform no longer accepts the access token. */
type GraphResult =
  | { ok: true; body: JsonObject }
  /** `errorCode`: of the platform, or how the call failed. */
  | { ok: false; errorCode: string; subcode: number | null; isDown: boolean }

const graphTimeoutMs = 20_000
// Other errors may concern only this read: a token can be able to send but not to list templates.
const tokenCodes = new Set([0, 190])

/** Reads `path` below the API version, such as `106540352242922?fields=id`, or posts to it; never throws. */
export async function fetchGraph(
  http: PlatformHttp,
  { baseUrl, version, accessToken }: WabaSettings,
  path: string,
  { body, timeoutMs = graphTimeoutMs }: { body?: object | undefined; timeoutMs?: number } = {},
): Promise<GraphResult> {
  const call = { url: `${baseUrl}/${version}/${path}`, headers: bearer(accessToken), timeoutMs }
  const answer = await callPlatform(
    http,
    body === undefined ? { method: 'GET', ...call } : { method: 'POST', ...call, body },
  )
  const failed = { ok: false, subcode: null, isDown: false } as const
  if (answer.outcome !== 'answered') return { ...failed, errorCode: answer.code }
  const content = parseJson(answer.body)
  if (answer.status >= 200 && answer.status < 300 && content !== null) return { ok: true, body: objectOf(content) }
  const error = parseError(content)
  if (error === null) return { ...failed, errorCode: `http_${answer.status}` }
  return { ok: false, errorCode: String(error.code), subcode: error.subcode, isDown: tokenCodes.has(error.code) }
}
