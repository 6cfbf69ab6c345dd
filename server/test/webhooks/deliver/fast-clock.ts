import type { Clock } from '../../../src/base/clock.ts'

/** Plain data, so that processes and threads can share it. */
export interface FastTime {
  /** Time when it equaled the real clock. */
  startMs: number
  speed: number
}

// Code that replaces the global clock still needs the real one.
const realNow = Date.now.bind(Date)

/** A clock that runs faster than the real one by a factor, and is the same in all processes. */
export function fastClock({ startMs, speed }: FastTime): Clock {
  return { now: () => new Date(startMs + (realNow() - startMs) * speed) }
}
