import { isBlank } from '../../../base/text/external-text.ts'
import type { Customer } from '../../channel-event.ts'
import { objectOf, textOf } from '../../waba/json.ts'
import { readPlatformTime } from '../../waba/read/reading.ts'

/** A person's address on the network: by phone, or by an id that hides it. */
export type Jid = { phone: string; lid: null } | { phone: null; lid: string }

// `5511987654321:12@…` is one of the devices of a person, `_1` the agent of a business; both are the same person to us.
const personShape = /^(\d{4,20})(?:_\d+)?(?::\d+)?@(s\.whatsapp\.net|c\.us|lid)$/

/** Null for what is no person: groups, broadcasts, channels, numbers that another platform hosts. */
export function readJid(value: unknown): Jid | null {
  const [, digits, server] = personShape.exec(textOf(value) ?? '') ?? []
  if (digits === undefined) return null
  return server === 'lid' ? { phone: null, lid: `${digits}@lid` } : { phone: digits, lid: null }
}

/** Who these addresses of one person name, in any order and as far as they are known; null when none is a person's. */
export function customerOf(addresses: unknown[], name: string | null): Customer | null {
  const jids = addresses.map(readJid).filter((jid) => jid !== null)
  const userId = jids.find(({ lid }) => lid !== null)?.lid ?? null
  const phone = jids.find((jid) => jid.phone !== null)?.phone ?? null
  return userId === null && phone === null ? null : { userId, parentUserId: null, phone, name }
}

export function readName(...candidates: unknown[]): string | null {
  for (const candidate of candidates) {
    const name = textOf(candidate)?.trim()
    if (name !== undefined && !isBlank(name)) return name.slice(0, 255).toWellFormed()
  }
  return null
}

/** The network's time in whole seconds: a number, or one of 64 bits in two halves; `now` at the latest, `otherwise` for one that cannot be. */
export function readNetworkTime(value: unknown, now: Date, otherwise = now): Date {
  const { low, high } = objectOf(value)
  if (typeof low !== 'number' || typeof high !== 'number') return readPlatformTime(value, now, otherwise)
  return readPlatformTime(high * 2 ** 32 + (low >>> 0), now, otherwise)
}
