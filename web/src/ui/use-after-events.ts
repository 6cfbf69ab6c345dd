import { useCallback, useEffect, useRef } from 'react'
import { useLive } from '../api/live.ts'

/** Calls `onChange` some time after events with these names; once for several events. `names` must be stable. */
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
