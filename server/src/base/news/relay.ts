import { randomUUID } from 'node:crypto'
import { coalesce } from '../async/coalesce.ts'
import type { Db, News } from '../db.ts'

const channel = 'parley_news'
/** News of this long are told together: a `notify` makes commits wait for each other. */
const gatherMs = 15
/** A notification holds fewer than 8,000 bytes. */
const maxBytes = 7_999

/**
 * Tells other processes what commits of this one announce, and listens for theirs. Returns how to stop. Lost news are no
 * loss: whoever listens also looks by itself from time to time.
 */
export async function relayNews(db: Db, onError: (error: unknown) => void): Promise<() => void> {
  const self = randomUUID()
  const telling = coalesce<News>({
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
  const stop = db.onOwnNews((news) => telling.add(channel, news))
  await db.listen(channel, (payload) => {
    const { from, news } = JSON.parse(payload) as Notice
    if (from !== self) for (const item of news) db.hear(item)
  })
  return () => {
    stop()
    void telling.close()
  }
}

interface Notice {
  from: string
  news: readonly News[]
}

/** As few notifications as hold them all. What is too long for one by itself is left out: whoever listens also looks. */
export function pack(from: string, items: readonly News[]): string[] {
  const frame = bytesOf(payloadOf(from, []))
  const payloads: string[] = []
  let news: News[] = []
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

const payloadOf = (from: string, news: readonly News[]) => JSON.stringify({ from, news } satisfies Notice)
const bytesOf = (text: string) => Buffer.byteLength(text)
