import type { PartnerConnection } from '../connection/connection.ts'
import type { Connector } from '../connector.ts'
import {
  billableHeld,
  connectionDown,
  type ErrorInterpretation,
  type ErrorMeaning,
  interpretError,
  meaningOfStatus,
  notDelivered,
  refused,
  templateStale,
} from '../waba/errors.ts'
import { type JsonObject, listOf, objectOf, parseJson, textOf, tokenOf } from '../waba/json.ts'
import { type Call, callPlatform, type PlatformHttp } from '../waba/platform-call.ts'
import { cloudConnector } from '../waba/sender.ts'
import type { PartnerProfileName } from './settings.ts'

/** Differences between a partner's API and the official one. Paths are relative to the base URL. */
interface Profile {
  /** Without a trailing slash. */
  baseUrl: string
  keyHeader: string
  messagesPath: string
  numberPath: string
  webhookPath: string
  templatesPath: string
  mediaPath: string
  healthPath: string
  /** Possible names of the list in a templates response. */
  templateLists: readonly string[]
  /** Header with the signature of a callback's body, if the partner signs callbacks. */
  signatureHeader: string
}

export const profiles: Readonly<Record<PartnerProfileName, Profile>> = {
  '360dialog': {
    baseUrl: 'https://waba-v2.360dialog.io',
    keyHeader: 'd360-api-key',
    messagesPath: '/messages',
    numberPath: '/v1/configs/phone_number',
    webhookPath: '/v1/configs/webhook',
    templatesPath: '/v1/configs/templates',
    mediaPath: '/media',
    healthPath: '/health_status',
    templateLists: ['waba_templates', 'data'],
    signatureHeader: 'x-360dialog-signature',
  },
}

const timeoutMs = 20_000

/** Connector for a partner of the official platform. `sendTimeoutMs`: timeout of one call. */
export const partnerConnector = (http: PlatformHttp, sendTimeoutMs: number = timeoutMs): Connector<PartnerConnection> =>
  cloudConnector(http, sendTimeoutMs, interpretPartnerError, (connection) => targetOf(connection, 'messagesPath'))

/** Returns URL and authentication headers for a call to the connection's partner. */
export function targetOf({ settings }: PartnerConnection, path: keyof Profile & `${string}Path`, query = '') {
  const profile = profiles[settings.profile]
  return { url: settings.baseUrl + profile[path] + query, headers: { [profile.keyHeader]: settings.apiKey } }
}

export type PartnerAnswer = { ok: true; body: JsonObject } | ({ ok: false } & ErrorInterpretation)

/** Calls the partner once; never throws. */
export async function callPartner(
  http: PlatformHttp,
  call: Omit<Call, 'timeoutMs' | 'deadline'>,
): Promise<PartnerAnswer> {
  const answer = await callPlatform(http, { ...call, timeoutMs })
  if (answer.outcome !== 'answered') return { ok: false, errorCode: answer.code, meaning: notDelivered }
  const body = parseJson(answer.body)
  if (answer.status >= 200 && answer.status < 300) return { ok: true, body: objectOf(body) }
  return { ok: false, ...interpretPartnerError(body, answer.status) }
}

/** Codes of the older API, `{ errors: [{ code, title, details }] }`, which partners still return. */
const legacyMeanings: ReadonlyMap<string, ErrorMeaning> = new Map([
  ['470', refused],
  ['471', notDelivered],
  ['472', refused],
  ['1000', notDelivered],
  ['1005', connectionDown],
  ['1011', notDelivered],
  ['1014', notDelivered],
  ['1015', notDelivered],
  ['1016', notDelivered],
  ['1018', notDelivered],
  ['1025', billableHeld],
  ['1031', connectionDown],
  ['2001', templateStale],
])

/**
 * Words in the partner's own errors, which have no code because they occur before the platform is called. A 403 always
 * concerns the number; with other statuses, "blocked" or "disabled" may refer to a customer or a template, so the
 * connection stays available.
 */
const textMeanings: readonly [status: number | null, words: RegExp, errorCode: string, ErrorMeaning][] = [
  [null, /api.?key|unauthori[sz]ed/i, 'invalid_api_key', connectionDown],
  [null, /payment|balance|insufficient funds|not enough credit/i, 'payment_required', billableHeld],
  [null, /rate.?limit|too many requests|throttl/i, 'rate_limited', notDelivered],
  [403, /block|suspend|disabled/i, 'blocked', connectionDown],
]

/** Returns the meaning of a partner's error: a code of the platform or of the older API, or its own words. */
export function interpretPartnerError(body: unknown, httpStatus: number): ErrorInterpretation {
  const { error, errors } = objectOf(body)
  if (Number.isSafeInteger(objectOf(error).code)) return interpretError(body, httpStatus)
  const code = tokenOf(objectOf(listOf(errors)[0]).code)
  const legacy = code === null ? undefined : legacyMeanings.get(code)
  if (code !== null && legacy !== undefined) return { errorCode: code, meaning: legacy }
  if (code !== null && /^\d{1,9}$/.test(code)) return interpretError({ error: { code: Number(code) } }, httpStatus)
  return interpretText(findExplanation(body), httpStatus)
}

function interpretText(text: string, httpStatus: number): ErrorInterpretation {
  if (httpStatus >= 400 && httpStatus < 500) {
    const known = textMeanings.find(([status, pattern]) => (status ?? httpStatus) === httpStatus && pattern.test(text))
    if (known !== undefined) return { errorCode: known[2], meaning: known[3] }
  }
  if (httpStatus === 402) return { errorCode: 'http_402', meaning: billableHeld }
  const isKeyError = httpStatus === 401 || httpStatus === 403
  return { errorCode: `http_${httpStatus}`, meaning: isKeyError ? connectionDown : meaningOfStatus(httpStatus) }
}

/** Returns the partner's explanation from all fields that may contain it. */
function findExplanation(body: unknown): string {
  const { message, detail, title, error, errors, meta } = objectOf(body)
  const first = objectOf(listOf(errors)[0])
  const candidates = [message, detail, title, error, objectOf(error).message, first.title, first.details]
  return [...candidates, objectOf(meta).developer_message].map((candidate) => textOf(candidate) ?? '').join(' ')
}
