import type { Stop } from '../health/holds.ts'

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
export const stoppingCodes: readonly (readonly [code: number, Stop])[] = stopTable.flatMap(([stop, ...codes]) =>
  codes.flatMap((code) => (typeof code === 'number' && !olderCodes.has(code) ? [[code, stop] as const] : [])),
)
