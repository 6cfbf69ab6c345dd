import type { ChannelEvent } from '../../channel-event.ts'
import type { NewChatLevel } from '../../health/number-status.ts'
import { type JsonObject, objectOf } from '../../waba/json.ts'

type NumberStatusEvent = Extract<ChannelEvent, { type: 'number_status' }>

const levels: ReadonlyMap<unknown, NewChatLevel> = new Map<unknown, NewChatLevel>([
  ['NONE', 'normal'],
  ['FIRST_WARNING', 'first_warning'],
  ['SECOND_WARNING', 'second_warning'],
  ['CAPPED', 'capped'],
])

/** Parses `message-capping.update`: how many new chats the number may start. */
export function parseNewChats(info: JsonObject): NumberStatusEvent {
  const { capping_status, used_quota, total_quota, cycle_end_timestamp } = info
  const newChats = {
    level: levels.get(capping_status) ?? 'normal',
    used: parseCount(used_quota),
    total: parseCount(total_quota),
    endsAt: parseSeconds(cycle_end_timestamp),
  }
  return { type: 'number_status', facts: { newChats }, isHint: false }
}

/** Parses `reachoutTimeLock` of `connection.update`: until when the number cannot write to new people. */
export function parseTimelock(value: unknown): NumberStatusEvent[] {
  if (value === undefined || value === null) return []
  const { isActive, timeEnforcementEnds } = objectOf(value)
  const newChatsLockedUntil = isActive === true ? parseTime(timeEnforcementEnds) : null
  return [{ type: 'number_status', facts: { newChatsLockedUntil }, isHint: false }]
}

// -1 means no limit.
const parseCount = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= 2_147_483_647 ? value : null

const parseSeconds = (value: unknown): string | null => {
  const seconds = typeof value === 'string' && /^\d{1,12}$/.test(value) ? Number(value) : value
  return typeof seconds === 'number' && seconds > 0 ? parseTime(seconds * 1000) : null
}

const lastMs = Date.UTC(9999, 0)

/** Parses a time in milliseconds, as a date or as ISO text. */
function parseTime(value: unknown): string | null {
  const ms = typeof value === 'string' && value.length <= 40 ? Date.parse(value) : Number(value)
  return ms > 0 && ms < lastMs ? new Date(ms).toISOString() : null
}
