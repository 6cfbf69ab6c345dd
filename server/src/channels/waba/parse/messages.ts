import type { ChannelEvent, Customer, DeliveryStatus } from '../../channel-event.ts'
import { callNotice, createEdit, createNotice, type ParsedItem, parseCount } from '../../untrusted-values.ts'
import { type JsonObject, listOf, objectOf, textOf, tokenOf } from '../json.ts'
import { parseContent, parseReferral } from './content.ts'
import { parsePricing } from './pricing.ts'
import { findCustomer, type ParseContext, parsePhone, parsePlatformTime, parseUserId } from './values.ts'

const statuses: ReadonlyMap<unknown, DeliveryStatus> = new Map<string, DeliveryStatus>([
  ['sent', 'sent'],
  ['delivered', 'delivered'],
  ['read', 'read'],
  // A played voice message was also read.
  ['played', 'read'],
  ['failed', 'failed'],
])

/** Parses an item of `value.messages`: a message from a customer. */
export function parseMessage(context: ParseContext, message: JsonObject): ParsedItem {
  const externalId = tokenOf(message.id)
  if (message.group_id !== undefined) return 'message in a group'
  if (message.type === 'system') return parseSystemMessage(context, message, externalId)
  const content = parseContent(message)
  if (content !== null && externalId === null) return 'message without an id'
  const customer = senderOf(context, message)
  if (customer === null) return 'message without a sender'
  const at = parsePlatformTime(message.timestamp, context.now)
  if (content === null || externalId === null) return parseRevision(message, { direction: 'inbound', customer, at })
  return {
    type: 'message',
    externalId,
    customer,
    ...content,
    at,
    referral: parseReferral(message.referral),
    opensWindow: true,
  }
}

/** Parses an item of `value.message_echoes`: a person replied on the phone. */
export function parseEcho(context: ParseContext, message: JsonObject): ParsedItem {
  const externalId = tokenOf(message.id)
  if (message.group_id !== undefined) return 'echo in a group'
  const content = parseContent(message)
  if (content !== null && externalId === null) return 'echo without an id'
  const customer = findCustomer(context.contacts, message.to, message.to_user_id, message.to_parent_user_id)
  if (customer === null) return 'echo without a receiver'
  const at = parsePlatformTime(message.timestamp, context.now)
  if (content === null || externalId === null) return parseRevision(message, { direction: 'outbound', customer, at })
  return { type: 'echo', externalId, customer, ...content, at }
}

/** Parses an item of `value.calls`. A call from the customer opens the window; its end creates a system message. */
export function parseCall(context: ParseContext, call: JsonObject): ParsedItem {
  const begins = call.event === undefined || call.event === 'connect'
  const externalId = call.event === 'terminate' ? tokenOf(call.id) : null
  if (call.direction === 'BUSINESS_INITIATED' || (!begins && externalId === null)) return 'call that opens no window'
  const customer = findCustomer(context.contacts, call.from, call.from_user_id, call.from_parent_user_id)
  if (customer === null || customer.phone === context.ownPhone) return 'call without a caller'
  const at = parsePlatformTime(call.timestamp, context.now)
  if (externalId === null) return { type: 'contact_opened', customer, at }
  const seconds = parseCount(call.duration, maxCallSeconds)
  const text = callNotice({ isVideo: false, outcome: seconds ? 'answered' : 'missed', seconds })
  return createNotice(externalId, customer, text, at)
}

const maxCallSeconds = 7 * 86_400

/** Parses an item of `value.statuses`: the status of one of our messages. */
export function parseStatus(context: ParseContext, item: JsonObject): ParsedItem {
  const status = statuses.get(item.status)
  const externalId = tokenOf(item.id)
  if (item.recipient_type === 'group') return 'status in a group'
  if (status === undefined) return 'unknown status'
  if (externalId === null) return 'status without an id'
  return {
    type: 'status',
    externalId,
    status,
    errorCode: status === 'failed' ? errorCodeOf(item) : null,
    at: parsePlatformTime(item.timestamp, context.now),
    correlator: textOf(item.biz_opaque_callback_data),
    customer: findCustomer(context.contacts, item.recipient_id, item.recipient_user_id, item.recipient_parent_user_id),
    ...(status === 'failed' ? {} : parsePricing(item, context.now)),
  }
}

function senderOf({ contacts }: ParseContext, message: JsonObject): Customer | null {
  const sender = findCustomer(contacts, message.from, message.from_user_id, message.from_parent_user_id)
  if (sender === null || sender.phone !== null) return sender
  return { ...sender, phone: sharedPhone(message) }
}

// A customer who hides the phone can share it with a contact request button; the answer is a contact card.
function sharedPhone(message: JsonObject): string | null {
  const card = listOf(message.contacts)
    .map(objectOf)
    .find(({ origin }) => origin === 'contact_request')
  const { wa_id, phone } = objectOf(listOf(card?.phones)[0])
  return parsePhone(wa_id) ?? parsePhone(tokenOf(phone)?.replace(/[^\d+]/g, ''))
}

function errorCodeOf({ errors }: JsonObject): string {
  return tokenOf(objectOf(listOf(errors)[0]).code)?.slice(0, 50) ?? 'unknown'
}

type Revision = Extract<ChannelEvent, { originalId: string }>
type RevisionContext = Omit<Revision, 'type' | 'text' | 'originalId'>

/** Parses an edit, deletion or removed reaction. */
function parseRevision(message: JsonObject, revision: RevisionContext): ParsedItem {
  const inner = objectOf(message[String(message.type)])
  const originalId = tokenOf(message.type === 'reaction' ? inner.message_id : inner.original_message_id)
  if (originalId === null) return 'edit, deletion or removed reaction without a message id'
  const shared = { ...revision, originalId }
  if (message.type === 'revoke') return { type: 'withdrawn', ...shared }
  if (message.type === 'reaction') return { type: 'reaction_lifted', ...shared }
  return createEdit(parseContent(objectOf(inner.message)), shared)
}

/** Parses a notice about a customer: a message that opens no window and, if any, the change of the customer. */
function parseSystemMessage(context: ParseContext, message: JsonObject, externalId: string | null): ParsedItem {
  const system = objectOf(message.system)
  const at = parsePlatformTime(message.timestamp, context.now)
  const change = changeOf(context, message, system)
  const customer = change?.customer ?? subjectOf(context, message, system)
  if (customer === null) return 'notice without a customer'
  const changed: ChannelEvent[] = change === null ? [] : [{ type: 'customer_changed', ...change, at }]
  if (externalId === null) return [...changed, 'notice without an id']
  return [...changed, createNotice(externalId, customer, noticeText(system), at)]
}

/** Parses an item of `value.user_id_update`, which some API versions send instead of a notice. */
export function parseUserIdUpdate(context: ParseContext, update: JsonObject): ParsedItem {
  const change = changeOf(context, { from: update.wa_id ?? update.from }, update)
  if (change === null) return 'change of user id without ids'
  return { type: 'customer_changed', ...change, at: parsePlatformTime(update.timestamp, context.now) }
}

interface CustomerChange {
  previous: Customer
  customer: Customer
}

function changeOf(context: ParseContext, message: JsonObject, system: JsonObject): CustomerChange | null {
  const previous = previousOf(context, message, system)
  if (previous === null) return null
  const isNumberNotice = /changed_number/.test(textOf(system.type) ?? '')
  const phone = parsePhone(system.new_wa_id) ?? (isNumberNotice ? parsePhone(system.wa_id) : null)
  const userId = currentId(system.user_id) ?? (phone === null ? null : parseUserId(message.from_user_id))
  if (phone === null && (userId === null || userId === previous.userId)) return null
  const customer = {
    userId: userId ?? previous.userId,
    parentUserId: currentId(system.parent_user_id) ?? previous.parentUserId,
    phone: phone ?? previous.phone,
    name: previous.name,
  }
  return { previous, customer }
}

function previousOf({ contacts }: ParseContext, message: JsonObject, system: JsonObject): Customer | null {
  const userId = previousId(system, 'user_id') ?? message.from_user_id
  const parentUserId = previousId(system, 'parent_user_id') ?? message.from_parent_user_id
  return findCustomer(contacts, message.from, userId, parentUserId)
}

function subjectOf({ contacts }: ParseContext, message: JsonObject, system: JsonObject): Customer | null {
  return findCustomer(contacts, message.from ?? system.wa_id, message.from_user_id ?? system.user_id, null)
}

// Supports both `previous_user_id` with `user_id`, and `user_id: { previous, current }`.
function previousId(system: JsonObject, name: string): string | null {
  return parseUserId(system[`previous_${name}`]) ?? parseUserId(objectOf(system[name]).previous)
}

function currentId(value: unknown): string | null {
  return parseUserId(value) ?? parseUserId(objectOf(value).current)
}

// The platform's text contains the phones, which some readers of the conversation may not see.
function noticeText(system: JsonObject): string {
  const type = textOf(system.type) ?? ''
  if (/changed_number/.test(type)) return 'The customer changed their phone number'
  if (/changed_user_id/.test(type)) return 'The customer changed their account'
  if (/identity/.test(type)) return 'The security code of the customer changed'
  return textOf(system.body)?.replace(/\d{4,}/g, '…') ?? 'Notice about the customer'
}
