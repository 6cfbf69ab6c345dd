import type { RefusalEffect } from '../connector.ts'
import type { HoldRule } from '../health/holds.ts'
import { objectOf } from './json.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

const billable = { stops: 'billable', probe: 'send', firstMs: 5 * minuteMs, maxMs: hourMs } as const
/** About the number or its permissions: fixed on the platform; tested by a send. */
const number = { stops: 'all', probe: 'send', firstMs: 10 * minuteMs, maxMs: 6 * hourMs } as const
/** A review or appeal, which takes time: tested rarely. */
const policy = { stops: 'all', probe: 'send', firstMs: hourMs, maxMs: 24 * hourMs } as const
/** About the credentials or the number's id: tested by a number check, which sends nothing. */
const access = { stops: 'all', probe: 'read', firstMs: 10 * minuteMs, maxMs: 6 * hourMs } as const

/**
 * Error codes about the connection rather than the message, also when a partner passes them on: what each one stops and
 * how it is tested. Advice is in `advice.ts`.
 */
export const holdRuleTable: readonly (readonly [stop: HoldRule, ...codes: (number | string)[]])[] = [
  [billable, 131042, 1025, 'payment_required', 'http_402'],
  [number, 3, 10, 131005, 131045, 133000, 133010, 133016],
  [policy, 368, 131031, 131037, 1031, 'blocked'],
  [access, 0, 190, 1005, 'invalid_api_key', 'http_401', 'http_403'],
]

const holdRules: ReadonlyMap<string, HoldRule> = new Map(
  holdRuleTable.flatMap(([stop, ...codes]) => codes.map((code) => [String(code), stop] as const)),
)

/** Returns the hold for a code about the connection. Codes not in the table are treated like credential errors. */
export function holdRuleOf(errorCode: string): HoldRule {
  return holdRules.get(errorCode) ?? (/^2\d\d$/.test(errorCode) ? number : access)
}

/** Codes of the older API, which partners still return. */
const legacyCodes = new Set([1005, 1025, 1031])

/** The platform's own codes that create a hold. */
const holdingCodes: readonly (readonly [code: number, HoldRule])[] = holdRuleTable.flatMap(([stop, ...codes]) =>
  codes.flatMap((code) => (typeof code === 'number' && !legacyCodes.has(code) ? [[code, stop] as const] : [])),
)

/** Meaning of a platform error code for the message that caused it. */
export type ErrorMeaning = { outcome: 'refused'; effect: RefusalEffect } | { outcome: 'unreachable' }

export const refused: ErrorMeaning = { outcome: 'refused', effect: 'none' }
export const connectionDown: ErrorMeaning = { outcome: 'refused', effect: 'connection_unavailable' }
export const billableHeld: ErrorMeaning = { outcome: 'refused', effect: 'billable_held' }
export const templateStale: ErrorMeaning = { outcome: 'refused', effect: 'templates_stale' }
export const notDelivered: ErrorMeaning = { outcome: 'unreachable' }

/** By code, not by HTTP status or title, which differ between API versions. */
const meanings: readonly [ErrorMeaning, codes: readonly number[]][] = [
  [notDelivered, [1, 2, 4, 80007, 130429, 131000, 131016, 131048, 131056, 131057, 133004]],
  [
    refused,
    [
      33, 100, 130472, 130497, 131008, 131009, 131021, 131026, 131030, 131047, 131049, 131050, 131051, 131052, 131053,
      131062, 132000, 132005, 132012, 132018, 132068, 132069, 134011, 135000, 137000,
    ],
  ],
  [templateStale, [132001, 132007, 132015, 132016]],
]

export const errorMeanings: ReadonlyMap<number, ErrorMeaning> = new Map<number, ErrorMeaning>([
  ...holdingCodes.map(([code, { stops }]) => [code, stops === 'all' ? connectionDown : billableHeld] as const),
  ...meanings.flatMap(([meaning, codes]) => codes.map((code) => [code, meaning] as const)),
])

export interface PlatformError {
  code: number
  subcode: number | null
}

/** Returns the error in a response body; null if there is none that can be read, such as in an HTML page. */
export function parseError(body: unknown): PlatformError | null {
  const { code, error_subcode: subcode } = objectOf(objectOf(body).error)
  if (!Number.isSafeInteger(code)) return null
  return { code: Number(code), subcode: Number.isSafeInteger(subcode) ? Number(subcode) : null }
}

/** Returns the meaning of an error. Codes that are not in the table are judged by HTTP status. */
export function meaningOf({ code, subcode }: PlatformError, httpStatus: number): ErrorMeaning {
  // `Unknown object or no access`: the number is no longer ours.
  if (code === 100 && subcode === 33) return connectionDown
  if (code >= 200 && code <= 299) return connectionDown
  return errorMeanings.get(code) ?? meaningOfStatus(httpStatus)
}

export interface ErrorInterpretation {
  errorCode: string
  meaning: ErrorMeaning
}

/** Returns the meaning of an error response. */
export function interpretError(body: unknown, httpStatus: number): ErrorInterpretation {
  const error = parseError(body)
  if (error === null) return { errorCode: `http_${httpStatus}`, meaning: meaningOfStatus(httpStatus) }
  return { errorCode: String(error.code), meaning: meaningOf(error, httpStatus) }
}

/** Returns the meaning of a response without a readable error. */
export function meaningOfStatus(httpStatus: number): ErrorMeaning {
  const isRefusal = httpStatus >= 400 && httpStatus < 500 && httpStatus !== 429
  return isRefusal ? refused : notDelivered
}

/** Returns the effect of an error code in a status, received after the message was accepted. */
export function effectOfCode(errorCode: string): RefusalEffect {
  const meaning = /^\d{1,9}$/.test(errorCode) ? meaningOf({ code: Number(errorCode), subcode: null }, 400) : refused
  return meaning.outcome === 'refused' ? meaning.effect : 'none'
}
