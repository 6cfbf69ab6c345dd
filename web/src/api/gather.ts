import { atMostEvery } from './at-most-every.ts'

export interface Gathering<T> {
  /** Puts the newest of an id in the place of those before it that wait. */
  add(id: string, item: T): void
  /** Forgets what waits of an id. */
  drop(id: string): void
}

/** Takes the first item of a quiet moment at once, and what comes in the rest after that together at its end. */
export function gather<T>(restMs: number, take: (items: readonly T[]) => void): Gathering<T> {
  const waiting = new Map<string, T>()
  const takeAll = atMostEvery(restMs, async () => {
    const items = [...waiting.values()]
    waiting.clear()
    if (items.length > 0) take(items)
  })
  return {
    add: (id, item) => {
      waiting.delete(id)
      waiting.set(id, item)
      takeAll()
    },
    drop: (id) => void waiting.delete(id),
  }
}
