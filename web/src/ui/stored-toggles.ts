import { useSyncExternalStore } from 'react'

interface StoredToggle {
  isOn(): boolean
  set(isOn: boolean): void
  /** Calls at each change; returns how to stop. */
  subscribe(listener: () => void): () => void
}

/** A choice that this browser keeps for whoever uses it: on until somebody turns it off. */
function createToggle(storageKey: string): StoredToggle {
  const listeners = new Set<() => void>()
  return {
    isOn: () => localStorage.getItem(storageKey) !== 'no',
    set: (isOn) => {
      localStorage.setItem(storageKey, isOn ? 'yes' : 'no')
      for (const listener of listeners) listener()
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

export const useStoredToggle = ({ subscribe, isOn }: StoredToggle): boolean => useSyncExternalStore(subscribe, isOn)

/** Whether Enter sends, rather than beginning a line. */
export const enterSends = createToggle('parley.enter-sends')

/** Whether the next conversation opens when one is resolved or snoozed. */
export const opensNext = createToggle('parley.opens-next')

/** A keyboard on glass has no other key for a new line. */
export const isTouch = (): boolean => window.matchMedia('(pointer: coarse)').matches
