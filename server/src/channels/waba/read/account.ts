import type { ChannelEvent } from '../../channel-event.ts'
import type { Restriction } from '../../health/holds.ts'
import { type Loose, listOf, objectOf, textOf, tokenOf } from '../json.ts'
import { findCustomer, readPhone, readUserId } from './customer.ts'
import { type Read, type Reading, readPlatformTime } from './reading.ts'

const down = new Set(['PARTNER_REMOVED', 'ACCOUNT_OFFBOARDED', 'ACCOUNT_DELETED'])
const up = new Set(['ACCOUNT_RECONNECTED', 'PARTNER_ADDED', 'PARTNER_APP_INSTALLED'])

/** What an `account_update` says of the account of a connection; null when that is nothing about what it may do. */
export function readAccountUpdate(
  value: Loose,
  now: Date,
): Extract<ChannelEvent, { type: 'connection_state' | 'account_restricted' }> | null {
  const event = textOf(value.event) ?? ''
  if (event === 'ACCOUNT_RESTRICTION') return { type: 'account_restricted', all: readRestrictions(value) }
  if (event === 'ACCOUNT_VIOLATION') return { type: 'account_restricted', added: [readViolation(value, now)] }
  if (down.has(event)) return { type: 'connection_state', available: false, reason: event.toLowerCase() }
  if (up.has(event)) return { type: 'connection_state', available: true, reason: event.toLowerCase() }
  if (event !== 'DISABLED_UPDATE') return null
  const ban = textOf(objectOf(value.ban_info).waba_ban_state) ?? 'DISABLE'
  if (ban === 'REINSTATE') return { type: 'connection_state', available: true, reason: 'account_reinstated' }
  // Announced for later: until then the account works.
  return ban === 'SCHEDULE_FOR_DISABLE'
    ? null
    : { type: 'connection_state', available: false, reason: 'account_disabled' }
}

const restrictionTypes: ReadonlyMap<string, Pick<Restriction, 'stops' | 'reason'>> = new Map([
  ['RESTRICTED_BIZ_INITIATED_MESSAGING', { stops: 'initiated', reason: 'account_restricted_initiated' }],
  ['RESTRICTED_CUSTOMER_INITIATED_MESSAGING', { stops: 'replies', reason: 'account_restricted_replies' }],
  ['RESTRICTED_ADD_PHONE_NUMBER_ACTION', { stops: 'nothing', reason: 'account_restricted_numbers' }],
])
const otherRestriction = { stops: 'nothing', reason: 'account_restricted_other' } as const

/** One of each kind: the platform names all that there are. */
function readRestrictions(value: Loose): Restriction[] {
  const found = new Map<string, Restriction>()
  for (const item of listOf(value.restriction_info)) {
    const { restriction_type, expiration } = objectOf(item)
    const known = restrictionTypes.get(textOf(restriction_type) ?? '') ?? otherRestriction
    found.set(known.reason, { ...known, until: readEnd(expiration) })
  }
  return [...found.values()]
}

/** Seconds as number or text, or an ISO time; null for none. */
function readEnd(value: unknown): Date | null {
  const seconds = typeof value === 'string' && /^\d{1,12}$/.test(value) ? Number(value) : value
  if (typeof seconds === 'number') return Number.isSafeInteger(seconds) ? endOf(seconds * 1000) : null
  return typeof seconds === 'string' && seconds.length <= 40 ? endOf(Date.parse(seconds)) : null
}

const lastMs = Date.UTC(9999, 0)
const endOf = (ms: number): Date | null => (ms >= 0 && ms < lastMs ? new Date(ms) : null)

/** A warning, and no more as long as no restriction follows: shown for a while. */
const violationShownMs = 30 * 86_400_000

function readViolation(value: Loose, now: Date): Restriction {
  const type = textOf(objectOf(value.violation_info).violation_type)?.toLowerCase() ?? ''
  const name = /^[a-z0-9_]{1,60}$/.test(type) ? `_${type}` : ''
  return { stops: 'nothing', reason: `account_violation${name}`, until: new Date(now.getTime() + violationShownMs) }
}

/** The account that an `account_update` is about, which is not always the one that the entry names. */
export function accountOf(value: Loose, entryId: string | null): string | null {
  return tokenOf(objectOf(value.waba_info).waba_id) ?? entryId
}

/** One of `value.state_sync`: the phone's contact book gained or lost a name. */
export function readContactSync(_reading: Reading, sync: Loose): Read {
  const { full_name, first_name, phone_number, user_id } = objectOf(sync.contact)
  const name = (textOf(full_name) ?? textOf(first_name))?.trim().slice(0, 255)
  const customer = {
    userId: readUserId(user_id),
    parentUserId: null,
    phone: readPhone(phone_number),
    name: name || null,
  }
  const isKnown = customer.userId !== null || customer.phone !== null
  if (sync.action === 'remove' || customer.name === null || !isKnown) return 'contact without a name'
  return { type: 'contact_named', customer }
}

const preferences: ReadonlyMap<string | null, boolean> = new Map([
  ['stop', true],
  ['resume', false],
])

/** One of `value.user_preferences`: whether a customer wants marketing messages. */
export function readPreference(reading: Reading, item: Loose): Read {
  const isStopped = preferences.get(textOf(item.value)?.trim().toLowerCase() ?? null)
  if (item.category !== 'marketing_messages' || isStopped === undefined) return 'preference that is not known'
  const [only, another] = reading.contacts
  const named = findCustomer(reading.contacts, item.wa_id, item.user_id, item.parent_user_id)
  const customer = named ?? (another === undefined ? only : undefined)
  if (customer === undefined || (customer.phone === null && customer.userId === null)) {
    return 'preference without a customer'
  }
  return { type: 'marketing_preference', customer, isStopped, at: readPlatformTime(item.timestamp, reading.now) }
}
