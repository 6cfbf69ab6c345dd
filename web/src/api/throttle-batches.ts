import { throttle } from './throttle.ts'

export interface ThrottledBatches<T> {
  /** Puts the newest of an id in the place of those before it that wait. */
  add(id: string, item: T): void
  /** Forgets what waits of an id. */
  remove(id: string): void
}

/** Takes the first item of a quiet moment at once, and what comes in the rest after that together at its end. */
export function throttleBatches<T>(intervalMs: number, take: (items: readonly T[]) => void): ThrottledBatches<T> {
  const waiting = new Map<string, T>()
  const takeAll = throttle(intervalMs, async () => {
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
    remove: (id) => void waiting.delete(id),
  }
}
