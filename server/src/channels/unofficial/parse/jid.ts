import { isBlank } from '../../../base/text/external-text.ts'
import type { Customer } from '../../channel-event.ts'
import { objectOf, textOf } from '../../waba/json.ts'
import { parsePlatformTime } from '../../waba/parse/values.ts'

/** A person's address on the network: a phone, or an id that hides the phone. */
export type Jid = { phone: string; lid: null } | { phone: null; lid: string }

// `5511987654321:12@…` is a device of a person, `_1` an agent of a business; both are treated as the same person.
const personShape = /^(\d{4,20})(?:_\d+)?(?::\d+)?@(s\.whatsapp\.net|c\.us|lid)$/

/** Returns null if the address is not a person's: groups, broadcasts, channels, numbers hosted by another platform. */
export function parseJid(value: unknown): Jid | null {
  const [, digits, server] = personShape.exec(textOf(value) ?? '') ?? []
  if (digits === undefined) return null
  return server === 'lid' ? { phone: null, lid: `${digits}@lid` } : { phone: digits, lid: null }
}

/** Returns the customer with these addresses of one person, in any order; null if none is a person's. */
export function customerOf(addresses: unknown[], name: string | null): Customer | null {
  const jids = addresses.map(parseJid).filter((jid) => jid !== null)
  const userId = jids.find(({ lid }) => lid !== null)?.lid ?? null
  const phone = jids.find((jid) => jid.phone !== null)?.phone ?? null
  return userId === null && phone === null ? null : { userId, parentUserId: null, phone, name }
}

export function parseName(...candidates: unknown[]): string | null {
  for (const candidate of candidates) {
    const name = textOf(candidate)?.trim()
    if (name !== undefined && !isBlank(name)) return name.slice(0, 255).toWellFormed()
  }
  return null
}

/**
 * Parses a time in whole seconds, given as a number or as a 64-bit number in two halves. Returns `now` for later times
 * and `otherwise` for invalid ones.
 */
export function parseNetworkTime(value: unknown, now: Date, fallback = now): Date {
  const { low, high } = objectOf(value)
  if (typeof low !== 'number' || typeof high !== 'number') return parsePlatformTime(value, now, fallback)
  return parsePlatformTime(high * 2 ** 32 + (low >>> 0), now, fallback)
}
