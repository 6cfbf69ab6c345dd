import { isBlank } from '../../../base/text/outside-text.ts'
import type { Customer } from '../../channel-event.ts'
import { listOf, objectOf, textOf, tokenOf } from '../json.ts'

/** The people that a payload names beside its messages; in no order that could be relied on. */
export type Contacts = readonly Customer[]

const phoneShape = /^\d{4,20}$/
const userIdShape = /^[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}$/

export function readPhone(value: unknown): string | null {
  const digits = tokenOf(value)?.replace(/^\+/, '') ?? ''
  return phoneShape.test(digits) ? digits : null
}

export function readUserId(value: unknown): string | null {
  const id = textOf(value) ?? ''
  return userIdShape.test(id) ? id : null
}

export function readContacts(value: unknown): Contacts {
  return listOf(value).map((one) => {
    const contact = objectOf(one)
    return { ...identityOf(contact.wa_id, contact.user_id, contact.parent_user_id), name: nameOf(contact.profile) }
  })
}

/**
 * Who an item is about, joined with what the contacts know of them; null when neither a phone nor a user id names
 * them. `address` is a phone, though a user id has been seen in its place.
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
    contacts.find((one) => one.userId !== null && one.userId === named.userId) ??
    contacts.find((one) => one.phone !== null && one.phone === named.phone)
  return {
    userId: named.userId ?? contact?.userId ?? null,
    parentUserId: named.parentUserId ?? contact?.parentUserId ?? null,
    phone: named.phone ?? contact?.phone ?? null,
    name: contact?.name ?? null,
  }
}

function identityOf(address: unknown, userId: unknown, parentUserId: unknown): Customer {
  return {
    userId: readUserId(userId) ?? readUserId(address),
    parentUserId: readUserId(parentUserId),
    phone: readPhone(address),
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
