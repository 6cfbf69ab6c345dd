import { createClient } from '@redis/client'
import type { Clock } from '../../base/clock.ts'
import { type Limiter, refused, type Take, taken } from './limiter.ts'
import { createMemoryLimiter } from './rate-limit-memory.ts'
import { type Counted, countScript, slotsHeld } from './rate-limit-redis-script.ts'

const slotMs = 250
const answerWithinMs = 250
const pauseMs = 1000

export interface RedisLimiterOptions {
  url: string
  clock: Clock
  log: { warn(fields: object, message: string): void; info(fields: object, message: string): void }
}

/**
 * Counts over all nodes that share a Redis, by the time of Redis. While it is away each node counts for itself, so
 * that nodes together may accept up to the limit each; requests never fail for it, and it is tried again by itself.
 */
export function createRedisLimiter({ url, clock, log }: RedisLimiterOptions): Limiter {
  // Always counts along: it refuses without a round trip, and it knows this node's share when Redis goes away.
  const local = createMemoryLimiter(clock)
  const client = makeClient(url)
  let pausedUntilMs = 0
  let away = false
  // Requests that come before the first connection stands or fails say nothing about Redis.
  let tried = false
  for (const outcome of ['ready', 'error']) {
    client.on(outcome, () => {
      tried = true
    })
  }
  client.connect().catch(() => {})

  async function count(key: string, limit: number): Promise<Counted | null> {
    if (!client.isReady || clock.now().getTime() < pausedUntilMs) return null
    const question = client.count(`parley:limit:${key}`, limit, slotMs, slotsHeld(slotMs))
    const counted = await answerInTime(question)
    // A Redis that is slow is as bad as none: the next requests do not wait for it as well.
    if (counted === null) pausedUntilMs = clock.now().getTime() + pauseMs
    return counted
  }

  function noteAway(isAway: boolean): void {
    if (isAway === away || !tried) return
    away = isAway
    if (away) log.warn({}, 'Redis is away: this node counts requests on its own until it is back')
    else log.info({}, 'Redis is back: requests are counted over all nodes again')
  }

  async function take(key: string, limit: number): Promise<Take> {
    const refusal = local.refusal(key, limit)
    if (refusal !== null) return refusal
    const counted = await count(key, limit)
    noteAway(counted === null)
    if (counted !== null && !counted.allowed) return refused(limit, counted.waitMs)
    const own = local.takeNow(key, limit)
    return counted === null || !own.allowed ? own : taken(limit, counted.total, counted.waitMs)
  }

  return {
    take,
    close: async () => {
      if (client.isOpen) client.destroy()
    },
  }
}

function makeClient(url: string) {
  const client = createClient({
    url,
    scripts: { count: countScript },
    disableOfflineQueue: true,
    // Together they notice a connection that has gone silent without being closed.
    pingInterval: 2000,
    socket: {
      connectTimeout: 2000,
      socketTimeout: 5000,
      reconnectStrategy: (retries) => Math.min(50 * 2 ** retries, 2000),
    },
  })
  return client
}

/** Null for an answer that failed or came too late; a late one counts there, which only errs on the safe side. */
function answerInTime<T>(question: Promise<T>): Promise<T | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, answerWithinMs, null)
    question.then(
      (answer) => {
        clearTimeout(timer)
        resolve(answer)
      },
      () => {
        clearTimeout(timer)
        resolve(null)
      },
    )
  })
}
