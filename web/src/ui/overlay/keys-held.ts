import { useLayoutEffect } from 'react'

let holds = 0

export const areKeysHeld = (): boolean => holds > 0

/** While it is there no key acts: stands for a dialog whose code is still on its way, so that what is typed for it does nothing else. */
export function KeysHeld(): null {
  useLayoutEffect(() => {
    holds++
    return () => void holds--
  }, [])
  return null
}
