import { randomUUID } from 'node:crypto'
import { coalesce } from './async/batch.ts'
import type { Clock } from './clock.ts'
import type { Db, PubSubMessage } from './db.ts'

/** Whether there is something to do now, for those who else would ask the database each second. */
export interface DueWatch {
  /** Asks the database after news, at the time that it has told, and now and then: they may have been lost. */
  isDue(): Promise<boolean>
  /** Has the next call ask. */
  checkAgain(): void
}

interface DueWatchOptions {
  /**
   * When the first of what is to be done is due, by the clock of this process; null when there is nothing. It may answer too
   * early, and never too late.
   */
  nextAt(now: Date): Promise<Date | null>
  /** How often it is asked whatever was heard. What comes due later than this after it was written needs no news. */
  pollEveryMs: number
  /** How long it is not asked again for the sake of news; not at all unless given. */
  minPauseMs?: number
  watchedTopics?: readonly WatchedTopic[]
}

interface WatchedTopic {
  topic: string
  /** Of which news there may be something due; of all unless given. */
  isRelevant?: (id: string) => boolean
}

/** It says that something is due for as long as it finds so: who is told of it does it, or leaves it to others. */
export function watchDue(
  { db, clock }: { db: Pick<Db, 'subscribe' | 'onReconnect' | 'isListening'>; clock: Clock },
  { nextAt, pollEveryMs, minPauseMs = 0, watchedTopics = [] }: DueWatchOptions,
): DueWatch {
  let askedAtMs = Number.NEGATIVE_INFINITY
  let askAtMs = Number.NEGATIVE_INFINITY
  let hasHeard = false
  const checkAgain = () => {
    askAtMs = Number.NEGATIVE_INFINITY
    hasHeard = true
  }
  const hear = () => {
    askAtMs = Math.min(askAtMs, askedAtMs + minPauseMs)
    hasHeard = true
  }
  for (const { topic, isRelevant } of watchedTopics) {
    db.subscribe(topic, (id) => {
      if (isRelevant === undefined || isRelevant(id)) hear()
    })
  }
  db.onReconnect(checkAgain)
  return {
    checkAgain,
    isDue: async () => {
      const now = clock.now()
      const nowMs = now.getTime()
      // A clock that was set back must not keep anybody from asking, and who is deaf asks each time.
      const isTooSoon = nowMs >= askedAtMs && nowMs < askAtMs
      if (db.isListening() && isTooSoon) return false
      askedAtMs = nowMs
      // Until it has answered, and while something is due.
      askAtMs = Number.NEGATIVE_INFINITY
      hasHeard = false
      const dueAtMs = (await nextAt(now))?.getTime() ?? Number.POSITIVE_INFINITY
      if (dueAtMs <= nowMs) return true
      // What was announced meanwhile may have been too late for the answer.
      const nextMs = hasHeard ? nowMs + minPauseMs : nowMs + pollEveryMs
      askAtMs = Math.min(dueAtMs, nextMs)
      return false
    },
  }
}

/** What is to be looked at, by those who act on news and know that news may be lost. */
export interface ChangedIds {
  /** What was told of since the last call, each once; null when all is to be looked at, since some may not have been told. */
  take(): string[] | null
  /** Whether there is anything to look at. */
  hasAny(): boolean
  /** Has the next call answer with all: what was taken was not looked at to its end. */
  takeAllNext(): void
}

interface ChangedIdsOptions {
  topics: readonly string[]
  /** How often all is looked at, whatever was heard. */
  allEveryMs: number
}

/** More are not worth being told apart. */
const maxIds = 10_000

/** Gathers the ids that news of these topics are about. All is to be looked at first, and after the process was deaf. */
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
  const hear = (id: string) => {
    ids.add(id)
    if (ids.size > maxIds) takeAllNext()
  }
  for (const topic of topics) db.subscribe(topic, hear)
  db.onReconnect(takeAllNext)
  const isAll = (nowMs: number): boolean => {
    // A clock that was set back must not keep anybody from looking.
    const isRecent = nowMs >= allAtMs && nowMs < allAtMs + allEveryMs
    return !db.isListening() || !isRecent
  }
  return {
    takeAllNext,
    hasAny: () => ids.size > 0 || isAll(clock.now().getTime()),
    take: () => {
      const heard = [...ids]
      ids.clear()
      const nowMs = clock.now().getTime()
      if (!isAll(nowMs)) return heard
      allAtMs = nowMs
      return null
    },
  }
}

const channel = 'parley_news'
/** News of this long are told together: a `notify` makes commits wait for each other. */
const gatherMs = 15
/** A notification holds fewer than 8,000 bytes. */
const maxBytes = 7_999

/**
 * Tells other processes what commits of this one announce, and listens for theirs. Returns how to stop. Lost news are no
 * loss: whoever listens also looks by itself from time to time.
 */
export async function relayMessages(db: Db, onError: (error: unknown) => void): Promise<() => void> {
  const self = randomUUID()
  const telling = coalesce<PubSubMessage>({
    gatherMs,
    // The next do not wait for these: a slow answer would make them late as well.
    work: (_, items) => {
      const once = new Map(items.map((news) => [`${news.topic} ${news.id}`, news]))
      for (const payload of pack(self, [...once.values()])) {
        db.sql`select pg_notify(${channel}, ${payload})`.catch(onError)
      }
    },
    onError,
  })
  const stop = db.onPublish((news) => telling.add(channel, news))
  await db.listen(channel, (payload) => {
    const { from, news } = JSON.parse(payload) as NotifyPayload
    if (from !== self) for (const item of news) db.deliver(item)
  })
  return () => {
    stop()
    void telling.close()
  }
}

interface NotifyPayload {
  from: string
  news: readonly PubSubMessage[]
}

/** As few notifications as hold them all. What is too long for one by itself is left out: whoever listens also looks. */
export function pack(from: string, items: readonly PubSubMessage[]): string[] {
  const frame = bytesOf(payloadOf(from, []))
  const payloads: string[] = []
  let news: PubSubMessage[] = []
  let bytes = frame
  for (const item of items) {
    // One more for the comma.
    const more = bytesOf(JSON.stringify(item)) + 1
    if (frame + more > maxBytes) continue
    if (bytes + more > maxBytes) {
      payloads.push(payloadOf(from, news))
      news = []
      bytes = frame
    }
    news.push(item)
    bytes += more
  }
  return news.length === 0 ? payloads : [...payloads, payloadOf(from, news)]
}

const payloadOf = (from: string, news: readonly PubSubMessage[]) =>
  JSON.stringify({ from, news } satisfies NotifyPayload)
const bytesOf = (text: string) => Buffer.byteLength(text)
