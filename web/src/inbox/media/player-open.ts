import { useSyncExternalStore } from 'react'

const watchers = new Set<() => void>()
let isOpen = false

/** Whether something is being played, or was until it was paused. The player itself comes with what can be played. */
export const useIsPlayerOpen = (): boolean => useSyncExternalStore(watch, () => isOpen)

export function setPlayerOpen(next: boolean): void {
  if (next === isOpen) return
  isOpen = next
  for (const changed of watchers) changed()
}

function watch(changed: () => void): () => void {
  watchers.add(changed)
  return () => watchers.delete(changed)
}
