import timers from 'node:timers/promises'
import { canRetryInTime, hasWaitedTooLong } from '../postgres/retry-rules.ts'
import { currentContext, runWithBudget, tracedBatch, type WaitBudget } from '../scheduling/work-context.ts'
import type { Span } from '../tracing/span.ts'

interface BatchOptions<I, O> {
  /** Maximum number of groups per key in progress, so that one slow group does not block the others. */
  maxGroups: number
  /** Maximum number of items in a group. */
  maxGroupSize: number
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
  waitBudget: WaitBudget | null
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
export function batch<I, O>({ maxGroups, maxGroupSize, work, isRolledBack }: BatchOptions<I, O>) {
  const queues = new Map<string, BatchQueue<I, O>>()

  async function run(key: string, queue: BatchQueue<I, O>): Promise<void> {
    queue.running++
    while (queue.waiting.length > 0) await processQueue(key, queue, queue.waiting.splice(0, maxGroupSize))
    queue.running--
    if (queue.running === 0) queues.delete(key)
  }

  async function processQueue(key: string, queue: BatchQueue<I, O>, group: readonly Queued<I, O>[]): Promise<void> {
    const startedAtMs = performance.now()
    try {
      const items = group.map(({ item }) => item)
      const spans = group.map(({ span }) => span)
      const answers = await runWithBudget(longestWaitBudget(group), () => tracedBatch(spans, () => work(key, items)))
      for (const [n, { resolve }] of group.entries()) resolve(answers[n] as O)
    } catch (error) {
      if (group.length > 1 && isRolledBack(error) && canRetryInTime(error, startedAtMs)) {
        const half = Math.ceil(group.length / 2)
        await Promise.all([processQueue(key, queue, group.slice(0, half)), processQueue(key, queue, group.slice(half))])
        return
      }
      for (const { reject } of group) reject(error)
      // In order of arrival, so the first ones have waited longest.
      while (queue.waiting[0] !== undefined && hasWaitedTooLong(error, queue.waiting[0].sinceMs)) {
        queue.waiting.shift()?.reject(error)
      }
    }
  }

  const add = (key: string, item: I, waitBudget: WaitBudget | null): Promise<O> =>
    new Promise((resolve, reject) => {
      const queue = queues.get(key) ?? { running: 0, waiting: [] }
      queues.set(key, queue)
      queue.waiting.push({ item, sinceMs: performance.now(), span: currentContext().span, waitBudget, resolve, reject })
      if (queue.running < maxGroups) void run(key, queue)
    })
  return (key: string, item: I): Promise<O> => {
    const { waitBudget } = currentContext()
    return waitBudget === null ? add(key, item, null) : waitBudget.during(add(key, item, waitBudget))
  }
}

/** Returns the wait budget of the item that has waited longest; the whole group uses it. */
function longestWaitBudget(group: readonly { waitBudget: WaitBudget | null }[]): WaitBudget | null {
  const nowMs = performance.now()
  let longest: WaitBudget | null = null
  for (const { waitBudget } of group) {
    if (waitBudget !== null && waitBudget.ms(nowMs) >= (longest?.ms(nowMs) ?? 0)) longest = waitBudget
  }
  return longest
}

interface CoalesceOptions<T> {
  /** Time that the first item of an idle key waits for others; default 0. */
  delayMs?: number
  /** Pause of a key after each run; default 0. */
  minPauseMs?: number
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
export function coalesce<T>({ delayMs = 0, minPauseMs = 0, work, onError }: CoalesceOptions<T>): Coalescer<T> {
  const queues = new Map<string, Set<T>>()
  const backgroundTasks = createBackgroundTasks()
  const closing = new AbortController()
  const pause = (ms: number): Promise<void> =>
    timers.setTimeout(ms, undefined, { ref: false, signal: closing.signal }).catch(() => {})
  const processQueue = async (key: string, queue: Set<T>): Promise<void> => {
    if (delayMs > 0) await pause(delayMs)
    while (queue.size > 0 && !closing.signal.aborted) {
      const items = [...queue]
      queue.clear()
      try {
        await work(key, items)
      } catch (error) {
        onError(error, key)
      }
      if (minPauseMs > 0) await pause(minPauseMs)
    }
    // In the same tick as the check of `queue.size`, so that no item is lost in between.
    queues.delete(key)
  }

  return {
    add: (key, item) => {
      if (closing.signal.aborted) return
      const queue = queues.get(key)
      if (queue !== undefined) {
        queue.add(item)
        return
      }
      const firstItems = new Set([item])
      queues.set(key, firstItems)
      backgroundTasks.run(
        () => processQueue(key, firstItems),
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
  const callByKey = singleFlightByKey(work)
  return () => callByKey('')
}

/** The same, separately for each key. */
export function singleFlightByKey<T>(work: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const flights = new Map<string, Flight<T>>()
  const start = (key: string): Promise<T> => {
    const flight: Flight<T> = { run: work(key), next: null }
    flights.set(key, flight)
    const removeFlight = () => void (flight.next === null && flights.delete(key))
    flight.run.then(removeFlight, removeFlight)
    return flight.run
  }
  const afterRun = (run: Promise<T>, key: string): Promise<T> => {
    const sinceMs = performance.now()
    const startNext = () => start(key)
    return run.then(startNext, (error) => {
      if (!hasWaitedTooLong(error, sinceMs)) return startNext()
      flights.delete(key)
      throw error
    })
  }
  return (key) => {
    const flight = flights.get(key)
    if (flight === undefined) return start(key)
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
