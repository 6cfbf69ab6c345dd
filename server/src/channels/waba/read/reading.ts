import { notAfter } from '../../../base/time.ts'
import type { ChannelEvent } from '../../channel-event.ts'
import { type Loose, objectOf, tokenOf } from '../json.ts'
import { type Contacts, readContacts } from './customer.ts'

/** What an item became: events, and words without values for what became none. */
export type Read = ChannelEvent | string | (ChannelEvent | string)[]

/** What the items of one change share. */
export interface Reading {
  contacts: Contacts
  /** The business's own number in digits, as far as it is known. */
  ownPhone: string | null
  now: Date
}

export interface Numbered {
  numberId: string | null
  ownPhone: string | null
  contacts: Contacts
}

export function readNumber(value: Loose): Numbered {
  const { phone_number_id, display_phone_number } = objectOf(value.metadata)
  return {
    numberId: tokenOf(phone_number_id),
    ownPhone: tokenOf(display_phone_number)?.replace(/\D/g, '') || null,
    contacts: readContacts(value.contacts),
  }
}

const earliestMs = Date.UTC(2009, 0, 1)

/** The platform's time, whole seconds as text or number, `now` at the latest: a foreign clock puts nothing into the future. `otherwise` for none. */
export function readPlatformTime(value: unknown, now: Date, otherwise = now): Date {
  const seconds = typeof value === 'string' && /^\d{1,13}$/.test(value) ? Number(value) : value
  if (typeof seconds !== 'number') return otherwise
  // Some senders of this format write milliseconds.
  const ms = Math.floor(seconds > 100_000_000_000 ? seconds : seconds * 1000)
  return ms >= earliestMs ? notAfter(new Date(ms), now) : otherwise
}
