import type { Clock } from '../../base/clock.ts'
import { type Limiter, refused, type Take, taken } from './limiter.ts'
import { emptyWindow, takeUnits, type Window, waitMs, windowMs } from './rate-window.ts'

const slotMs = 250
const firstSweepAt = 10_000

export interface MemoryLimiter extends Limiter {
  takeNow(key: string, limit: number): Take
  /** What `takeNow` would answer if refused, without taking: null while there is room. */
  refusal(key: string, limit: number): Take | null
}

/** Counts in this process alone: for one node, and for a node whose shared store is away. */
export function createMemoryLimiter(clock: Clock): MemoryLimiter {
  const windows = new Map<string, Window>()
  let sweepAt = firstSweepAt

  function windowOf(key: string, nowMs: number): Window {
    const known = windows.get(key)
    if (known !== undefined) return known
    if (windows.size >= sweepAt) {
      sweep(windows, nowMs)
      sweepAt = Math.max(firstSweepAt, windows.size * 2)
    }
    const window = emptyWindow()
    windows.set(key, window)
    return window
  }

  function takeNow(key: string, limit: number): Take {
    const nowMs = clock.now().getTime()
    const window = windowOf(key, nowMs)
    const granted = takeUnits(window, nowMs, slotMs, limit, 1)
    const wait = waitMs(window, nowMs, slotMs, limit)
    return granted === 1 ? taken(limit, window.total, wait) : refused(limit, wait)
  }

  function refusal(key: string, limit: number): Take | null {
    const window = windows.get(key)
    if (window === undefined) return null
    const nowMs = clock.now().getTime()
    const wait = waitMs(window, nowMs, slotMs, limit)
    return window.total < limit ? null : refused(limit, wait)
  }

  return { takeNow, refusal, take: async (key, limit) => takeNow(key, limit), close: async () => {} }
}

// Twice the window: units that a clock set back has yet to let go must survive.
function sweep(windows: Map<string, Window>, nowMs: number): void {
  const oldestSlot = Math.floor((nowMs - 2 * windowMs) / slotMs)
  for (const [key, window] of windows) {
    if ((window.slots.at(-1) ?? 0) < oldestSlot) windows.delete(key)
  }
}
