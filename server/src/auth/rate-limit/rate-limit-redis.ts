import { createClient, defineScript } from '@redis/client'
import { withTimeout } from '../../base/async/loop.ts'
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import {
  allowedResult,
  createMemoryLimiter,
  type Limiter,
  type RateLimitResult,
  refusedResult,
  slotsHeld,
} from './limiter.ts'

const slotMs = 250
const answerWithinMs = 250
const pauseMs = 1000

export interface RedisLimiterOptions {
  url: string
  clock: Clock
  log: Pick<Log, 'warn' | 'info'>
}

/**
 * Counts over all nodes that share a Redis, by the clock of Redis. While Redis is unavailable each node counts for
 * itself, so every node may accept up to the limit. Requests never fail because of Redis; it reconnects automatically.
 */
export function createRedisLimiter({ url, clock, log }: RedisLimiterOptions): Limiter {
  // Always counts too: it refuses without a round trip, and knows this node's share when Redis becomes unavailable.
  const local = createMemoryLimiter(clock)
  const client = makeClient(url)
  let pausedUntilMs = 0
  let isUnavailable = false
  // Requests before the first connection succeeds or fails say nothing about Redis.
  let hasTriedToConnect = false
  for (const outcome of ['ready', 'error']) {
    client.on(outcome, () => {
      hasTriedToConnect = true
    })
  }
  client.connect().catch(() => {})

  async function count(key: string, limit: number): Promise<Counted | null> {
    if (!client.isReady || clock.now().getTime() < pausedUntilMs) return null
    const sendCount = () => client.count(`parley:limit:${key}`, limit, slotMs, slotsHeld(slotMs))
    // A late response still counts in Redis, which only makes the limit stricter.
    const counted = await withTimeout(answerWithinMs, sendCount).catch(() => null)
    // A slow Redis counts as unavailable: the next requests do not wait for it.
    if (counted === null) pausedUntilMs = clock.now().getTime() + pauseMs
    return counted
  }

  function reportAvailability(unavailable: boolean): void {
    if (unavailable === isUnavailable || !hasTriedToConnect) return
    isUnavailable = unavailable
    if (isUnavailable) log.warn('Redis unavailable; counting rate limits per process until it returns')
    else log.info('Redis restored; counting rate limits across processes again')
  }

  async function take(key: string, limit: number): Promise<RateLimitResult> {
    const refusal = local.refusal(key, limit)
    if (refusal !== null) return refusal
    const counted = await count(key, limit)
    reportAvailability(counted === null)
    if (counted !== null && !counted.allowed) return refusedResult(limit, counted.waitMs)
    const own = local.takeNow(key, limit)
    return counted === null || !own.allowed ? own : allowedResult(limit, counted.total, counted.waitMs)
  }

  return {
    take,
    close: async () => {
      if (client.isOpen) client.destroy()
    },
  }
}

function makeClient(url: string) {
  return createClient({
    url,
    scripts: { count: countScript },
    disableOfflineQueue: true,
    // Together with `socketTimeout`, detects a connection that is silent but not closed.
    pingInterval: 2000,
    socket: {
      connectTimeout: 2000,
      socketTimeout: 5000,
      reconnectStrategy: (retries) => Math.min(50 * 2 ** retries, 2000),
    },
  })
}

/** Updates the sliding window atomically, by the clock of Redis. */
const lua = `
local key, slotMs, held, limit = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local nowMs = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local slot = math.floor(nowMs / slotMs)
local state = redis.call('HMGET', key, 'oldest', 'newest', 'total')
local oldest, newest, total = tonumber(state[1]) or slot, tonumber(state[2]) or slot, tonumber(state[3]) or 0

if total > 0 and slot < newest - held then
  redis.call('DEL', key)
  redis.call('HSET', key, slot, total)
  oldest, newest = slot, slot
end
while total > 0 do
  local units = redis.call('HGET', key, oldest)
  if units then
    if oldest > slot - held then break end
    redis.call('HDEL', key, oldest)
    total = total - tonumber(units)
  end
  oldest = oldest + 1
end
if total == 0 then
  oldest = slot
end

local allowed = 0
if total < limit then
  allowed = 1
  total = total + 1
  newest = math.max(slot, newest)
  if total == 1 then oldest = newest end
  redis.call('HINCRBY', key, newest, 1)
end
redis.call('HSET', key, 'oldest', oldest, 'newest', newest, 'total', total)
redis.call('PEXPIRE', key, slotMs * held * 2)

local lapses, surplus = oldest, math.max(1, total - limit + 1)
if allowed == 1 then surplus = 1 end
while lapses < newest do
  surplus = surplus - (tonumber(redis.call('HGET', key, lapses) or 0))
  if surplus <= 0 then break end
  lapses = lapses + 1
end
return { allowed, total, math.max(0, (lapses + held) * slotMs - nowMs), nowMs }
`

interface Counted {
  allowed: boolean
  total: number
  waitMs: number
  /** Redis time of the decision. */
  atMs: number
}

export const countScript = defineScript({
  SCRIPT: lua,
  NUMBER_OF_KEYS: 1,
  parseCommand(parser, key: string, limit: number, slotMs: number, slotsHeld: number) {
    parser.pushKey(key)
    parser.push(String(slotMs), String(slotsHeld), String(limit))
  },
  transformReply(reply: unknown): Counted {
    const [allowed = 0, total = 0, waitMs = 0, atMs = 0] = reply as number[]
    return { allowed: allowed === 1, total, waitMs, atMs }
  },
})
