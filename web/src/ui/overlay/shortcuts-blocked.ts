import { useLayoutEffect } from 'react'

let blockers = 0

export const areShortcutsBlocked = (): boolean => blockers > 0

/** While it is there no key acts: stands for a dialog whose code is still on its way, so that what is typed for it does nothing else. */
export function ShortcutsBlocked(): null {
  useLayoutEffect(() => {
    blockers++
    return () => void blockers--
  }, [])
  return null
}
