import { probePauseMs } from './backoff.ts'

/** How an endpoint has answered of late. */
export interface Health {
  /** The first failure since the last success. */
  failingSince: Date | null
  failuresInARow: number
  lastSuccessAt: Date | null
  /** Nothing is sent before it. */
  pausedUntil: Date | null
}

export const failuresBeforeProbes = 5
const hopelessAfterMs = 5 * 24 * 3_600_000

/** A receiver that fails again and again is asked by one request at a time, so that it is not hammered. */
export function isProbed({ failuresInARow }: Health): boolean {
  return failuresInARow >= failuresBeforeProbes
}

export function afterSuccess(health: Health, at: Date): Health {
  return {
    failingSince: null,
    failuresInARow: 0,
    lastSuccessAt: at,
    // A pause that the receiver has asked for holds, whatever else it still takes.
    pausedUntil: isProbed(health) ? null : health.pausedUntil,
  }
}

/** `askedPauseMs` is what the receiver wants, if it wants any. */
export function afterFailure(health: Health, at: Date, askedPauseMs: number | null): Health {
  const failuresInARow = health.failuresInARow + 1
  const probe = failuresInARow - failuresBeforeProbes + 1
  const pauseMs = Math.max(askedPauseMs ?? 0, probe > 0 ? probePauseMs(probe) : 0)
  const until = at.getTime() + pauseMs
  return {
    failingSince: health.failingSince ?? at,
    failuresInARow,
    lastSuccessAt: health.lastSuccessAt,
    pausedUntil: pauseMs === 0 ? health.pausedUntil : new Date(Math.max(until, health.pausedUntil?.getTime() ?? 0)),
  }
}

export function isPaused({ pausedUntil }: Health, now: Date): boolean {
  return pausedUntil !== null && pausedUntil > now
}

/** Every attempt of five days has failed. */
export function isHopeless({ failingSince }: Health, now: Date): boolean {
  return failingSince !== null && now.getTime() - failingSince.getTime() >= hopelessAfterMs
}
