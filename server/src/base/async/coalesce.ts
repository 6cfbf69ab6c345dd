import timers from 'node:timers/promises'
import { openErrands } from './errands.ts'

export interface Coalescing<T> {
  /** How long the first item of an idle key waits for others; it goes at once unless given. */
  gatherMs?: number
  /** How long a key rests after each run; not at all unless given. */
  restMs?: number
  /** Gets what was added since its last run for the key began, each item once, in the order in which they came. */
  work(key: string, items: readonly T[]): unknown
  /** Gets what `work` throws or rejects with; the key goes on with what was added meanwhile. */
  onError(error: unknown, key: string): void
}

export interface Coalescer<T> {
  add(key: string, item: T): void
  /** Takes nothing more and forgets what waits. Resolves once the runs under way are over. */
  close(): Promise<void>
}

/**
 * Does work for items that nobody waits for, as many together as have come by then. The runs of one key never overlap:
 * what is added while one is under way, or while the key rests after it, goes together in the next.
 */
export function coalesce<T>({ gatherMs = 0, restMs = 0, work, onError }: Coalescing<T>): Coalescer<T> {
  const lines = new Map<string, Set<T>>()
  const errands = openErrands()
  const closing = new AbortController()
  const pause = (ms: number): Promise<void> =>
    timers.setTimeout(ms, undefined, { ref: false, signal: closing.signal }).catch(() => {})
  const serve = async (key: string, line: Set<T>): Promise<void> => {
    if (gatherMs > 0) await pause(gatherMs)
    while (line.size > 0 && !closing.signal.aborted) {
      const items = [...line]
      line.clear()
      try {
        await work(key, items)
      } catch (error) {
        onError(error, key)
      }
      if (restMs > 0) await pause(restMs)
    }
    // In the same step as the last look at the line: nothing comes between.
    lines.delete(key)
  }

  return {
    add: (key, item) => {
      if (closing.signal.aborted) return
      const line = lines.get(key)
      if (line !== undefined) {
        line.add(item)
        return
      }
      const begun = new Set([item])
      lines.set(key, begun)
      errands.run(
        () => serve(key, begun),
        (error) => onError(error, key),
      )
    },
    close: () => {
      closing.abort()
      return errands.close()
    },
  }
}
