import pLimit, { type LimitFunction } from 'p-limit'
import type { Clock } from '../../base/clock.ts'
import { type ApiError, tooManyRequests } from '../../base/errors.ts'
import { emptyWindow, type Limiter, type SlidingWindow, takeUnits, waitMs } from './limiter.ts'

/** Lookups of missing numbers allowed per minute for masked readers: guessing five hidden digits then takes days. */
export const lookupsPerMinute = 30

/** Remaining lookups of one piece of work. */
export interface LookupBudget {
  /** Returns how many more numbers may turn out to be missing. */
  remaining(): number
  /** Call it for each missing number. */
  recordMiss(): void
  /** Returns the 429 for an exhausted budget. */
  limitError(): ApiError
}

/** Budget of a reader who sees full numbers. */
export const unlimited: LookupBudget = {
  remaining: () => Number.POSITIVE_INFINITY,
  recordMiss: () => {},
  limitError: () => limitReached(1),
}

/** Lookup limit of one reader. */
export interface LookupLimit {
  /** Runs the reader's work one at a time, so that concurrent work learns no more than sequential work. */
  spend<T>(work: (budget: LookupBudget) => Promise<T>): Promise<T>
}

/** Returns the lookup limit of a masked reader, by its key id. */
export type LookupLimitOf = (readerId: string) => LookupLimit

interface Reader {
  window: SlidingWindow
  /** Time until which the limit is exhausted by other nodes. */
  exhaustedUntilMs: number
  queue: LimitFunction
}

const slotMs = 250
const maxIdle = 1_000

/**
 * Counts exactly on each node, and shares the counts with the others: once all nodes together have exhausted the limit,
 * each node learns it with its next miss.
 */
export function createLookupLimit({ limiter, clock }: { limiter: Limiter; clock: Clock }): LookupLimitOf {
  const readers = new Map<string, Reader>()

  function readerOf(id: string): Reader {
    const known = readers.get(id)
    if (known !== undefined) return known
    if (readers.size >= maxIdle) dropIdle(readers, clock.now().getTime())
    const reader = { window: emptyWindow(), exhaustedUntilMs: 0, queue: pLimit(1) }
    readers.set(id, reader)
    return reader
  }

  async function recordMisses(id: string, reader: Reader, count: number): Promise<void> {
    const nowMs = clock.now().getTime()
    takeUnits(reader.window, nowMs, slotMs, lookupsPerMinute, count)
    // If the shared store fails, this node still has its own count.
    const taken = Array.from({ length: count }, () => limiter.take(`guesses:${id}`, lookupsPerMinute).catch(() => null))
    for (const take of await Promise.all(taken)) {
      if (take === null || take.allowed) continue
      reader.exhaustedUntilMs = Math.max(reader.exhaustedUntilMs, nowMs + take.retryAfterSeconds * 1000)
    }
  }

  return (id) => ({
    spend: (work) => {
      const reader = readerOf(id)
      return reader.queue(async () => {
        const budget = budgetOf(reader, clock)
        try {
          return await work(budget)
        } finally {
          if (budget.misses > 0) await recordMisses(id, reader, budget.misses)
        }
      })
    },
  })
}

function budgetOf(reader: Reader, clock: Clock): LookupBudget & { misses: number } {
  const nowMs = clock.now().getTime()
  // Takes no units; drops expired ones.
  takeUnits(reader.window, nowMs, slotMs, lookupsPerMinute, 0)
  const free = nowMs < reader.exhaustedUntilMs ? 0 : Math.max(0, lookupsPerMinute - reader.window.total)
  const budget = {
    misses: 0,
    remaining: () => Math.max(0, free - budget.misses),
    recordMiss: () => {
      budget.misses++
    },
    limitError: () => {
      const ownMs = waitMs(reader.window, nowMs, slotMs, lookupsPerMinute)
      return limitReached(Math.max(1, Math.ceil(Math.max(ownMs, reader.exhaustedUntilMs - nowMs) / 1000)))
    },
  }
  return budget
}

const limitReached = (seconds: number): ApiError =>
  tooManyRequests(
    `This key sees masked phones and can look up ${lookupsPerMinute} unknown numbers per minute. Try again in ${seconds} s, or use the lead's id.`,
    seconds,
    { code: 'RATE_LIMITED' },
  )

function dropIdle(readers: Map<string, Reader>, nowMs: number): void {
  for (const [id, reader] of readers) {
    takeUnits(reader.window, nowMs, slotMs, lookupsPerMinute, 0)
    if (reader.window.total === 0 && reader.queue.activeCount === 0 && reader.exhaustedUntilMs <= nowMs)
      readers.delete(id)
  }
}
