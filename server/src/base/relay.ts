import { randomUUID } from 'node:crypto'
import type { Db, News } from './db.ts'

const channel = 'parley_news'
/** News of this long are told together: a `notify` makes commits wait for each other. */
const gatherMs = 15
/** A notification holds 8,000 bytes at most. */
const maxItems = 60

/**
 * Tells other processes what commits of this one announce, and hears theirs. Answers how to stop. Lost news are no
 * loss: whoever listens also looks by itself from time to time.
 */
export async function relayNews(db: Db, onError: (error: unknown) => void): Promise<() => void> {
  const self = randomUUID()
  const waiting = new Map<string, News>()
  let timer: NodeJS.Timeout | undefined

  const send = () => {
    timer = undefined
    const items = [...waiting.values()]
    waiting.clear()
    for (let start = 0; start < items.length; start += maxItems) {
      const payload = JSON.stringify({ from: self, news: items.slice(start, start + maxItems) })
      db.sql`select pg_notify(${channel}, ${payload})`.catch(onError)
    }
  }
  const stop = db.onOwnNews((news) => {
    waiting.set(`${news.topic} ${news.id}`, news)
    timer ??= setTimeout(send, gatherMs).unref()
  })
  await db.listen(channel, (payload) => {
    const { from, news } = JSON.parse(payload) as { from: string; news: News[] }
    if (from !== self) for (const item of news) db.hear(item)
  })
  return () => {
    stop()
    clearTimeout(timer)
  }
}
