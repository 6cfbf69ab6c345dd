import type { ChannelEvent, DeliveryStatus } from '../../channel-event.ts'
import type { NewChatLevel } from '../../health/number-status.ts'
import { createEdit, createNotice, type ParsedItem, parseCount, parseItems } from '../../untrusted-values.ts'
import { type JsonObject, listOf, objectOf, textOf, tokenOf } from '../../waba/json.ts'
import type { SocketEvent } from '../transport/transport.ts'
import { callLog, isEmpty, missedCallText, parseContent, parseReferral, unwrap } from './content.ts'
import { customerOf, parseJid, parseName, parseNetworkTime } from './jid.ts'

/** Result of parsing one socket event. */
export interface ParsedEvent {
  /** Change of the socket itself; null if none. */
  update: SocketUpdate | null
  /**
   * In order of arrival. Our own messages are not recognized yet: an `echo` with one of our ids is not an echo, and a
   * `status` has no correlator yet.
   */
  events: ChannelEvent[]
  /** Reasons for skipped items, without values, for the log. */
  skipped: string[]
}

/** Parses one socket event. Accepts any data: names in `skipped` what it does not understand and parses the rest. */
export function parseEvent({ event, data }: SocketEvent, now: Date): ParsedEvent {
  switch (event) {
    case 'connection.update':
      return { update: parseUpdate(data), events: parseTimelock(objectOf(data).reachoutTimeLock), skipped: [] }
    case 'message-capping.update':
      return { update: null, events: [parseNewChats(objectOf(data))], skipped: [] }
    case 'messages.upsert':
      return parseEach(listOf(objectOf(data).messages), (item) => parseMessage(item, now))
    case 'messages.update':
      return parseEach(listOf(data), (item) => parseStatus(item, now))
    case 'messaging-history.set':
      return parseEach([data], (item) => parseHistory(item, now))
    case 'contacts.upsert':
    case 'contacts.update':
      return parseEach(listOf(data), (item) => parseContact(item))
    case 'lid-mapping.update':
      return parseEach([data].flat(), (item) => parseMapping(item))
    default:
      event satisfies never
      return { update: null, events: [], skipped: ['unsupported event'] }
  }
}

function parseEach(items: unknown[], read: (item: JsonObject) => ParsedItem): ParsedEvent {
  const [events, skipped]: [ChannelEvent[], string[]] = [[], []]
  for (const one of parseItems(items, read)) {
    if (typeof one === 'string') skipped.push(one)
    else events.push(one)
  }
  return { update: null, events, skipped }
}

type HistoryEvent = Extract<ChannelEvent, { type: 'history' }>

/** Parses `messaging-history.set`: messages from before the pairing, and the phone's contacts. */
function parseHistory({ messages, contacts, lidPnMappings }: JsonObject, now: Date): ParsedItem {
  const phones = phonesOf(listOf(lidPnMappings))
  return [
    ...listOf(messages).map((one) => parseHistoryMessage(objectOf(one), phones, now)),
    ...listOf(lidPnMappings).flatMap((one) => parseMapping(objectOf(one))),
    ...listOf(contacts).flatMap((one) => parseContact(objectOf(one))),
  ]
}

function parseHistoryMessage(
  message: JsonObject,
  phones: ReadonlyMap<string, string>,
  now: Date,
): HistoryEvent | string {
  const { id, fromMe, remoteJid, remoteJidAlt } = objectOf(message.key)
  const jid = parseJid(remoteJid)
  if (jid === null) return 'message not between two people'
  const externalId = tokenOf(id)
  const content = unwrap(message.message)
  const messageContent = isEmpty(content) ? null : parseContent(content)
  if (messageContent === null || externalId === null) return 'history message without content'
  const direction = fromMe === true ? 'outbound' : 'inbound'
  const known = jid.lid === null ? null : phones.get(jid.lid)
  const name = direction === 'inbound' ? parseName(message.verifiedBizName, message.pushName) : null
  const customer = customerOf([remoteJid, remoteJidAlt, known], name)
  if (customer === null) return 'history message without a customer'
  const status = direction === 'inbound' ? 'delivered' : statusOf(message.status)
  const at = parseNetworkTime(message.messageTimestamp, now)
  return { type: 'history', direction, externalId, customer, ...messageContent, status, at }
}

function phonesOf(mappings: unknown[]): Map<string, string> {
  const phones = new Map<string, string>()
  for (const mapping of mappings) {
    const { lid, pn } = objectOf(mapping)
    const hidden = parseJid(lid)?.lid
    if (hidden && typeof pn === 'string') phones.set(hidden, pn)
  }
  return phones
}

function statusOf(number: unknown): HistoryEvent['status'] {
  return number === 1 ? 'pending' : (statuses.get(number) ?? 'delivered')
}

/** Number of the status on the network. */
const pending = 1

/**
 * Parses an item of `messages.upsert`, live or queued while offline: from a customer, or from a person on the phone.
 */
function parseMessage(message: JsonObject, now: Date): ParsedItem {
  const { id, fromMe, remoteJid, remoteJidAlt } = objectOf(message.key)
  if (parseJid(remoteJid) === null) return 'message not between two people'
  const externalId = tokenOf(id)
  if (externalId === null) return 'message without an id'
  const content = unwrap(message.message)
  const missed = missedCallText(message.messageStubType)
  if (missed !== null) return parseMissedCall(message, externalId, missed, now)
  // The message is sent again with the same id once it is decrypted, so nothing may be stored now.
  if (isEmpty(content)) return 'notice or message not decrypted yet'
  const messageContent = parseContent(content)
  const isOurs = fromMe === true
  // A device receives its own messages before the network acknowledges them.
  if (isOurs && message.status === pending) return 'message not sent yet'
  // The name in a message from the phone is its owner's.
  const name = isOurs ? null : parseName(message.verifiedBizName, message.pushName)
  const customer = customerOf([remoteJid, remoteJidAlt], name)
  if (customer === null) return 'message without a customer'
  const at = parseNetworkTime(message.messageTimestamp, now)
  if (messageContent === null)
    return parseRevision(content, { direction: isOurs ? 'outbound' : 'inbound', customer, at }, now)
  const shared = { externalId, customer, ...messageContent, at }
  if (isOurs) return { type: 'echo', ...shared }
  // A call is not a message and does not open the window.
  return { type: 'message', ...shared, referral: parseReferral(content), opensWindow: !(callLog in content) }
}

function parseMissedCall(message: JsonObject, externalId: string, text: string, now: Date): ParsedItem {
  const { remoteJid, remoteJidAlt } = objectOf(message.key)
  const customer = customerOf([remoteJid, remoteJidAlt], null)
  if (customer === null) return 'call without a customer'
  const at = parseNetworkTime(message.messageTimestamp, now)
  return createNotice(externalId, customer, text, at)
}

/** Parses a contact of the phone: a name for a customer, or both of their addresses. */
function parseContact({ id, lid, phoneNumber, name, verifiedName, notify }: JsonObject): ParsedItem {
  const customer = customerOf([id, lid, phoneNumber], parseName(name, verifiedName, notify))
  if (customer === null) return 'contact that is not a person'
  const hasNewData = customer.name !== null || (customer.userId !== null && customer.phone !== null)
  return hasNewData ? { type: 'contact_named', customer } : 'contact without a name'
}

/**
 * Parses the mapping of a hidden address to a phone. Returns a contact without a name, which links both addresses and
 * merges two customers that are the same person.
 */
function parseMapping({ lid, pn }: JsonObject): ParsedItem {
  const customer = customerOf([lid, pn], null)
  if (customer === null || customer.userId === null || customer.phone === null) return 'mapping without both addresses'
  return { type: 'contact_named', customer }
}

/** Numbers of statuses on the network; 1 means not sent yet. */
const statuses: ReadonlyMap<unknown, DeliveryStatus> = new Map<number, DeliveryStatus>([
  [0, 'failed'],
  [2, 'sent'],
  [3, 'delivered'],
  [4, 'read'],
  // A played voice message was also read.
  [5, 'read'],
])

/** Parses an item of `messages.update`: the status of one of our messages. Edits and deletions also appear here. */
function parseStatus({ key, update }: JsonObject, now: Date): ParsedItem {
  const { id, fromMe, remoteJid, remoteJidAlt } = objectOf(key)
  const { status: number, messageTimestamp, messageStubParameters } = objectOf(update)
  const status = statuses.get(number)
  const externalId = tokenOf(id)
  if (status === undefined) return parseChange(objectOf(key), objectOf(update), now)
  if (fromMe !== true) return "status of a customer's message"
  if (externalId === null) return 'status without an id'
  // The address may differ from the recipient: the id identifies the message.
  if (parseJid(remoteJid) === null && remoteJid !== undefined) return 'status not about a person'
  return {
    type: 'status',
    externalId,
    status,
    errorCode: status === 'failed' ? (tokenOf(listOf(messageStubParameters)[0])?.slice(0, 50) ?? 'unknown') : null,
    at: parseNetworkTime(messageTimestamp, now),
    correlator: null,
    customer: customerOf([remoteJid, remoteJidAlt], null),
  }
}

type RevisionContext = Pick<Extract<ChannelEvent, { originalId: string }>, 'direction' | 'customer' | 'at'>

/** Numbers on the network for changes of a message, and for the notice that replaces a deleted one. */
const [deletion, edit, deletedNotice] = [0, 14, 1]

/** Parses an edit, deletion or removed reaction. Takes the result of `unwrap`. */
function parseRevision(content: JsonObject, context: RevisionContext, now: Date): ParsedItem {
  const { type, key, editedMessage, timestampMs } = objectOf(content.protocolMessage)
  const reaction = objectOf(content.reactionMessage)
  const originalId = tokenOf(objectOf(key ?? reaction.key).id)
  const isKnown = type === deletion || type === edit || 'reactionMessage' in content
  if (!isKnown || originalId === null) return 'unsupported change, or change without a message id'
  if ('reactionMessage' in content) return { type: 'reaction_lifted', originalId, ...context }
  if (type === deletion) return { type: 'withdrawn', originalId, ...context }
  return createEdit(parseContent(unwrap(editedMessage)), {
    originalId,
    ...context,
    at: parseNetworkTime(timestampMs, now, context.at),
  })
}

/** Parses another `messages.update`: Baileys repeats edits and deletions, and reports encrypted edits only here. */
function parseChange(key: JsonObject, update: JsonObject, now: Date): ParsedItem {
  const isDeletion = update.message === null && update.messageStubType === deletedNotice
  const edited = objectOf(objectOf(update.message).editedMessage).message
  const originalId = tokenOf(key.id)
  if ((!isDeletion && edited === undefined) || originalId === null) return 'unsupported change of a message'
  const customer = customerOf([key.remoteJid, key.remoteJidAlt], null)
  if (customer === null) return 'change of a message without a customer'
  const direction = key.fromMe === true ? 'outbound' : 'inbound'
  const context: RevisionContext = { direction, customer, at: parseNetworkTime(update.messageTimestamp, now) }
  return isDeletion
    ? { type: 'withdrawn', originalId, ...context }
    : createEdit(parseContent(unwrap(edited)), { originalId, ...context })
}

/** State of a socket, with only the fields that the event contained. */
export interface SocketUpdate {
  /** Text to show as a QR code until the next one arrives. */
  qr?: string
  state?: 'connecting' | 'open' | 'closed'
  /** With `closed`: code for `decideAfterClose`. */
  code?: number | null
  /** The code was scanned; the socket will close and ask for a restart. */
  isNewLogin?: boolean
  /** Digits of the linked phone, from `me`. */
  phone?: string | null
}

const states: ReadonlyMap<unknown, SocketUpdate['state']> = new Map<string, SocketUpdate['state']>([
  ['connecting', 'connecting'],
  ['open', 'open'],
  ['close', 'closed'],
])

/** Parses `connection.update`, to which the transport adds `me` once known; null if it has no known field. */
function parseUpdate(data: unknown): SocketUpdate | null {
  const { connection, qr, isNewLogin, lastDisconnect, me } = objectOf(data)
  const update: SocketUpdate = {}
  const code = textOf(qr)
  if (code !== null) update.qr = code
  const state = states.get(connection)
  if (state !== undefined) update.state = state
  if (state === 'closed') update.code = codeOf(lastDisconnect)
  if (isNewLogin === true) update.isNewLogin = true
  if (me !== undefined && me !== null) update.phone = phoneOf(me)
  return Object.keys(update).length === 0 ? null : update
}

function codeOf(lastDisconnect: unknown): number | null {
  const { output, statusCode } = objectOf(objectOf(lastDisconnect).error)
  const code = objectOf(output).statusCode ?? statusCode
  return typeof code === 'number' && Number.isSafeInteger(code) ? code : null
}

function phoneOf(me: unknown): string | null {
  const { id, phoneNumber } = objectOf(me)
  return parseJid(id)?.phone ?? parseJid(phoneNumber)?.phone ?? null
}

type NumberStatusEvent = Extract<ChannelEvent, { type: 'number_status' }>

const levels: ReadonlyMap<unknown, NewChatLevel> = new Map<unknown, NewChatLevel>([
  ['NONE', 'normal'],
  ['FIRST_WARNING', 'first_warning'],
  ['SECOND_WARNING', 'second_warning'],
  ['CAPPED', 'capped'],
])

const maxQuota = 2_147_483_647

/** Parses `message-capping.update`: how many new chats the number may start. */
function parseNewChats(info: JsonObject): NumberStatusEvent {
  const { capping_status, used_quota, total_quota, cycle_end_timestamp } = info
  const newChats = {
    level: levels.get(capping_status) ?? 'normal',
    used: parseCount(used_quota, maxQuota),
    // -1 means no limit.
    total: parseCount(total_quota, maxQuota),
    endsAt: parseSeconds(cycle_end_timestamp),
  }
  return { type: 'number_status', facts: { newChats }, isHint: false }
}

/** Parses `reachoutTimeLock` of `connection.update`: until when the number cannot write to new people. */
function parseTimelock(value: unknown): NumberStatusEvent[] {
  if (value === undefined || value === null) return []
  const { isActive, timeEnforcementEnds } = objectOf(value)
  const newChatsLockedUntil = isActive === true ? parseTime(timeEnforcementEnds) : null
  return [{ type: 'number_status', facts: { newChatsLockedUntil }, isHint: false }]
}

const parseSeconds = (value: unknown): string | null => {
  const seconds = typeof value === 'string' && /^\d{1,12}$/.test(value) ? Number(value) : value
  return typeof seconds === 'number' && seconds > 0 ? parseTime(seconds * 1000) : null
}

const lastMs = Date.UTC(9999, 0)

/** Parses a time in milliseconds, as a date or as ISO text. */
function parseTime(value: unknown): string | null {
  const ms = typeof value === 'string' && value.length <= 40 ? Date.parse(value) : Number(value)
  return ms > 0 && ms < lastMs ? new Date(ms).toISOString() : null
}
