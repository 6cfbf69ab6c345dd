import type { RefusalEffect } from '../connector.ts'
import { objectOf } from './json.ts'
import { stoppingCodes } from './stops.ts'

/** What an error code of the platform means for the message that met it. */
export type ErrorMeaning = { outcome: 'refused'; effect: RefusalEffect } | { outcome: 'unreachable' }

export const refused: ErrorMeaning = { outcome: 'refused', effect: 'none' }
export const connectionDown: ErrorMeaning = { outcome: 'refused', effect: 'connection_unavailable' }
export const billableHeld: ErrorMeaning = { outcome: 'refused', effect: 'billable_held' }
export const templateStale: ErrorMeaning = { outcome: 'refused', effect: 'templates_stale' }
export const notDelivered: ErrorMeaning = { outcome: 'unreachable' }

/** By code and never by HTTP status or title, which differ between editions of the platform. */
export const errorMeanings: ReadonlyMap<number, ErrorMeaning> = new Map<number, ErrorMeaning>([
  ...stoppingCodes.map(([code, { stops }]) => [code, stops === 'all' ? connectionDown : billableHeld] as const),
  [1, notDelivered],
  [2, notDelivered],
  [4, notDelivered],
  [33, refused],
  [100, refused],
  [80007, notDelivered],
  [130429, notDelivered],
  [130472, refused],
  [130497, refused],
  [131000, notDelivered],
  [131008, refused],
  [131009, refused],
  [131016, notDelivered],
  [131021, refused],
  [131026, refused],
  [131030, refused],
  [131047, refused],
  [131048, notDelivered],
  [131049, refused],
  [131050, refused],
  [131051, refused],
  [131052, refused],
  [131053, refused],
  [131056, notDelivered],
  [131057, notDelivered],
  [131062, refused],
  [132000, refused],
  [132001, templateStale],
  [132005, refused],
  [132007, templateStale],
  [132012, refused],
  [132015, templateStale],
  [132016, templateStale],
  [132018, refused],
  [132068, refused],
  [132069, refused],
  [133004, notDelivered],
  [134011, refused],
  [135000, refused],
  [137000, refused],
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
