import { useSyncExternalStore } from 'react'

const isVisible = (): boolean => document.visibilityState === 'visible'

/** Returns whether the reader can see the page. */
export const useIsPageVisible = (): boolean => useSyncExternalStore(subscribe, isVisible)

function subscribe(changed: () => void): () => void {
  document.addEventListener('visibilitychange', changed)
  return () => document.removeEventListener('visibilitychange', changed)
}
