import type { ChannelEvent, Customer, DeliveryStatus } from '../../channel-event.ts'
import { callNotice, countOf, editOf, noticeOf, type Read } from '../../detail-values.ts'
import { type Loose, listOf, objectOf, textOf, tokenOf } from '../json.ts'
import { readContent, readReferral } from './content.ts'
import { findCustomer, type Reading, readPhone, readPlatformTime, readUserId } from './reading.ts'

const known: ReadonlyMap<unknown, DeliveryStatus> = new Map<string, DeliveryStatus>([
  ['sent', 'sent'],
  ['delivered', 'delivered'],
  ['read', 'read'],
  // A played voice message was also read.
  ['played', 'read'],
  ['failed', 'failed'],
])

/** Parses an item of `value.messages`: a message from a customer. */
export function readMessage(reading: Reading, message: Loose): Read {
  const externalId = tokenOf(message.id)
  if (message.group_id !== undefined) return 'message in a group'
  if (message.type === 'system') return readSystem(reading, message, externalId)
  const said = readContent(message)
  if (said !== null && externalId === null) return 'message without an id'
  const customer = senderOf(reading, message)
  if (customer === null) return 'message without a sender'
  const at = readPlatformTime(message.timestamp, reading.now)
  if (said === null || externalId === null) return readRevision(message, { direction: 'inbound', customer, at })
  return {
    type: 'message',
    externalId,
    customer,
    ...said,
    at,
    referral: readReferral(message.referral),
    opensWindow: true,
  }
}

/** Parses an item of `value.message_echoes`: a person replied on the phone. */
export function readEcho(reading: Reading, message: Loose): Read {
  const externalId = tokenOf(message.id)
  if (message.group_id !== undefined) return 'echo in a group'
  const said = readContent(message)
  if (said !== null && externalId === null) return 'echo without an id'
  const customer = findCustomer(reading.contacts, message.to, message.to_user_id, message.to_parent_user_id)
  if (customer === null) return 'echo without a receiver'
  const at = readPlatformTime(message.timestamp, reading.now)
  if (said === null || externalId === null) return readRevision(message, { direction: 'outbound', customer, at })
  return { type: 'echo', externalId, customer, ...said, at }
}

/** Parses an item of `value.calls`. A call from the customer opens the window; its end creates a system message. */
export function readCall(reading: Reading, call: Loose): Read {
  const begins = call.event === undefined || call.event === 'connect'
  const externalId = call.event === 'terminate' ? tokenOf(call.id) : null
  if (call.direction === 'BUSINESS_INITIATED' || (!begins && externalId === null)) return 'call that opens no window'
  const customer = findCustomer(reading.contacts, call.from, call.from_user_id, call.from_parent_user_id)
  if (customer === null || customer.phone === reading.ownPhone) return 'call without a caller'
  const at = readPlatformTime(call.timestamp, reading.now)
  if (externalId === null) return { type: 'contact_opened', customer, at }
  const seconds = countOf(call.duration, maxCallSeconds)
  const text = callNotice({ isVideo: false, outcome: seconds ? 'answered' : 'missed', seconds })
  return noticeOf(externalId, customer, text, at)
}

const maxCallSeconds = 7 * 86_400

/** Parses an item of `value.statuses`: the status of one of our messages. */
export function readStatus(reading: Reading, item: Loose): Read {
  const status = known.get(item.status)
  const externalId = tokenOf(item.id)
  if (item.recipient_type === 'group') return 'status in a group'
  if (status === undefined) return 'unknown status'
  if (externalId === null) return 'status without an id'
  return {
    type: 'status',
    externalId,
    status,
    errorCode: status === 'failed' ? errorCodeOf(item) : null,
    at: readPlatformTime(item.timestamp, reading.now),
    correlator: textOf(item.biz_opaque_callback_data),
    customer: findCustomer(reading.contacts, item.recipient_id, item.recipient_user_id, item.recipient_parent_user_id),
  }
}

function senderOf({ contacts }: Reading, message: Loose): Customer | null {
  const sender = findCustomer(contacts, message.from, message.from_user_id, message.from_parent_user_id)
  if (sender === null || sender.phone !== null) return sender
  return { ...sender, phone: sharedPhone(message) }
}

// A customer who hides the phone can share it with a contact request button; the answer is a contact card.
function sharedPhone(message: Loose): string | null {
  const card = listOf(message.contacts)
    .map(objectOf)
    .find(({ origin }) => origin === 'contact_request')
  const { wa_id, phone } = objectOf(listOf(card?.phones)[0])
  return readPhone(wa_id) ?? readPhone(tokenOf(phone)?.replace(/[^\d+]/g, ''))
}

function errorCodeOf({ errors }: Loose): string {
  return tokenOf(objectOf(listOf(errors)[0]).code)?.slice(0, 50) ?? 'unknown'
}

type Revision = Extract<ChannelEvent, { originalId: string }>
type About = Omit<Revision, 'type' | 'text' | 'originalId'>

/** Parses an edit, deletion or removed reaction. */
function readRevision(message: Loose, about: About): Read {
  const inner = objectOf(message[String(message.type)])
  const originalId = tokenOf(message.type === 'reaction' ? inner.message_id : inner.original_message_id)
  if (originalId === null) return 'edit, deletion or removed reaction without a message id'
  const shared = { ...about, originalId }
  if (message.type === 'revoke') return { type: 'withdrawn', ...shared }
  if (message.type === 'reaction') return { type: 'reaction_lifted', ...shared }
  return editOf(readContent(objectOf(inner.message)), shared)
}

/** Parses a notice about a customer: a message that opens no window and, if any, the change of the customer. */
function readSystem(reading: Reading, message: Loose, externalId: string | null): Read {
  const system = objectOf(message.system)
  const at = readPlatformTime(message.timestamp, reading.now)
  const change = changeOf(reading, message, system)
  const customer = change?.customer ?? subjectOf(reading, message, system)
  if (customer === null) return 'notice without a customer'
  const changed: ChannelEvent[] = change === null ? [] : [{ type: 'customer_changed', ...change, at }]
  if (externalId === null) return [...changed, 'notice without an id']
  return [...changed, noticeOf(externalId, customer, noticeText(system), at)]
}

/** Parses an item of `value.user_id_update`, which some API versions send instead of a notice. */
export function readUserIdUpdate(reading: Reading, update: Loose): Read {
  const change = changeOf(reading, { from: update.wa_id ?? update.from }, update)
  if (change === null) return 'change of user id without ids'
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

// Supports both `previous_user_id` with `user_id`, and `user_id: { previous, current }`.
function previousId(system: Loose, name: string): string | null {
  return readUserId(system[`previous_${name}`]) ?? readUserId(objectOf(system[name]).previous)
}

function currentId(value: unknown): string | null {
  return readUserId(value) ?? readUserId(objectOf(value).current)
}

// The platform's text contains the phones, which some readers of the conversation may not see.
function noticeText(system: Loose): string {
  const type = textOf(system.type) ?? ''
  if (/changed_number/.test(type)) return 'The customer changed their phone number'
  if (/changed_user_id/.test(type)) return 'The customer changed their account'
  if (/identity/.test(type)) return 'The security code of the customer changed'
  return textOf(system.body)?.replace(/\d{4,}/g, '…') ?? 'Notice about the customer'
}
