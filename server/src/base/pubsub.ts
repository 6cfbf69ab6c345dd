import { randomUUID } from 'node:crypto'
import { coalesce } from './async/batch.ts'
import type { Clock } from './clock.ts'
import type { Db, PubSubMessage } from './db.ts'

/** Tells workers whether there is work, so that they need not query the database every second. */
export interface DueWatch {
  /** Queries the database after a message, at the due time, and periodically, because messages can be lost. */
  isDue(): Promise<boolean>
  /** Makes the next call query the database. */
  checkAgain(): void
}

interface DueWatchOptions {
  /**
   * Returns when the first work is due by this process's clock; null if there is none. May be too early, never too
   * late.
   */
  nextAt(now: Date): Promise<Date | null>
  /** Interval of queries without messages. Work that becomes due later than this after its write needs none. */
  pollEveryMs: number
  /** Minimum pause before a message causes another query; default 0. */
  minPauseMs?: number
  watchedTopics?: readonly WatchedTopic[]
}

interface WatchedTopic {
  topic: string
  /** Filters the messages that can mean new work; all unless set. */
  isRelevant?: (id: string) => boolean
}

/** Reports due work until none is left; the caller does it, or leaves it to others. */
export function watchDueWork(
  { db, clock }: { db: Pick<Db, 'subscribe' | 'onReconnect' | 'isListening'>; clock: Clock },
  { nextAt, pollEveryMs, minPauseMs = 0, watchedTopics = [] }: DueWatchOptions,
): DueWatch {
  let checkedAtMs = Number.NEGATIVE_INFINITY
  let checkAtMs = Number.NEGATIVE_INFINITY
  let hasMessage = false
  const checkAgain = () => {
    checkAtMs = Number.NEGATIVE_INFINITY
    hasMessage = true
  }
  const onMessage = () => {
    checkAtMs = Math.min(checkAtMs, checkedAtMs + minPauseMs)
    hasMessage = true
  }
  for (const { topic, isRelevant } of watchedTopics) {
    db.subscribe(topic, (id) => {
      if (isRelevant === undefined || isRelevant(id)) onMessage()
    })
  }
  db.onReconnect(checkAgain)
  return {
    checkAgain,
    isDue: async () => {
      const now = clock.now()
      const nowMs = now.getTime()
      // A clock that was set back must not block queries, and without the LISTEN connection every call queries.
      const isBeforeNextCheck = nowMs >= checkedAtMs && nowMs < checkAtMs
      if (db.isListening() && isBeforeNextCheck) return false
      checkedAtMs = nowMs
      // Applies until the query has answered, and while work is due.
      checkAtMs = Number.NEGATIVE_INFINITY
      hasMessage = false
      const dueAtMs = (await nextAt(now))?.getTime() ?? Number.POSITIVE_INFINITY
      if (dueAtMs <= nowMs) return true
      // A message that arrived during the query may be missing from its answer.
      const nextMs = hasMessage ? nowMs + minPauseMs : nowMs + pollEveryMs
      checkAtMs = Math.min(dueAtMs, nextMs)
      return false
    },
  }
}

/** Ids that changed, for workers that act on messages although messages can be lost. */
export interface ChangedIds {
  /** Returns each changed id since the last call once; null if all must be checked, because messages may be missing. */
  take(): string[] | null
  /** Whether there is anything to check. */
  hasAny(): boolean
  /** Makes the next call return null: the last ids were not fully processed. */
  takeAllNext(): void
}

interface ChangedIdsOptions {
  topics: readonly string[]
  /** Interval at which all are checked, regardless of messages. */
  allEveryMs: number
}

/** Above this number all are checked. */
const maxIds = 10_000

/** Collects the ids from messages of these topics. Starts with all, as it does after a lost LISTEN connection. */
export function collectChangedIds(
  { db, clock }: { db: Pick<Db, 'subscribe' | 'onReconnect' | 'isListening'>; clock: Clock },
  { topics, allEveryMs }: ChangedIdsOptions,
): ChangedIds {
  const ids = new Set<string>()
  let allAtMs = Number.NEGATIVE_INFINITY
  const takeAllNext = () => {
    ids.clear()
    allAtMs = Number.NEGATIVE_INFINITY
  }
  const onMessage = (id: string) => {
    ids.add(id)
    if (ids.size > maxIds) takeAllNext()
  }
  for (const topic of topics) db.subscribe(topic, onMessage)
  db.onReconnect(takeAllNext)
  const isAll = (nowMs: number): boolean => {
    // A clock that was set back must not block checks.
    const isRecent = nowMs >= allAtMs && nowMs < allAtMs + allEveryMs
    return !db.isListening() || !isRecent
  }
  return {
    takeAllNext,
    hasAny: () => ids.size > 0 || isAll(clock.now().getTime()),
    take: () => {
      const changedIds = [...ids]
      ids.clear()
      const nowMs = clock.now().getTime()
      if (!isAll(nowMs)) return changedIds
      allAtMs = nowMs
      return null
    },
  }
}

const channel = 'parley_news'
/** Messages within this time share a `notify`, which makes commits wait for each other. */
const delayMs = 15
/** PostgreSQL limits a payload to less than 8,000 bytes. */
const maxBytes = 7_999

/** Relays messages between processes; returns a function that stops it. Messages may be lost: subscribers also poll. */
export async function relayMessages(db: Db, onError: (error: unknown) => void): Promise<() => void> {
  const self = randomUUID()
  const outbox = coalesce<PubSubMessage>({
    delayMs,
    // Not awaited: a slow answer would delay the next messages.
    work: (_, items) => {
      const unique = new Map(items.map((message) => [`${message.topic} ${message.id}`, message]))
      for (const payload of packMessages(self, [...unique.values()])) {
        db.sql`select pg_notify(${channel}, ${payload})`.catch(onError)
      }
    },
    onError,
  })
  const stop = db.onPublish((message) => outbox.add(channel, message))
  await db.listen(channel, (payload) => {
    const { from, news: messages } = JSON.parse(payload) as NotifyPayload
    if (from !== self) for (const message of messages) db.deliver(message)
  })
  return () => {
    stop()
    void outbox.close()
  }
}

interface NotifyPayload {
  from: string
  news: readonly PubSubMessage[]
}

/** Packs messages into as few payloads as possible. Drops one that is too long by itself; subscribers also poll. */
export function packMessages(from: string, items: readonly PubSubMessage[]): string[] {
  const overhead = bytesOf(payloadOf(from, []))
  const payloads: string[] = []
  let messages: PubSubMessage[] = []
  let bytes = overhead
  for (const item of items) {
    // One more for the comma.
    const itemBytes = bytesOf(JSON.stringify(item)) + 1
    if (overhead + itemBytes > maxBytes) continue
    if (bytes + itemBytes > maxBytes) {
      payloads.push(payloadOf(from, messages))
      messages = []
      bytes = overhead
    }
    messages.push(item)
    bytes += itemBytes
  }
  return messages.length === 0 ? payloads : [...payloads, payloadOf(from, messages)]
}

const payloadOf = (from: string, messages: readonly PubSubMessage[]) =>
  JSON.stringify({ from, news: messages } satisfies NotifyPayload)
const bytesOf = (text: string) => Buffer.byteLength(text)
