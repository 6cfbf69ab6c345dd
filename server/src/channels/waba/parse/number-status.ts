import type { ChannelEvent } from '../../channel-event.ts'
import { maxProblemLength, maxProblems, type NumberFacts } from '../../health/number-status.ts'
import { type JsonObject, listOf, objectOf, textOf } from '../json.ts'

const qualities: ReadonlyMap<string, NumberFacts['quality']> = new Map([
  ['GREEN', 'green'],
  ['HIGH', 'green'],
  ['YELLOW', 'yellow'],
  ['MEDIUM', 'yellow'],
  ['RED', 'red'],
  ['LOW', 'red'],
])

const nameStatuses: ReadonlyMap<string, NumberFacts['nameStatus']> = new Map([
  ['APPROVED', 'approved'],
  ['AVAILABLE_WITHOUT_REVIEW', 'approved'],
  ['PENDING_REVIEW', 'pending'],
  ['DECLINED', 'declined'],
  ['REJECTED', 'declined'],
  ['EXPIRED', 'expired'],
])

const sendingStates: ReadonlyMap<string, NumberFacts['canSend']> = new Map([
  ['AVAILABLE', 'available'],
  ['LIMITED', 'limited'],
  ['BLOCKED', 'blocked'],
])

/** Parses what the platform returns about a number. A value that it does not know counts as not reported. */
export function parseNumberFacts(number: JsonObject): Partial<NumberFacts> {
  const { quality_rating, throughput, name_status, health_status } = number
  const level = upper(objectOf(throughput).level)
  const limit = number.whatsapp_business_manager_messaging_limit ?? number.messaging_limit_tier
  return {
    quality: qualities.get(upper(quality_rating)) ?? null,
    messagingLimit: parseMessagingLimit(limit),
    throughput: level === 'HIGH' ? 'high' : level === 'STANDARD' ? 'standard' : null,
    nameStatus: nameStatuses.get(upper(name_status)) ?? null,
    ...parseHealth(objectOf(health_status)),
  }
}

/** Parses the platform's health check of a number, its account, business and app. */
export function parseHealth(health: JsonObject): Pick<NumberFacts, 'canSend' | 'problems'> {
  const found = new Map<string, NumberFacts['problems'][number]>()
  for (const entity of listOf(health.entities)) {
    for (const error of listOf(objectOf(entity).errors)) {
      const { error_code, error_description, possible_solution } = objectOf(error)
      const code = typeof error_code === 'number' ? String(error_code) : (textOf(error_code)?.slice(0, 50) ?? '')
      const text = [error_description, possible_solution].flatMap((one) => textOf(one)?.trim() || []).join(' ')
      if (text !== '') found.set(`${code} ${text}`, { code, text: text.slice(0, maxProblemLength) })
    }
  }
  return {
    canSend: sendingStates.get(upper(health.can_send_message)) ?? null,
    problems: [...found.values()].slice(0, maxProblems),
  }
}

/** Parses a limit such as `TIER_2K`, `2000` or `UNLIMITED`; null if it is unknown or not set. */
export function parseMessagingLimit(value: unknown): NumberFacts['messagingLimit'] {
  if (typeof value === 'number') return value === -1 ? 'unlimited' : isLimit(value) ? value : null
  const text = upper(value).replace(/^TIER_/, '')
  if (text === 'UNLIMITED') return 'unlimited'
  const [, digits, thousands] = /^(\d{1,9})(K?)$/.exec(text) ?? []
  if (digits === undefined) return null
  const limit = Number(digits) * (thousands === 'K' ? 1000 : 1)
  return isLimit(limit) ? limit : null
}

const isLimit = (value: number): boolean => Number.isSafeInteger(value) && value > 0 && value <= 2_147_483_647
const upper = (value: unknown): string =>
  typeof value === 'string' && value.length <= 100 ? value.trim().toUpperCase() : ''

/** Changes that announce a new state of a number, its name, or the limits of its business. */
export const numberHints: ReadonlySet<string> = new Set([
  'phone_number_quality_update',
  'phone_number_name_update',
  'business_capability_update',
  'account_review_update',
])

/** Parses a change that announces a new state of a number: the limit if it has one. The rest is read again. */
export function parseNumberHint(value: JsonObject): Extract<ChannelEvent, { type: 'number_status' }> {
  const { max_daily_conversations_per_business, max_daily_conversation_per_phone, event, current_limit } = value
  // The older field is about throughput in this event.
  const older = event === 'THROUGHPUT_UPGRADE' ? null : current_limit
  const limit = parseMessagingLimit(max_daily_conversations_per_business ?? max_daily_conversation_per_phone ?? older)
  return { type: 'number_status', facts: limit === null ? {} : { messagingLimit: limit }, isHint: true }
}
