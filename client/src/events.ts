import { type Caller, type CallOptions, retryForever } from './call.ts'
import type { ListEventsAnswer, ListEventsQuery, ParleyEvent } from './types.ts'

export type EventName = ParleyEvent['event']

/** Stores the position of a follower, such as in a file or a database row. */
export interface CursorStore {
  load(): Promise<string | undefined>
  /** Called after all events before the cursor were processed. */
  save(cursor: string): Promise<void>
}

export interface FollowOptions {
  /** Start with an empty store: a cursor, or `latest` for new events. Default: the oldest kept event. */
  after?: string | undefined
  /** Event names or groups to return. */
  events?: readonly (EventName | 'lead.*' | 'inbox.*')[] | undefined
  store?: CursorStore | undefined
  /** Seconds that one request waits for events. Default: 25, maximum: 30. */
  waitSeconds?: number | undefined
  /** Ends the loop; its reason is thrown. */
  signal?: AbortSignal | undefined
}

export interface EventPage {
  /** Oldest first. */
  events: ParleyEvent[]
  /** Store it after you have processed the events, to resume from there. */
  cursor: string
}

const path = 'api/v1/events'
// Extra time on top of the wait, which ends on the server.
const graceMs = 15_000

/** The event feed: all changes, in order. */
export class Events {
  readonly #call: Caller

  constructor(call: Caller) {
    this.#call = call
  }

  /** Returns one page of the feed. */
  read(query: ListEventsQuery = {}, options?: CallOptions): Promise<ListEventsAnswer> {
    const timeoutMs = (query.wait ?? 0) * 1000 + graceMs
    return this.#call({ method: 'GET', path, query, isRepeatable: true, timeoutMs }, options)
  }

  /**
   * Yields events until you stop; retries while the service is unavailable. With a store it resumes from the stored
   * position, and yields events again that were not processed when the program ended: process each `id` once.
   */
  async *follow(options: FollowOptions = {}): AsyncGenerator<ParleyEvent, void, undefined> {
    for await (const { events } of this.pages(options)) yield* events
  }

  /** Yields pages of events. Requesting the next page confirms that this one was processed. */
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
