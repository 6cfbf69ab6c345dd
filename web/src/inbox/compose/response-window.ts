import { useEffect, useState } from 'react'

// Longer timers overflow in browsers, and sleeping laptops delay them anyway.
const maxTimerMs = 60_000

/** Returns the countdown of the 24-hour response window. */
export function useResponseWindow(expiresAt: string | null): WindowState {
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

/** The remaining time is shown from 4 hours on, and as urgent from 1 hour on. */
export const noticeMs = 4 * hourMs
const urgentMs = hourMs

export type WindowState =
  | { state: 'open' }
  | { state: 'closing'; at: string; hours: number; minutes: number; isUrgent: boolean }
  | { state: 'closed' }

/** Returns the state of the response window at a time. */
export function windowStateAt(expiresAt: string | null, nowMs: number): WindowState {
  if (expiresAt === null) return { state: 'closed' }
  const leftMs = Date.parse(expiresAt) - nowMs
  if (leftMs <= 0) return { state: 'closed' }
  if (leftMs > noticeMs) return { state: 'open' }
  // Rounded up, so that "1 minute" is never less.
  const minutes = Math.ceil(leftMs / minuteMs)
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60]
  return { state: 'closing', at: expiresAt, hours, minutes: rest, isUrgent: leftMs <= urgentMs }
}

/** Milliseconds until the result of `windowStateAt` changes; null if it does not. */
export function nextChangeMs(expiresAt: string | null, nowMs: number): number | null {
  if (expiresAt === null) return null
  const leftMs = Date.parse(expiresAt) - nowMs
  if (leftMs <= 0) return null
  if (leftMs > noticeMs) return leftMs - noticeMs
  return ((leftMs - 1) % minuteMs) + 1
}
