import { useSyncExternalStore } from 'react'

type StoredToggle = ReturnType<typeof createToggle>

/** Creates a preference stored in this browser; on by default. */
function createToggle(storageKey: string) {
  const listeners = new Set<() => void>()
  return {
    isOn: () => localStorage.getItem(storageKey) !== 'no',
    set: (isOn: boolean) => {
      localStorage.setItem(storageKey, isOn ? 'yes' : 'no')
      for (const listener of listeners) listener()
    },
    /** Calls back on changes; returns a function to unsubscribe. */
    subscribe: (listener: () => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

export const useStoredToggle = ({ subscribe, isOn }: StoredToggle): boolean => useSyncExternalStore(subscribe, isOn)

/** Whether Enter sends instead of inserting a line break. */
export const enterSends = createToggle('parley.enter-sends')

/** Whether the next conversation opens when one is closed or snoozed. */
export const opensNext = createToggle('parley.opens-next')

/** Returns whether the keyboard is on screen, without another key for a line break. */
export const isTouch = (): boolean => window.matchMedia('(pointer: coarse)').matches
