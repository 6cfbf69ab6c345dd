import { type CheckLine, type CheckStep, checkLine } from '../../check/report.ts'
import type { JsonObject } from '../json.ts'
import { fetchGraph, type PlatformHttp } from '../platform-call.ts'
import type { WabaSettings } from '../settings.ts'

/** Answer to one call of a check. `errorCode`: of the platform, or how the call failed. */
export type GraphAnswer = { ok: true; body: JsonObject } | { ok: false; errorCode: string; subcode: number | null }

/** Shorter than for sends: a person is waiting. */
const timeoutMs = 8_000

/** Makes one call below the API version; never throws. */
export const askGraph = (
  http: PlatformHttp,
  settings: WabaSettings,
  path: string,
  body?: object,
): Promise<GraphAnswer> => fetchGraph(http, settings, path, { body, timeoutMs })

const rateCodes = new Set(['4', '17', '32', '613', '80007', '80008', '130429', 'http_429'])

/** Returns the line of a call that failed for a reason that no step explains better. */
export function judgeFailure(step: CheckStep, { errorCode: code }: Extract<GraphAnswer, { ok: false }>): CheckLine {
  if (rateCodes.has(code)) return checkLine(step, 'rate_limited', { code })
  return checkLine(step, /^(?:\d+|http_4\d\d)$/.test(code) ? 'platform_error' : 'unreachable', { code })
}

/** Whether the token may not see the object, or it does not exist: the platform does not distinguish. */
export const isDenied = ({ errorCode, subcode }: Extract<GraphAnswer, { ok: false }>): boolean =>
  (errorCode === '100' && subcode === 33) || /^(?:3|10|33|131005|2\d\d)$/.test(errorCode)
