import { callNotice } from '../../call-notice.ts'
import type { ChannelEvent, Customer, DeliveryStatus } from '../../channel-event.ts'
import { countOf, maxTextLength } from '../../detail-values.ts'
import { type Loose, listOf, objectOf, textOf, tokenOf } from '../json.ts'
import { readContent, readReferral } from './content.ts'
import { findCustomer, readPhone } from './customer.ts'
import { type Read, type Reading, readPlatformTime } from './reading.ts'
import { readSystem } from './system.ts'

const known: ReadonlyMap<unknown, DeliveryStatus> = new Map<string, DeliveryStatus>([
  ['sent', 'sent'],
  ['delivered', 'delivered'],
  ['read', 'read'],
  // A voice message that was played has been read as well.
  ['played', 'read'],
  ['failed', 'failed'],
])

/** One of `value.messages`: a customer wrote. */
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

/** One of `value.message_echoes`: a person answered on the phone. */
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

/**
 * One of `value.calls`. Only a call that the customer began opens the window, and only as it begins; as it ends it leaves
 * a notice.
 */
export function readCall(reading: Reading, call: Loose): Read {
  const begins = call.event === undefined || call.event === 'connect'
  const externalId = call.event === 'terminate' ? tokenOf(call.id) : null
  if (call.direction === 'BUSINESS_INITIATED' || (!begins && externalId === null)) return 'call that opens nothing'
  const customer = findCustomer(reading.contacts, call.from, call.from_user_id, call.from_parent_user_id)
  if (customer === null || customer.phone === reading.ownPhone) return 'call without a caller'
  const at = readPlatformTime(call.timestamp, reading.now)
  if (externalId === null) return { type: 'contact_opened', customer, at }
  const seconds = countOf(call.duration, maxCallSeconds)
  const text = callNotice({ isVideo: false, outcome: seconds ? 'answered' : 'missed', seconds })
  const notice = { type: 'message', externalId, customer, kind: 'system', text, at } as const
  return { ...notice, referral: null, opensWindow: false }
}

const maxCallSeconds = 7 * 86_400

/** One of `value.statuses`: how far a message of ours has come. */
export function readStatus(reading: Reading, item: Loose): Read {
  const status = known.get(item.status)
  const externalId = tokenOf(item.id)
  if (item.recipient_type === 'group') return 'status in a group'
  if (status === undefined) return 'status that is not known'
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

// Asked for it by a button, a customer who hides the number answers with a card of their own.
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

/** What is no message of its own: an edit, a withdrawal, a reaction that was lifted. */
function readRevision(message: Loose, about: About): Read {
  const inner = objectOf(message[String(message.type)])
  const originalId = tokenOf(message.type === 'reaction' ? inner.message_id : inner.original_message_id)
  if (originalId === null) return 'edit, withdrawal or lifted reaction of nothing'
  const shared = { ...about, originalId }
  if (message.type === 'revoke') return { type: 'withdrawn', ...shared }
  if (message.type === 'reaction') return { type: 'reaction_lifted', ...shared }
  const said = readContent(objectOf(inner.message))
  // What cannot be shown must not take the place of what could.
  if (said === null || said.kind === 'system') return 'edit that says nothing'
  return { type: 'edited', text: said.text.slice(0, maxTextLength).toWellFormed(), ...shared }
}
