import { type Caller, type CallOptions, retryForever } from './call.ts'
import type { ListEventsAnswer, ListEventsQuery, ParleyEvent } from './types.ts'

export type EventName = ParleyEvent['event']

/** Where a follower keeps how far it has come: a file, a row. */
export interface CursorStore {
  load(): Promise<string | undefined>
  /** Called once everything before the cursor has been dealt with. */
  save(cursor: string): Promise<void>
}

export interface FollowOptions {
  /** Where to begin when the store has nothing: a cursor, or `latest` for what comes from now on. Default: the oldest that is kept. */
  after?: string | undefined
  /** Only these. */
  events?: readonly (EventName | 'lead.*' | 'inbox.*')[] | undefined
  store?: CursorStore | undefined
  /** How long one request waits for news. Default: 25, at most 30. */
  waitSeconds?: number | undefined
  /** Ends it; the reason is thrown. */
  signal?: AbortSignal | undefined
}

export interface EventPage {
  /** The oldest first. */
  events: ParleyEvent[]
  /** Stored once they are dealt with, it is where to go on. */
  cursor: string
}

const path = 'api/v1/events'
// The wait ends on the service's side, or something is wrong in between.
const graceMs = 15_000

/** Everything that changes, in order. */
export class Events {
  readonly #call: Caller

  constructor(call: Caller) {
    this.#call = call
  }

  /** One answer of the feed, as it is. */
  read(query: ListEventsQuery = {}, options?: CallOptions): Promise<ListEventsAnswer> {
    const timeoutMs = (query.wait ?? 0) * 1000 + graceMs
    return this.#call({ method: 'GET', path, query, isRepeatable: true, timeoutMs }, options)
  }

  /**
   * Events as they come, for as long as you ask: the service may be away meanwhile. With a store it goes on where it was, and what was
   * not dealt with when the program ended comes again: act on each `id` once.
   */
  async *follow(options: FollowOptions = {}): AsyncGenerator<ParleyEvent, void, undefined> {
    for await (const { events } of this.pages(options)) yield* events
  }

  /** The same in pages. Asking for the next one says that this one has been dealt with. */
  async *pages(options: FollowOptions = {}): AsyncGenerator<EventPage, void, undefined> {
    const { store, signal } = options
    const events = options.events?.join(',')
    let after = (await store?.load()) ?? options.after
    let wait = 0
    for (;;) {
      const query: ListEventsQuery = { wait, limit: 100 }
      if (after !== undefined) query.after = after
      if (events !== undefined) query.events = events
      const page = await this.read(query, { ...retryForever, signal })
      if (page.events.length > 0) yield { events: page.events, cursor: page.next_cursor }
      if (page.next_cursor !== after) await store?.save(page.next_cursor)
      after = page.next_cursor
      wait = page.has_more ? 0 : (options.waitSeconds ?? 25)
    }
  }
}
