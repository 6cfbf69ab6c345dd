import { defineScript } from '@redis/client'
import { windowMs } from './rate-window.ts'

/** The arithmetic of the sliding window, by Redis' own time, in one step that nothing can come between. */
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

export interface Counted {
  allowed: boolean
  total: number
  waitMs: number
  /** Redis' time of the decision. */
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

/** Slots of a length that still count, with the present one. */
export const slotsHeld = (slotMs: number): number => windowMs / slotMs + 1
