import { useEffect, useState } from 'react'

const minuteMs = 60_000

/** The time, a minute at a time, for what is said to be so long ago. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), minuteMs)
    return () => clearInterval(timer)
  }, [])
  return now
}
