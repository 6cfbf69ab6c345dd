import type { Clock } from '../../base/clock.ts'

export interface RateLimitResult {
  allowed: boolean
  limit: number
  /** Units left in the window after this request. */
  remaining: number
  /** Whole seconds until more units are available; 0 if none are used. */
  resetSeconds: number
  /** Whole seconds, at least 1, after which a refused request can succeed; 0 if allowed. */
  retryAfterSeconds: number
}

/**
 * Counts requests per key over a sliding minute: no 60 s ever contain more than the limit. Keys are any text, with a
 * prefix per limited resource (`leads:<key id>`).
 */
export interface Limiter {
  /** Takes one unit. The limit must be above 0; callers without a limit don't call it. */
  take(key: string, limitPerMinute: number): Promise<RateLimitResult>
  close(): Promise<void>
}

export function allowedResult(limit: number, used: number, waitMs: number): RateLimitResult {
  return {
    allowed: true,
    limit,
    remaining: Math.max(0, limit - used),
    resetSeconds: Math.ceil(waitMs / 1000),
    retryAfterSeconds: 0,
  }
}

export function refusedResult(limit: number, waitMs: number): RateLimitResult {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  return { allowed: false, limit, remaining: 0, resetSeconds: seconds, retryAfterSeconds: seconds }
}

// A sliding window in slots. A unit counts until its slot has *entirely* left the last 60 s. So no 60 s ever contain
// more than the limit, but a unit becomes available up to `slotMs` late.

const windowMs = 60_000

export interface SlidingWindow {
  /** Slot numbers (time divided by the slot's length), oldest first. */
  slots: number[]
  /** Units taken in each of these slots. */
  units: number[]
  total: number
}

export const emptyWindow = (): SlidingWindow => ({ slots: [], units: [], total: 0 })

/** Takes up to `wanted` units, as the limit allows, and returns how many. Modifies the window. */
export function takeUnits(
  window: SlidingWindow,
  nowMs: number,
  slotMs: number,
  limit: number,
  requested: number,
): number {
  const slot = advance(window, nowMs, slotMs)
  const granted = Math.max(0, Math.min(requested, limit - window.total))
  if (granted === 0) return 0
  const last = window.slots.length - 1
  if (window.slots[last] === slot) window.units[last] = (window.units[last] ?? 0) + granted
  else {
    window.slots.push(slot)
    window.units.push(granted)
  }
  window.total += granted
  return granted
}

/** Returns unused units to their slot. */
export function returnUnits(window: SlidingWindow, slot: number, units: number): void {
  const at = window.slots.indexOf(slot)
  if (at === -1) return
  const returned = Math.min(units, window.units[at] ?? 0)
  window.units[at] = (window.units[at] ?? 0) - returned
  window.total -= returned
}

/** Returns the milliseconds until fewer than `limit` units count; if already fewer, until the oldest one expires. */
export function waitMs(window: SlidingWindow, nowMs: number, slotMs: number, limit: number): number {
  const slot = advance(window, nowMs, slotMs)
  let surplus = Math.max(1, window.total - limit + 1)
  for (const [at, units] of window.units.entries()) {
    surplus -= units
    const lapsesAtMs = ((window.slots[at] ?? slot) + slotsHeld(slotMs)) * slotMs
    if (surplus <= 0) return Math.max(0, lapsesAtMs - nowMs)
  }
  return 0
}

// Drops expired slots and returns the current one. A clock that steps back must neither drop units nor block a key
// until it
// has caught up: within a window's length the slot stays the newest known; beyond that, all units move to the new slot.
function advance(window: SlidingWindow, nowMs: number, slotMs: number): number {
  const slot = Math.floor(nowMs / slotMs)
  const newest = window.slots.at(-1) ?? slot
  const held = slotsHeld(slotMs)
  if (slot < newest - held && window.total > 0) {
    window.slots = [slot]
    window.units = [window.total]
    return slot
  }
  while (window.slots.length > 0 && (window.slots[0] ?? 0) <= slot - held) {
    window.total -= window.units.shift() ?? 0
    window.slots.shift()
  }
  return Math.max(slot, window.slots.at(-1) ?? slot)
}

/** Returns the number of slots that still count, including the current one: those that overlap the last 60 s. */
export const slotsHeld = (slotMs: number): number => windowMs / slotMs + 1

const slotMs = 250
const firstSweepAt = 10_000

interface MemoryLimiter extends Limiter {
  takeNow(key: string, limit: number): RateLimitResult
  /** Returns the refusal that `takeNow` would return, without taking a unit; null if a unit is available. */
  refusal(key: string, limit: number): RateLimitResult | null
}

/** Counts in this process only: for a single node, or while the shared store is unavailable. */
export function createMemoryLimiter(clock: Clock): MemoryLimiter {
  const windows = new Map<string, SlidingWindow>()
  let sweepAt = firstSweepAt

  function windowOf(key: string, nowMs: number): SlidingWindow {
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

  function takeNow(key: string, limit: number): RateLimitResult {
    const nowMs = clock.now().getTime()
    const window = windowOf(key, nowMs)
    const granted = takeUnits(window, nowMs, slotMs, limit, 1)
    const wait = waitMs(window, nowMs, slotMs, limit)
    return granted === 1 ? allowedResult(limit, window.total, wait) : refusedResult(limit, wait)
  }

  function refusal(key: string, limit: number): RateLimitResult | null {
    const window = windows.get(key)
    if (window === undefined) return null
    const nowMs = clock.now().getTime()
    const wait = waitMs(window, nowMs, slotMs, limit)
    return window.total < limit ? null : refusedResult(limit, wait)
  }

  return { takeNow, refusal, take: async (key, limit) => takeNow(key, limit), close: async () => {} }
}

// Twice the window, to keep units that still count after the clock was set back.
function sweep(windows: Map<string, SlidingWindow>, nowMs: number): void {
  const oldestSlot = Math.floor((nowMs - 2 * windowMs) / slotMs)
  for (const [key, window] of windows) {
    if ((window.slots.at(-1) ?? 0) < oldestSlot) windows.delete(key)
  }
}
