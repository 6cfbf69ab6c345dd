import { type ChannelEvent, type Pricing, pricingCategories, pricingTypes } from '../../channel-event.ts'
import { type JsonObject, objectOf, textOf } from '../json.ts'
import { parseEnd, parsePlatformTime } from './values.ts'

const types: ReadonlySet<string> = new Set(pricingTypes)
const categories: ReadonlySet<string> = new Set(pricingCategories)

/** The platform's names are shorter; longer texts are not read. */
const maxNameLength = 64
/** Windows are open for three days; a later end is not believed. */
const maxWindowMs = 30 * 86_400_000

/**
 * Parses `pricing` and `conversation` of a status; absent if the status has no pricing. Values that this version does
 * not know become `unknown`, so that they are counted but never taken for free.
 */
export function parsePricing(status: JsonObject, now: Date): { pricing?: Pricing } {
  if (status.pricing === undefined || status.pricing === null) return {}
  const { type, category, billable, subtype } = objectOf(status.pricing)
  const { origin, expiration_timestamp: expiration } = objectOf(status.conversation)
  const isFreeEntry = [nameOf(category), nameOf(objectOf(origin).type)].includes('referral_conversion')
  const parsed = { type: typeOf(nameOf(type), nameOf(subtype), isFreeEntry), category: categoryOf(nameOf(category)) }
  return {
    pricing: {
      ...parsed,
      isBillable: typeof billable === 'boolean' ? billable : null,
      freeUntil: parsed.type === 'free_entry_point' ? parseFreeUntil(expiration, now) : null,
    },
  }
}

// Some pages of the platform write names with hyphens, and its analytics in capitals.
const nameOf = (value: unknown): string =>
  typeof value === 'string' && value.length <= maxNameLength
    ? (textOf(value) ?? '').trim().toLowerCase().replaceAll('-', '_')
    : ''

// Older statuses have no type, and show a free entry point by the origin of their conversation.
function typeOf(type: string, subtype: string, isFreeEntry: boolean): Pricing['type'] {
  if (type === '' && isFreeEntry) return 'free_entry_point'
  if (type === 'regular' && subtype === 'paid_exempt') return 'exempt'
  return types.has(type) && type !== 'exempt' ? (type as Pricing['type']) : 'unknown'
}

const categoryOf = (category: string): Pricing['category'] =>
  categories.has(category) ? (category as Pricing['category']) : 'unknown'

function parseFreeUntil(expiration: unknown, now: Date): Date | null {
  const end = parseEnd(expiration)
  return end !== null && end.getTime() <= now.getTime() + maxWindowMs ? end : null
}

const maxRegionLength = 100

/**
 * Parses `volume_tier_info` of an account update: the first message of the month in the tier (`25000001:50000000`) that the
 * account has reached. Null for a category that is not one of messages, such as calls.
 */
export function parseVolumeTier(info: JsonObject, now: Date): Extract<ChannelEvent, { type: 'volume_tier' }> | null {
  const category = nameOf(info.pricing_category)
  const region = textOf(info.region)?.trim().slice(0, maxRegionLength) ?? ''
  const month = textOf(info.effective_month) ?? ''
  const first = /^(\d{1,12}):\d{0,12}$/.exec(textOf(info.tier)?.slice(0, 30) ?? '')?.[1]
  const isMonth = /^20\d\d-(?:0[1-9]|1[0-2])$/.test(month)
  if (!categories.has(category) || region === '' || !isMonth || first === undefined) return null
  const at = parsePlatformTime(info.tier_update_time, now)
  // The platform's tiers begin at 0.
  return { type: 'volume_tier', region, category, month, fromMessage: Math.max(1, Number(first)), at }
}
