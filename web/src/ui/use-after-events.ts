import { useCallback, useEffect, useRef } from 'react'
import { type LiveEvent, useLive } from '../api/live.ts'

/**
 * Calls `onChange` some time after events with these names; once for several events, which it gets. Events that
 * `concerns` excludes are ignored. `names` must be stable.
 */
export function useAfterEvents(
  names: readonly string[],
  waitMs: number,
  onChange: (events: readonly LiveEvent[]) => void,
  concerns: (event: LiveEvent) => boolean = () => true,
): void {
  const received = useRef<LiveEvent[]>([])
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const latest = useRef({ onChange, concerns })
  latest.current = { onChange, concerns }
  const handleEvent = useCallback(
    (event: LiveEvent) => {
      if (!latest.current.concerns(event)) return
      received.current.push(event)
      timer.current ??= setTimeout(() => {
        timer.current = undefined
        latest.current.onChange(received.current.splice(0))
      }, waitMs)
    },
    [waitMs],
  )
  useEffect(
    () => () => {
      clearTimeout(timer.current)
      timer.current = undefined
    },
    [],
  )
  useLive(names, handleEvent)
}
