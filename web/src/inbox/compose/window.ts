import { useEffect, useState } from 'react'

// Longer timers run over in browsers, and a sleeping laptop's are late anyway.
const maxTimerMs = 60_000

/** The 24-hour window, counting down by itself. */
export function useWindow(expiresAt: string | null): WindowState {
  const [nowMs, setNowMs] = useState(() => Date.now())
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const tick = () => {
      setNowMs(Date.now())
      const waitMs = nextChangeMs(expiresAt, Date.now())
      if (waitMs !== null) timer = setTimeout(tick, Math.min(waitMs, maxTimerMs))
    }
    tick()
    return () => clearTimeout(timer)
  }, [expiresAt])
  return windowStateAt(expiresAt, nowMs)
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** From when on the end of the window is announced, and from when on it presses. */
export const announceMs = 4 * hourMs
const urgentMs = hourMs

export type WindowState =
  | { state: 'open' }
  | { state: 'closing'; at: string; hours: number; minutes: number; isUrgent: boolean }
  | { state: 'closed' }

/** What the 24-hour window lets a member do at a moment. */
export function windowStateAt(expiresAt: string | null, nowMs: number): WindowState {
  if (expiresAt === null) return { state: 'closed' }
  const leftMs = Date.parse(expiresAt) - nowMs
  if (leftMs <= 0) return { state: 'closed' }
  if (leftMs > announceMs) return { state: 'open' }
  // Rounded up: what says one minute has one still.
  const minutes = Math.ceil(leftMs / minuteMs)
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60]
  return { state: 'closing', at: expiresAt, hours, minutes: rest, isUrgent: leftMs <= urgentMs }
}

/** In how many milliseconds `windowStateAt` says something else; null: never. */
export function nextChangeMs(expiresAt: string | null, nowMs: number): number | null {
  if (expiresAt === null) return null
  const leftMs = Date.parse(expiresAt) - nowMs
  if (leftMs <= 0) return null
  if (leftMs > announceMs) return leftMs - announceMs
  return ((leftMs - 1) % minuteMs) + 1
}
