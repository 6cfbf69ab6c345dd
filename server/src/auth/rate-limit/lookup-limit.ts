import pLimit, { type LimitFunction } from 'p-limit'
import type { Clock } from '../../base/clock.ts'
import { type ApiError, tooManyRequests } from '../../base/errors.ts'
import { emptyWindow, type Limiter, takeUnits, type Window, waitMs } from './limiter.ts'

/**
 * Numbers that a reader who sees phones masked may name in a minute without their being there. Five hidden digits take
 * days of guessing then.
 */
export const lookupsPerMinute = 30

/** What is left of the minute, for one piece of work. */
export interface LookupBudget {
  /** How many more numbers may turn out to be missing. */
  left(): number
  /** Call it for each number that did. */
  note(): void
  /** The 429 of who has none left. */
  refusal(): ApiError
}

/** Of who has nothing to guess at. */
export const unlimited: LookupBudget = {
  left: () => Number.POSITIVE_INFINITY,
  note: () => {},
  refusal: () => lookupsUsed(1),
}

/** The guesses of one reader. */
export interface LookupLimit {
  /** Works while no other work of the reader does, so that many at once learn no more than one after another. */
  spend<T>(work: (budget: LookupBudget) => Promise<T>): Promise<T>
}

/** Guesses of each masked reader, by the id of its key. */
export type LookupLimitOf = (readerId: string) => LookupLimit

interface Reader {
  window: Window
  /** Other nodes have used the minute up until then. */
  closedUntilMs: number
  inTurn: LimitFunction
}

const slotMs = 250
const maxIdle = 1_000

/**
 * Each node counts exactly, and shares what it counted with the others: as soon as the minute is used up over all of them,
 * each learns so with its next miss.
 */
export function createLookupLimit({ limiter, clock }: { limiter: Limiter; clock: Clock }): LookupLimitOf {
  const readers = new Map<string, Reader>()

  function readerOf(id: string): Reader {
    const known = readers.get(id)
    if (known !== undefined) return known
    if (readers.size >= maxIdle) dropIdle(readers, clock.now().getTime())
    const reader = { window: emptyWindow(), closedUntilMs: 0, inTurn: pLimit(1) }
    readers.set(id, reader)
    return reader
  }

  async function settle(id: string, reader: Reader, count: number): Promise<void> {
    const nowMs = clock.now().getTime()
    takeUnits(reader.window, nowMs, slotMs, lookupsPerMinute, count)
    // Without the shared store this node still has its own count.
    const taken = Array.from({ length: count }, () => limiter.take(`guesses:${id}`, lookupsPerMinute).catch(() => null))
    for (const take of await Promise.all(taken)) {
      if (take === null || take.allowed) continue
      reader.closedUntilMs = Math.max(reader.closedUntilMs, nowMs + take.retryAfterSeconds * 1000)
    }
  }

  return (id) => ({
    spend: (work) => {
      const reader = readerOf(id)
      return reader.inTurn(async () => {
        const budget = budgetOf(reader, clock)
        try {
          return await work(budget)
        } finally {
          if (budget.noted > 0) await settle(id, reader, budget.noted)
        }
      })
    },
  })
}

function budgetOf(reader: Reader, clock: Clock): LookupBudget & { noted: number } {
  const nowMs = clock.now().getTime()
  // Takes nothing: it only lets go of what has lapsed.
  takeUnits(reader.window, nowMs, slotMs, lookupsPerMinute, 0)
  const free = nowMs < reader.closedUntilMs ? 0 : Math.max(0, lookupsPerMinute - reader.window.total)
  const budget = {
    noted: 0,
    left: () => Math.max(0, free - budget.noted),
    note: () => {
      budget.noted++
    },
    refusal: () => {
      const ownMs = waitMs(reader.window, nowMs, slotMs, lookupsPerMinute)
      return lookupsUsed(Math.max(1, Math.ceil(Math.max(ownMs, reader.closedUntilMs - nowMs) / 1000)))
    },
  }
  return budget
}

const lookupsUsed = (seconds: number): ApiError =>
  tooManyRequests(
    `This key sees phones masked: it may name ${lookupsPerMinute} numbers a minute that are not there. Try again in ${seconds} s, or name the lead by its id.`,
    seconds,
    { code: 'RATE_LIMITED' },
  )

function dropIdle(readers: Map<string, Reader>, nowMs: number): void {
  for (const [id, reader] of readers) {
    takeUnits(reader.window, nowMs, slotMs, lookupsPerMinute, 0)
    if (reader.window.total === 0 && reader.inTurn.activeCount === 0 && reader.closedUntilMs <= nowMs)
      readers.delete(id)
  }
}
