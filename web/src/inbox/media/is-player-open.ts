import { useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()
let isOpen = false

/** Returns whether audio is playing or paused. The player itself is loaded with the first audio. */
export const useIsPlayerOpen = (): boolean => useSyncExternalStore(subscribe, () => isOpen)

export function setPlayerOpen(next: boolean): void {
  if (next === isOpen) return
  isOpen = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
