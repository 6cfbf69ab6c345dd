import { throttle } from './throttle.ts'

export interface ThrottledBatches<T> {
  /** Adds an item, in place of a waiting item with the same id. */
  add(id: string, item: T): void
  /** Drops the waiting item of an id. */
  remove(id: string): void
}

/** Passes on the first item after a pause at once, and later items as one batch at the end of the interval. */
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
