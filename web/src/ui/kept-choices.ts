import { useSyncExternalStore } from 'react'

const storageKey = 'parley.enter-sends'
const watchers = new Set<() => void>()

/** Whether Enter sends, rather than beginning a line. It does unless somebody chose otherwise. */
const enterSends = (): boolean => localStorage.getItem(storageKey) !== 'no'

export function setEnterSends(sends: boolean): void {
  localStorage.setItem(storageKey, sends ? 'yes' : 'no')
  for (const changed of watchers) changed()
}

export function useEnterSends(): boolean {
  return useSyncExternalStore((changed) => {
    watchers.add(changed)
    return () => watchers.delete(changed)
  }, enterSends)
}

/** A keyboard on glass has no other key for a new line. */
export const isTouch = (): boolean => window.matchMedia('(pointer: coarse)').matches
