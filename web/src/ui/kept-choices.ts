import { useSyncExternalStore } from 'react'

interface KeptChoice {
  isOn(): boolean
  set(isOn: boolean): void
  /** Calls at each change; returns how to stop. */
  watch(changed: () => void): () => void
}

/** A choice that this browser keeps for whoever uses it: on until somebody turns it off. */
function keptChoice(storageKey: string): KeptChoice {
  const watchers = new Set<() => void>()
  return {
    isOn: () => localStorage.getItem(storageKey) !== 'no',
    set: (isOn) => {
      localStorage.setItem(storageKey, isOn ? 'yes' : 'no')
      for (const changed of watchers) changed()
    },
    watch: (changed) => {
      watchers.add(changed)
      return () => watchers.delete(changed)
    },
  }
}

export const useKeptChoice = ({ watch, isOn }: KeptChoice): boolean => useSyncExternalStore(watch, isOn)

/** Whether Enter sends, rather than beginning a line. */
export const enterSends = keptChoice('parley.enter-sends')

/** Whether the next conversation opens when one is resolved or snoozed. */
export const opensNext = keptChoice('parley.opens-next')

/** A keyboard on glass has no other key for a new line. */
export const isTouch = (): boolean => window.matchMedia('(pointer: coarse)').matches
