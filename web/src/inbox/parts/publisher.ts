import { useSyncExternalStore } from 'react'

/** Creates what tells components and others that a value outside of them has changed. */
export function createPublisher() {
  const listeners = new Set<() => void>()
  const subscribe = (listener: () => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  return {
    subscribe,
    publish: () => {
      for (const listener of [...listeners]) listener()
    },
    /** Returns what `read` returns, and renders again when it changes. */
    useValue: <T>(read: () => T): T => useSyncExternalStore(subscribe, read),
  }
}
