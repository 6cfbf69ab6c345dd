import { type CheckLine, type CheckStep, checkLine } from '../../check/report.ts'
import { parseError } from '../errors.ts'
import { type JsonObject, objectOf, parseJson } from '../json.ts'
import { bearer, type Call, callPlatform, type PlatformHttp } from '../platform-call.ts'
import type { WabaSettings } from '../settings.ts'

/** Answer to one call of a check. `errorCode`: of the platform, or how the call failed. */
export type GraphAnswer = { ok: true; body: JsonObject } | { ok: false; errorCode: string; subcode: number | null }

/** Shorter than for sends: a person is waiting. */
const timeoutMs = 8_000

/** Makes one call below the API version; never throws. */
export async function askGraph(
  http: PlatformHttp,
  { baseUrl, version, accessToken }: WabaSettings,
  path: string,
  body?: object,
): Promise<GraphAnswer> {
  const call: Call = {
    method: body === undefined ? 'GET' : 'POST',
    url: `${baseUrl}/${version}/${path}`,
    headers: bearer(accessToken),
    ...(body !== undefined && { body }),
    timeoutMs,
  }
  const answer = await callPlatform(http, call)
  if (answer.outcome !== 'answered') return { ok: false, errorCode: answer.code, subcode: null }
  const content = parseJson(answer.body)
  if (answer.status >= 200 && answer.status < 300 && content !== null) return { ok: true, body: objectOf(content) }
  const error = parseError(content)
  return error === null
    ? { ok: false, errorCode: `http_${answer.status}`, subcode: null }
    : { ok: false, errorCode: String(error.code), subcode: error.subcode }
}

const rateCodes = new Set(['4', '17', '32', '613', '80007', '80008', '130429', 'http_429'])

/** Returns the line of a call that failed for a reason that no step explains better. */
export function judgeFailure(step: CheckStep, { errorCode: code }: Extract<GraphAnswer, { ok: false }>): CheckLine {
  if (rateCodes.has(code)) return checkLine(step, 'rate_limited', { code })
  return checkLine(step, /^(?:\d+|http_4\d\d)$/.test(code) ? 'platform_error' : 'unreachable', { code })
}

/** Whether the token may not see the object, or it does not exist: the platform does not distinguish. */
export const isDenied = ({ errorCode, subcode }: Extract<GraphAnswer, { ok: false }>): boolean =>
  (errorCode === '100' && subcode === 33) || /^(?:3|10|33|131005|2\d\d)$/.test(errorCode)
