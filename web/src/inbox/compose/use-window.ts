import { useEffect, useState } from 'react'
import { nextChangeMs, type WindowState, windowAt } from './countdown.ts'

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
  return windowAt(expiresAt, nowMs)
}
