import { useLayoutEffect } from 'react'

let blockers = 0

export const areShortcutsBlocked = (): boolean => blockers > 0

/** Disables shortcuts while the code of a dialog loads, so that text typed for it does nothing else. */
export function ShortcutsBlocked(): null {
  useLayoutEffect(() => {
    blockers++
    return () => void blockers--
  }, [])
  return null
}
