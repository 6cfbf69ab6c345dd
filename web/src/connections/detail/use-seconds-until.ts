import { useEffect, useState } from 'react'

const secondMs = 1000

/** Counts down whole seconds until a time; null without one, 0 once it has passed. */
export function useSecondsUntil(iso: string | null): number | null {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (iso === null) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), secondMs)
    return () => clearInterval(timer)
  }, [iso])
  return iso === null ? null : Math.max(0, Math.ceil((Date.parse(iso) - now) / secondMs))
}
