import timers from 'node:timers/promises'
import { canRetryInTime, hasWaitedTooLong } from '../postgres/retry-rules.ts'
import { currentContext, runWithBudget, tracedBatch, type WaitBudget } from '../scheduling/work-context.ts'
import type { Span } from '../tracing/span.ts'

interface Batching<I, O> {
  /** Maximum number of groups per key in progress, so that one slow group does not block the others. */
  groups: number
  /** Maximum number of items in a group. */
  groupSize: number
  /** Processes a whole group or nothing, and returns the results in the order of the items. */
  work(key: string, items: readonly I[]): Promise<readonly O[]>
  /** Whether a failure changed nothing, so that the items can be retried. */
  isRolledBack(error: unknown): boolean
}

interface Queued<I, O> {
  item: I
  sinceMs: number
  span: Span | null
  /** Wait budget of the caller. */
  waits: WaitBudget | null
  resolve(answer: O): void
  reject(error: unknown): void
}

interface BatchQueue<I, O> {
  running: number
  waiting: Queued<I, O>[]
}

/**
 * Batches items of one key when they arrive faster than they are processed: an item runs at once if no group is in
 * progress, and otherwise waits and joins the next group. A failed group is halved and retried, so that an item doesn't
 * fail because of another. If the database is unavailable, items fail after a short wait instead.
 */
export function batch<I, O>({ groups, groupSize, work, isRolledBack }: Batching<I, O>) {
  const lines = new Map<string, BatchQueue<I, O>>()

  async function run(key: string, line: BatchQueue<I, O>): Promise<void> {
    line.running++
    while (line.waiting.length > 0) await serve(key, line, line.waiting.splice(0, groupSize))
    line.running--
    if (line.running === 0) lines.delete(key)
  }

  async function serve(key: string, line: BatchQueue<I, O>, group: readonly Queued<I, O>[]): Promise<void> {
    const begunAtMs = performance.now()
    try {
      const items = group.map(({ item }) => item)
      const spans = group.map(({ span }) => span)
      const answers = await runWithBudget(waitsOf(group), () => tracedBatch(spans, () => work(key, items)))
      for (const [n, { resolve }] of group.entries()) resolve(answers[n] as O)
    } catch (error) {
      if (group.length > 1 && isRolledBack(error) && canRetryInTime(error, begunAtMs)) {
        const half = Math.ceil(group.length / 2)
        await Promise.all([serve(key, line, group.slice(0, half)), serve(key, line, group.slice(half))])
        return
      }
      for (const { reject } of group) reject(error)
      // In order of arrival, so the first ones have waited longest.
      while (line.waiting[0] !== undefined && hasWaitedTooLong(error, line.waiting[0].sinceMs)) {
        line.waiting.shift()?.reject(error)
      }
    }
  }

  const add = (key: string, item: I, waits: WaitBudget | null): Promise<O> =>
    new Promise((resolve, reject) => {
      const line = lines.get(key) ?? { running: 0, waiting: [] }
      lines.set(key, line)
      line.waiting.push({ item, sinceMs: performance.now(), span: currentContext().span, waits, resolve, reject })
      if (line.running < groups) void run(key, line)
    })
  return (key: string, item: I): Promise<O> => {
    const { waitBudget } = currentContext()
    return waitBudget === null ? add(key, item, null) : waitBudget.during(add(key, item, waitBudget))
  }
}

/** Returns the wait budget of the item that has waited longest; the whole group uses it. */
function waitsOf(group: readonly { waits: WaitBudget | null }[]): WaitBudget | null {
  const nowMs = performance.now()
  let longest: WaitBudget | null = null
  for (const { waits } of group) {
    if (waits !== null && waits.ms(nowMs) >= (longest?.ms(nowMs) ?? 0)) longest = waits
  }
  return longest
}

interface Coalescing<T> {
  /** Time that the first item of an idle key waits for others; default 0. */
  gatherMs?: number
  /** Pause of a key after each run; default 0. */
  restMs?: number
  /** Receives the items added since the last run of the key started, each once, in order of arrival. */
  work(key: string, items: readonly T[]): unknown
  /** Receives what `work` throws or rejects with. The key continues with the items added meanwhile. */
  onError(error: unknown, key: string): void
}

interface Coalescer<T> {
  add(key: string, item: T): void
  /** Accepts no more items and drops those that wait. Resolves when the current runs have ended. */
  close(): Promise<void>
}

/** Runs work in the background, never overlapping per key: items added during a run or its pause share the next run. */
export function coalesce<T>({ gatherMs = 0, restMs = 0, work, onError }: Coalescing<T>): Coalescer<T> {
  const lines = new Map<string, Set<T>>()
  const backgroundTasks = createBackgroundTasks()
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
    // In the same tick as the check of `line.size`, so that no item is lost in between.
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
      backgroundTasks.run(
        () => serve(key, begun),
        (error) => onError(error, key),
      )
    },
    close: () => {
      closing.abort()
      return backgroundTasks.close()
    },
  }
}

/**
 * Returns a function whose calls share runs of `work`. A call never joins a run that has already started, because that
 * run may have read too early: calls during a run share the next one, which starts when this one ends. Runs never
 * overlap. A failed run rejects only the calls that share it, unless the database is unavailable and later calls have
 * waited too long.
 */
export function singleFlight<T>(work: () => Promise<T>): () => Promise<T> {
  const ask = singleFlightByKey(work)
  return () => ask('')
}

/** The same, separately for each key. */
export function singleFlightByKey<T>(work: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const flights = new Map<string, Flight<T>>()
  const begin = (key: string): Promise<T> => {
    const flight: Flight<T> = { run: work(key), next: null }
    flights.set(key, flight)
    const forget = () => void (flight.next === null && flights.delete(key))
    flight.run.then(forget, forget)
    return flight.run
  }
  const afterRun = (run: Promise<T>, key: string): Promise<T> => {
    const sinceMs = performance.now()
    const goOn = () => begin(key)
    return run.then(goOn, (error) => {
      if (!hasWaitedTooLong(error, sinceMs)) return goOn()
      flights.delete(key)
      throw error
    })
  }
  return (key) => {
    const flight = flights.get(key)
    if (flight === undefined) return begin(key)
    flight.next ??= afterRun(flight.run, key)
    return flight.next
  }
}

interface Flight<T> {
  run: Promise<T>
  /** Starts when `run` ends; null until a call asks for it. */
  next: Promise<T> | null
}

/** Background work that must end before its dependencies are closed. */
interface BackgroundTasks {
  /** Starts the work, unless `close` was called. */
  run(work: () => Promise<unknown>, onError: (error: unknown) => void): void
  /** Starts no more work, and resolves when the running work has ended. */
  close(): Promise<void>
}

export function createBackgroundTasks(): BackgroundTasks {
  const running = new Set<Promise<void>>()
  let isClosed = false
  return {
    run: (work, onError) => {
      if (isClosed) return
      const task: Promise<void> = work()
        .then(() => {}, onError)
        .finally(() => running.delete(task))
      running.add(task)
    },
    close: async () => {
      isClosed = true
      await Promise.all(running)
    },
  }
}
