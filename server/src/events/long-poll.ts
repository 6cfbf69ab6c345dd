import type { EventEmitter } from 'node:events'
import { createSignal } from '../base/async/loop.ts'
import { type ApiError, tooManyRequests, unavailable } from '../base/errors.ts'
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
  /** Who waits: each may have so many waits at once. */
  keyId: string
  /** Closes when the client goes away. */
  connection: EventEmitter
}

export interface LongPollPage extends FeedPage {
  /** Whether it was there at once, or time has passed. */
  hasWaited: boolean
}

/** Requests that wait for an event. No connection to the database is held meanwhile. */
export interface LongPolls {
  page(wait: LongPoll): Promise<LongPollPage>
  /** Ends the waits of this key at once: it is to be asked anew whether it may have an answer. */
  endAllOf(keyId: string): void
  /** Ends every wait at once with what there is. */
  close(): void
}

export function createLongPolls(deps: LongPollDeps): LongPolls {
  const waitLimit = createWaitLimit('Ask without `wait`.')
  const ends = new Map<() => void, string>()

  return {
    page: async (wait) => {
      if (wait.waitMs === 0) {
        return { ...(await readPage(deps, wait.reader, wait.start, wait.limit)), hasWaited: false }
      }
      const leave = waitLimit.acquire(wait.keyId)
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
        leave()
      }
    },
    endAllOf: (keyId) => {
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
      // Before the read: news that come during it may be of something that it does not see.
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

/** Bounds how many requests wait at once: of one key, and of all. */
interface WaitLimit {
  /** Returns how to leave. Throws 429 when the key has no place left, 503 when nobody has. */
  acquire(keyId: string): () => void
}

const maxOfKey = 10
const maxOfAll = 2_000

/** `instead` says what to do while all places are taken. */
export function createWaitLimit(hint: string): WaitLimit {
  const places = createPlaces()
  const tooMany = () =>
    tooManyRequests(`This key has ${maxOfKey} requests that wait already. Let one end first.`, 1, {
      code: 'RATE_LIMITED',
    })
  const full = () => unavailable(`Too many requests wait at the moment. ${hint}`)
  return {
    acquire: (keyId) =>
      places([
        { who: keyId, most: maxOfKey, refusal: tooMany },
        { who: 'all', most: maxOfAll, refusal: full },
      ]),
  }
}

/** So many places at most for each who takes some. */
export interface PlaceLimit {
  who: string
  most: number
  refusal: () => ApiError
}

/** Counts the places that are taken: each call takes one of each of these, or throws and takes none. Returns how to leave. */
export function createPlaces(): (limits: readonly PlaceLimit[]) => () => void {
  const taken = new Map<string, number>()
  return (limits) => {
    const full = limits.find(({ who, most }) => (taken.get(who) ?? 0) >= most)
    if (full !== undefined) throw full.refusal()
    for (const { who } of limits) taken.set(who, (taken.get(who) ?? 0) + 1)
    return () => {
      for (const { who } of limits) {
        const left = (taken.get(who) ?? 1) - 1
        if (left === 0) taken.delete(who)
        else taken.set(who, left)
      }
    }
  }
}
