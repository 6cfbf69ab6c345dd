import timers from 'node:timers/promises'
import { canRetryInTime, hasWaitedTooLong } from '../postgres/retry-rules.ts'
import { currentContext, runWithBudget, tracedBatch, type WaitBudget } from '../scheduling/work-context.ts'
import type { Span } from '../tracing/span.ts'

interface Batching<I, O> {
  /** How many groups of one key are under way at most: one that is held up must not hold up all the others. */
  groups: number
  /** How many items one group holds at most. */
  groupSize: number
  /** Does all of a group or nothing, and returns what came of each item, in their order. */
  work(key: string, items: readonly I[]): Promise<readonly O[]>
  /** Whether a failure left nothing behind, so that the items may be tried again. */
  isRolledBack(error: unknown): boolean
}

interface Queued<I, O> {
  item: I
  sinceMs: number
  span: Span | null
  /** Of whoever waits for it. */
  waits: WaitBudget | null
  resolve(answer: O): void
  reject(error: unknown): void
}

interface BatchQueue<I, O> {
  running: number
  waiting: Queued<I, O>[]
}

/**
 * Lets items of one key go together when they come faster than they are done: who finds nobody under way goes at once,
 * who comes meanwhile waits and goes with the others. A group that fails is halved and tried again, so that nobody
 * fails because of a neighbour; but nobody waits for long where it is the database that is away.
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
      // In the order in which they came.
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

/** What a group asks is asked for all of it: for whoever has waited for longest. */
function waitsOf(group: readonly { waits: WaitBudget | null }[]): WaitBudget | null {
  const nowMs = performance.now()
  let longest: WaitBudget | null = null
  for (const { waits } of group) {
    if (waits !== null && waits.ms(nowMs) >= (longest?.ms(nowMs) ?? 0)) longest = waits
  }
  return longest
}

interface Coalescing<T> {
  /** How long the first item of an idle key waits for others; it goes at once unless given. */
  gatherMs?: number
  /** How long a key rests after each run; not at all unless given. */
  restMs?: number
  /** Gets what was added since its last run for the key began, each item once, in the order in which they came. */
  work(key: string, items: readonly T[]): unknown
  /** Gets what `work` throws or rejects with; the key goes on with what was added meanwhile. */
  onError(error: unknown, key: string): void
}

interface Coalescer<T> {
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
 * A function whose calls share runs of `work`. A call never shares a run that had begun before it, since that one may
 * have looked too early: whoever calls during a run shares the next one, which begins when this one ends. Runs do not
 * overlap. A run that fails rejects for those who shared it, and for nobody else, unless they have waited for long and it is
 * the database that is away.
 */
export function singleFlight<T>(work: () => Promise<T>): () => Promise<T> {
  const ask = singleFlightByKey(work)
  return () => ask('')
}

/** The same for each key by itself. */
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
  /** Begins when `run` has ended; null while nobody has asked for it. */
  next: Promise<T> | null
}

/** Work that nobody waits for, but that has to be over before what it stands on is closed. */
interface BackgroundTasks {
  /** Begins it, unless `close` was called. */
  run(work: () => Promise<unknown>, onError: (error: unknown) => void): void
  /** Begins no more, and resolves once what has begun is over. */
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
