import { isBlank } from '../../../base/text/external-text.ts'
import { limitToNow } from '../../../base/time.ts'
import type { Customer } from '../../channel-event.ts'
import { type JsonObject, listOf, objectOf, textOf, tokenOf } from '../json.ts'

/** Contacts listed in a payload beside its messages, in no reliable order, and the first of each user id and phone. */
interface Contacts {
  listed: readonly Customer[]
  byUserId: ReadonlyMap<string | null, Customer>
  byPhone: ReadonlyMap<string | null, Customer>
}

const phoneShape = /^\d{4,20}$/
const userIdShape = /^[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}$/

export function parsePhone(value: unknown): string | null {
  const digits = tokenOf(value)?.replace(/^\+/, '') ?? ''
  return phoneShape.test(digits) ? digits : null
}

export function parseUserId(value: unknown): string | null {
  const id = textOf(value) ?? ''
  return userIdShape.test(id) ? id : null
}

function parseContacts(value: unknown): Contacts {
  const listed = listOf(value).map((one) => {
    const contact = objectOf(one)
    return { ...identityOf(contact.wa_id, contact.user_id, contact.parent_user_id), name: nameOf(contact.profile) }
  })
  const firstBy = (key: 'userId' | 'phone') => new Map(listed.toReversed().map((one) => [one[key], one]))
  return { listed, byUserId: firstBy('userId'), byPhone: firstBy('phone') }
}

/**
 * Returns the customer of an item, completed from the contacts; null if it has neither phone nor user id. `address` is
 * a phone, though some payloads have a user id in its place.
 */
export function findCustomer(
  contacts: Contacts,
  address: unknown,
  userId: unknown,
  parentUserId: unknown,
): Customer | null {
  const named = identityOf(address, userId, parentUserId)
  if (named.phone === null && named.userId === null) return null
  const contact =
    (named.userId === null ? undefined : contacts.byUserId.get(named.userId)) ??
    (named.phone === null ? undefined : contacts.byPhone.get(named.phone))
  return {
    userId: named.userId ?? contact?.userId ?? null,
    parentUserId: named.parentUserId ?? contact?.parentUserId ?? null,
    phone: named.phone ?? contact?.phone ?? null,
    name: contact?.name ?? null,
  }
}

function identityOf(address: unknown, userId: unknown, parentUserId: unknown): Customer {
  return {
    userId: parseUserId(userId) ?? parseUserId(address),
    parentUserId: parseUserId(parentUserId),
    phone: parsePhone(address),
    name: null,
  }
}

function nameOf(profile: unknown): string | null {
  const { name, username } = objectOf(profile)
  const shown = textOf(name)?.trim()
  if (shown !== undefined && !isBlank(shown)) return shown.slice(0, 255)
  const handle = textOf(username)?.trim().replace(/^@/, '')
  return handle ? `@${handle.slice(0, 254)}` : null
}

/** Data shared by the items of one change. */
export interface ParseContext {
  contacts: Contacts
  /** The business's own number in digits, if known. */
  ownPhone: string | null
  now: Date
}

export function parseNumber(value: JsonObject): Omit<ParseContext, 'now'> & { numberId: string | null } {
  const { phone_number_id, display_phone_number } = objectOf(value.metadata)
  return {
    numberId: tokenOf(phone_number_id),
    ownPhone: tokenOf(display_phone_number)?.replace(/\D/g, '') || null,
    contacts: parseContacts(value.contacts),
  }
}

const earliestMs = Date.UTC(2009, 0, 1)

/**
 * Parses the platform's time: whole seconds as text or number. Returns `now` for later times, so that a wrong clock
 * puts nothing in the future, and `otherwise` for invalid ones.
 */
export function parsePlatformTime(value: unknown, now: Date, fallback = now): Date {
  const seconds = typeof value === 'string' && /^\d{1,13}$/.test(value) ? Number(value) : value
  if (typeof seconds !== 'number') return fallback
  // Some senders of this format use milliseconds.
  const ms = Math.floor(seconds > 100_000_000_000 ? seconds : seconds * 1000)
  return ms >= earliestMs ? limitToNow(new Date(ms), now) : fallback
}

/** Parses seconds as number or text, or an ISO time; null if absent or invalid. May be in the future. */
export function parseEnd(value: unknown): Date | null {
  const seconds = typeof value === 'string' && /^\d{1,12}$/.test(value) ? Number(value) : value
  if (typeof seconds === 'number') return Number.isSafeInteger(seconds) ? endOf(seconds * 1000) : null
  return typeof seconds === 'string' && seconds.length <= 40 ? endOf(Date.parse(seconds)) : null
}

const lastMs = Date.UTC(9999, 0)
const endOf = (ms: number): Date | null => (ms >= 0 && ms < lastMs ? new Date(ms) : null)
