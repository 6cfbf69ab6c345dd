import { useEffect, useState } from 'react'
import { nextChangeMs, type WindowState, windowAt } from './countdown.ts'

// Longer timers run over in browsers, and a sleeping laptop's are late anyway.
const maxTimerMs = 60_000

/** The 24-hour window, counting down by itself. */
export function useWindow(expiresAt: string | null): WindowState {
  const [nowMs, setNowMs] = useState(() => Date.now())
  useEffect(() => {
    const tick = () => setNowMs(Date.now())
    const waitMs = nextChangeMs(expiresAt, Date.now())
    tick()
    if (waitMs === null) return
    const timer = setInterval(tick, Math.min(waitMs, maxTimerMs))
    return () => clearInterval(timer)
  }, [expiresAt])
  return windowAt(expiresAt, nowMs)
}
