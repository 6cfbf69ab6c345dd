import type { EventEmitter } from 'node:events'
import { createSignal } from '../base/async/loop.ts'
import { createSlotCounter } from '../base/async/slots.ts'
import { tooManyRequests, unavailable } from '../base/errors.ts'
import type { FeedWatch } from './feed-watch.ts'
import { type FeedDeps, type FeedPage, type FeedReader, type FeedStart, readPage } from './read-page.ts'

export interface LongPollDeps extends FeedDeps {
  watch: FeedWatch
}

export interface LongPoll {
  reader: FeedReader
  start: FeedStart
  limit: number
  waitMs: number
  /** Each key has a limit of concurrent waits. */
  keyId: string
  /** Emits `close` when the client disconnects. */
  connection: EventEmitter
}

export interface LongPollPage extends FeedPage {
  /** Whether the request has waited, so that access must be checked again. */
  hasWaited: boolean
}

/** Requests that wait for an event. They hold no database connection while they wait. */
export interface LongPolls {
  page(wait: LongPoll): Promise<LongPollPage>
  /** Ends the waits of this key, so that its access is checked again. */
  endWaitsOf(keyId: string): void
  /** Ends all waits at once with the current results. */
  close(): void
}

export function createLongPolls(deps: LongPollDeps): LongPolls {
  const acquireWait = createWaitLimit('Send the request without `wait`.')
  const ends = new Map<() => void, string>()

  return {
    page: async (wait) => {
      if (wait.waitMs === 0) {
        return { ...(await readPage(deps, wait.reader, wait.start, wait.limit)), hasWaited: false }
      }
      const release = acquireWait(wait.keyId)
      const end = Promise.withResolvers<void>()
      const timer = setTimeout(end.resolve, wait.waitMs)
      wait.connection.once('close', end.resolve)
      ends.set(end.resolve, wait.keyId)
      try {
        return await waitForPage(deps, wait, end.promise)
      } finally {
        ends.delete(end.resolve)
        wait.connection.off('close', end.resolve)
        clearTimeout(timer)
        release()
      }
    },
    endWaitsOf: (keyId) => {
      for (const [end, waiting] of ends) if (waiting === keyId) end()
    },
    close: () => {
      for (const end of ends.keys()) end()
    },
  }
}

async function waitForPage(
  deps: LongPollDeps,
  { reader, start, limit }: LongPoll,
  end: Promise<void>,
): Promise<LongPollPage> {
  let isOver = false
  end.then(() => {
    isOver = true
  })
  const newEvents = createSignal()
  let from = start
  const stop = deps.watch.add({
    workspaceId: reader.workspaceId,
    position: () => (typeof from === 'number' ? from : Number.POSITIVE_INFINITY),
    wake: newEvents.wake,
  })
  try {
    for (let hasWaited = false; ; hasWaited = true) {
      // Subscribes before the read: a wake during it can be for an event that the read does not see.
      const woken = newEvents.next()
      const page = await readPage(deps, reader, from, limit)
      if (page.events.length > 0 || page.hasMore || isOver) return { ...page, hasWaited: hasWaited || isOver }
      from = page.position
      await Promise.race([woken, end])
      if (isOver) return { ...page, hasWaited: true }
    }
  } finally {
    stop()
  }
}

const maxOfKey = 10
const maxOfAll = 2_000

/**
 * Limits waiting requests, per key and in total. Returns a function that acquires a slot of a key and returns its
 * release; throws 429 at the limit of the key, and at the total limit 503 with `hint`, which tells clients what to do.
 */
export function createWaitLimit(hint: string): (keyId: string) => () => void {
  const acquireSlots = createSlotCounter()
  const tooMany = () =>
    tooManyRequests(`This key has ${maxOfKey} waiting requests, the maximum. Wait for one to end.`, 1, {
      code: 'RATE_LIMITED',
    })
  const full = () => unavailable(`Too many waiting requests. ${hint}`)
  return (keyId) =>
    acquireSlots([
      { who: keyId, most: maxOfKey, refusal: tooMany },
      { who: 'all', most: maxOfAll, refusal: full },
    ])
}
