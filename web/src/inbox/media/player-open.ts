import { useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()
let isOpen = false

/** Whether something is being played, or was until it was paused. The player itself comes with what can be played. */
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
