import type { ChannelEvent, Customer } from '../../channel-event.ts'
import { type Loose, objectOf, textOf } from '../json.ts'
import { findCustomer, readPhone, readUserId } from './customer.ts'
import { type Read, type Reading, readPlatformTime } from './reading.ts'

/** A notice of the platform about a customer: kept as a message that opens no window, returned as a change if it is one. */
export function readSystem(reading: Reading, message: Loose, externalId: string | null): Read {
  const system = objectOf(message.system)
  const at = readPlatformTime(message.timestamp, reading.now)
  const change = changeOf(reading, message, system)
  const customer = change?.customer ?? subjectOf(reading, message, system)
  if (customer === null) return 'notice about nobody'
  const changed: ChannelEvent[] = change === null ? [] : [{ type: 'customer_changed', ...change, at }]
  if (externalId === null) return [...changed, 'notice without an id']
  const notice = { type: 'message', externalId, customer, kind: 'system', text: noticeText(system), at } as const
  return [...changed, { ...notice, referral: null, opensWindow: false }]
}

/** One of `value.user_id_update`, which some editions of the platform send instead of a notice. */
export function readUserIdUpdate(reading: Reading, update: Loose): Read {
  const change = changeOf(reading, { from: update.wa_id ?? update.from }, update)
  if (change === null) return 'change of a user id without the ids'
  return { type: 'customer_changed', ...change, at: readPlatformTime(update.timestamp, reading.now) }
}

interface CustomerChange {
  previous: Customer
  customer: Customer
}

function changeOf(reading: Reading, message: Loose, system: Loose): CustomerChange | null {
  const previous = previousOf(reading, message, system)
  if (previous === null) return null
  const isNumberNotice = /changed_number/.test(textOf(system.type) ?? '')
  const phone = readPhone(system.new_wa_id) ?? (isNumberNotice ? readPhone(system.wa_id) : null)
  const userId = currentId(system.user_id) ?? (phone === null ? null : readUserId(message.from_user_id))
  if (phone === null && (userId === null || userId === previous.userId)) return null
  const customer = {
    userId: userId ?? previous.userId,
    parentUserId: currentId(system.parent_user_id) ?? previous.parentUserId,
    phone: phone ?? previous.phone,
    name: previous.name,
  }
  return { previous, customer }
}

function previousOf({ contacts }: Reading, message: Loose, system: Loose): Customer | null {
  const userId = previousId(system, 'user_id') ?? message.from_user_id
  const parentUserId = previousId(system, 'parent_user_id') ?? message.from_parent_user_id
  return findCustomer(contacts, message.from, userId, parentUserId)
}

function subjectOf({ contacts }: Reading, message: Loose, system: Loose): Customer | null {
  return findCustomer(contacts, message.from ?? system.wa_id, message.from_user_id ?? system.user_id, null)
}

// Either `previous_user_id` and `user_id` beside each other, or `user_id: { previous, current }`.
function previousId(system: Loose, name: string): string | null {
  return readUserId(system[`previous_${name}`]) ?? readUserId(objectOf(system[name]).previous)
}

function currentId(value: unknown): string | null {
  return readUserId(value) ?? readUserId(objectOf(value).current)
}

// The platform's own words hold the numbers, which not every reader of the conversation may see.
function noticeText(system: Loose): string {
  const type = textOf(system.type) ?? ''
  if (/changed_number/.test(type)) return 'The customer changed their phone number'
  if (/changed_user_id/.test(type)) return 'The customer changed their account'
  if (/identity/.test(type)) return 'The security code of the customer changed'
  return textOf(system.body)?.replace(/\d{4,}/g, '…') ?? 'Notice about the customer'
}
