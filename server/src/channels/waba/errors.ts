import type { RefusalEffect } from '../connector.ts'
import type { Stop } from '../health/holds.ts'
import { objectOf } from './json.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

const billable = { stops: 'billable', probe: 'send', firstMs: 5 * minuteMs, maxMs: hourMs } as const
/** Of the number or what it may do: mended at the platform, which a send finds out. */
const number = { stops: 'all', probe: 'send', firstMs: 10 * minuteMs, maxMs: 6 * hourMs } as const
/** A review or an appeal, which takes its time: it is asked rarely. */
const policy = { stops: 'all', probe: 'send', firstMs: hourMs, maxMs: 24 * hourMs } as const
/** Of the credential or the number's id: a question that sends nothing finds out. */
const access = { stops: 'all', probe: 'read', firstMs: 10 * minuteMs, maxMs: 6 * hourMs } as const

/**
 * The codes that are of the connection rather than of the message, or of a partner that passes them on: what each stops,
 * and how it is found out that it no longer does. What is said of each is in `advice.ts`.
 */
export const stopTable: readonly (readonly [stop: Stop, ...codes: (number | string)[]])[] = [
  [billable, 131042, 1025, 'payment_required', 'http_402'],
  [number, 3, 10, 131005, 131045, 133000, 133010, 133016],
  [policy, 368, 131031, 131037, 1031, 'blocked'],
  [access, 0, 190, 1005, 'invalid_api_key', 'http_401', 'http_403'],
]

const stops: ReadonlyMap<string, Stop> = new Map(
  stopTable.flatMap(([stop, ...codes]) => codes.map((code) => [String(code), stop] as const)),
)

/** How a code holds its connection that was found to be of it: what the table lacks is like a credential. */
export function stopOf(errorCode: string): Stop {
  return stops.get(errorCode) ?? (/^2\d\d$/.test(errorCode) ? number : access)
}

/** Those of an older interface, which partners still answer with. */
const olderCodes = new Set([1005, 1025, 1031])

/** Codes of the platform's own that hold a connection. */
const stoppingCodes: readonly (readonly [code: number, Stop])[] = stopTable.flatMap(([stop, ...codes]) =>
  codes.flatMap((code) => (typeof code === 'number' && !olderCodes.has(code) ? [[code, stop] as const] : [])),
)

/** What an error code of the platform means for the message that met it. */
export type ErrorMeaning = { outcome: 'refused'; effect: RefusalEffect } | { outcome: 'unreachable' }

export const refused: ErrorMeaning = { outcome: 'refused', effect: 'none' }
export const connectionDown: ErrorMeaning = { outcome: 'refused', effect: 'connection_unavailable' }
export const billableHeld: ErrorMeaning = { outcome: 'refused', effect: 'billable_held' }
export const templateStale: ErrorMeaning = { outcome: 'refused', effect: 'templates_stale' }
export const notDelivered: ErrorMeaning = { outcome: 'unreachable' }

/** By code and never by HTTP status or title, which differ between editions of the platform. */
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
  ...stoppingCodes.map(([code, { stops }]) => [code, stops === 'all' ? connectionDown : billableHeld] as const),
  ...meanings.flatMap(([meaning, codes]) => codes.map((code) => [code, meaning] as const)),
])

export interface PlatformError {
  code: number
  subcode: number | null
}

/** The error in an answer's body; null when it holds none that can be read, such as a page of HTML. */
export function readError(body: unknown): PlatformError | null {
  const { code, error_subcode: subcode } = objectOf(objectOf(body).error)
  if (!Number.isSafeInteger(code)) return null
  return { code: Number(code), subcode: Number.isSafeInteger(subcode) ? Number(subcode) : null }
}

/** What an error means; a code that the table lacks is judged by the HTTP status it came with. */
export function meaningOf({ code, subcode }: PlatformError, httpStatus: number): ErrorMeaning {
  // `Unknown object or no access`: the number is not ours any more.
  if (code === 100 && subcode === 33) return connectionDown
  if (code >= 200 && code <= 299) return connectionDown
  return errorMeanings.get(code) ?? meaningOfStatus(httpStatus)
}

export interface Judgement {
  errorCode: string
  meaning: ErrorMeaning
}

/** What a refusal means, by its body and HTTP status. */
export function judge(body: unknown, httpStatus: number): Judgement {
  const error = readError(body)
  if (error === null) return { errorCode: `http_${httpStatus}`, meaning: meaningOfStatus(httpStatus) }
  return { errorCode: String(error.code), meaning: meaningOf(error, httpStatus) }
}

/** What an answer without a readable error means. */
export function meaningOfStatus(httpStatus: number): ErrorMeaning {
  const isRefusal = httpStatus >= 400 && httpStatus < 500 && httpStatus !== 429
  return isRefusal ? refused : notDelivered
}

/** What a code means that came in a status, after the message had been accepted. */
export function effectOfCode(errorCode: string): RefusalEffect {
  const meaning = /^\d{1,9}$/.test(errorCode) ? meaningOf({ code: Number(errorCode), subcode: null }, 400) : refused
  return meaning.outcome === 'refused' ? meaning.effect : 'none'
}
