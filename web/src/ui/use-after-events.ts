import { useCallback, useEffect, useRef } from 'react'
import { useLive } from '../api/live.ts'

/** Calls `look` some time after an event of these names came; of many that come together, once. Keep `names` stable. */
export function useAfterEvents(names: readonly string[], waitMs: number, onChange: () => void): void {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const latest = useRef(onChange)
  latest.current = onChange
  const handleEvent = useCallback(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      latest.current()
    }, waitMs)
  }, [waitMs])
  useEffect(
    () => () => {
      clearTimeout(timer.current)
      timer.current = undefined
    },
    [],
  )
  useLive(names, handleEvent)
}
