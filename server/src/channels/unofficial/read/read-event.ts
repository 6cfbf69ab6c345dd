import type { ChannelEvent, DeliveryStatus } from '../../channel-event.ts'
import { editOf, noticeOf, type Read, readItems } from '../../detail-values.ts'
import { type Loose, listOf, objectOf, textOf, tokenOf } from '../../waba/json.ts'
import type { SocketEvent } from '../transport/transport.ts'
import { callLog, missedCallText, readContent, readReferral } from './content.ts'
import { isEmpty, unwrap } from './detail.ts'
import { customerOf, readJid, readName, readNetworkTime } from './jid.ts'

/** What one event of a socket came to. */
export interface ReadEvent {
  /** About the socket itself; null when the event says nothing of it. */
  update: SocketUpdate | null
  /**
   * In the order they came. Nothing here knows which messages are ours: an `echo` under an id that we chose is
   * none, and a `status` has no correlator yet.
   */
  events: ChannelEvent[]
  /** Kinds of items that were passed over, with a reason without values: for the log. */
  skipped: string[]
}

/**
 * Reads one event of a socket. Takes anything: what is not understood is named in `skipped`, and never keeps the rest from
 * being read.
 */
export function readEvent({ event, data }: SocketEvent, now: Date): ReadEvent {
  switch (event) {
    case 'connection.update':
      return { update: readUpdate(data), events: [], skipped: [] }
    case 'messages.upsert':
      return readEach(listOf(objectOf(data).messages), (item) => readMessage(item, now))
    case 'messages.update':
      return readEach(listOf(data), (item) => readStatus(item, now))
    case 'messaging-history.set':
      return readEach([data], (item) => readHistory(item, now))
    case 'contacts.upsert':
    case 'contacts.update':
      return readEach(listOf(data), (item) => readContact(item))
    case 'lid-mapping.update':
      return readEach([data].flat(), (item) => readMapping(item))
    default:
      event satisfies never
      return { update: null, events: [], skipped: ['event that is not read'] }
  }
}

function readEach(items: unknown[], read: (item: Loose) => Read): ReadEvent {
  const [events, skipped]: [ChannelEvent[], string[]] = [[], []]
  for (const one of readItems(items, read)) {
    if (typeof one === 'string') skipped.push(one)
    else events.push(one)
  }
  return { update: null, events, skipped }
}

type HistoryEvent = Extract<ChannelEvent, { type: 'history' }>

/** The data of `messaging-history.set`: what was written before the number was paired, and who the phone knows. */
function readHistory({ messages, contacts, lidPnMappings }: Loose, now: Date): Read {
  const phones = phonesOf(listOf(lidPnMappings))
  return [
    ...listOf(messages).map((one) => readOld(objectOf(one), phones, now)),
    ...listOf(lidPnMappings).flatMap((one) => readMapping(objectOf(one))),
    ...listOf(contacts).flatMap((one) => readContact(objectOf(one))),
  ]
}

function readOld(message: Loose, phones: ReadonlyMap<string, string>, now: Date): HistoryEvent | string {
  const { id, fromMe, remoteJid, remoteJidAlt } = objectOf(message.key)
  const jid = readJid(remoteJid)
  if (jid === null) return 'message that is not between two people'
  const externalId = tokenOf(id)
  const content = unwrap(message.message)
  const said = isEmpty(content) ? null : readContent(content)
  if (said === null || externalId === null) return 'old message that says nothing'
  const direction = fromMe === true ? 'outbound' : 'inbound'
  const known = jid.lid === null ? null : phones.get(jid.lid)
  const name = direction === 'inbound' ? readName(message.verifiedBizName, message.pushName) : null
  const customer = customerOf([remoteJid, remoteJidAlt, known], name)
  if (customer === null) return 'old message of nobody'
  const status = direction === 'inbound' ? 'delivered' : statusOf(message.status)
  const at = readNetworkTime(message.messageTimestamp, now)
  return { type: 'history', direction, externalId, customer, ...said, status, at }
}

function phonesOf(mappings: unknown[]): Map<string, string> {
  const phones = new Map<string, string>()
  for (const mapping of mappings) {
    const { lid, pn } = objectOf(mapping)
    const hidden = readJid(lid)?.lid
    if (hidden && typeof pn === 'string') phones.set(hidden, pn)
  }
  return phones
}

function statusOf(number: unknown): HistoryEvent['status'] {
  return number === 1 ? 'pending' : (statuses.get(number) ?? 'delivered')
}

/** As the network numbers the statuses of messages. */
const pending = 1

/** One of `messages.upsert`, live or kept for us while we were away: a customer wrote, or a person did on the phone. */
function readMessage(message: Loose, now: Date): Read {
  const { id, fromMe, remoteJid, remoteJidAlt } = objectOf(message.key)
  if (readJid(remoteJid) === null) return 'message that is not between two people'
  const externalId = tokenOf(id)
  if (externalId === null) return 'message without an id'
  const content = unwrap(message.message)
  const missed = missedCallText(message.messageStubType)
  if (missed !== null) return readMissedCall(message, externalId, missed, now)
  // It comes again under the same id once it could be decrypted, so nothing of it may be kept.
  if (isEmpty(content)) return 'notice, or message that is not decrypted yet'
  const said = readContent(content)
  const isOurs = fromMe === true
  // A device gets its own messages before the network has acknowledged them.
  if (isOurs && message.status === pending) return 'message that has not left yet'
  // Beside what was written on the phone stands the name of its owner.
  const name = isOurs ? null : readName(message.verifiedBizName, message.pushName)
  const customer = customerOf([remoteJid, remoteJidAlt], name)
  if (customer === null) return 'message of nobody'
  const at = readNetworkTime(message.messageTimestamp, now)
  if (said === null) return readRevision(content, { direction: isOurs ? 'outbound' : 'inbound', customer, at }, now)
  const shared = { externalId, customer, ...said, at }
  if (isOurs) return { type: 'echo', ...shared }
  // Who calls has written nothing.
  return { type: 'message', ...shared, referral: readReferral(content), opensWindow: !(callLog in content) }
}

function readMissedCall(message: Loose, externalId: string, text: string, now: Date): Read {
  const { remoteJid, remoteJidAlt } = objectOf(message.key)
  const customer = customerOf([remoteJid, remoteJidAlt], null)
  if (customer === null) return 'call of nobody'
  const at = readNetworkTime(message.messageTimestamp, now)
  return noticeOf(externalId, customer, text, at)
}

/** One of the phone's contacts: a name for a customer, or both of their addresses. */
function readContact({ id, lid, phoneNumber, name, verifiedName, notify }: Loose): Read {
  const customer = customerOf([id, lid, phoneNumber], readName(name, verifiedName, notify))
  if (customer === null) return 'contact that is no person'
  const isNews = customer.name !== null || (customer.userId !== null && customer.phone !== null)
  return isNews ? { type: 'contact_named', customer } : 'contact without a name'
}

/**
 * The phone behind a hidden address. Returned as a contact without a name: whoever is known by one of the two is then known by
 * both, and who seemed to be two becomes one.
 */
function readMapping({ lid, pn }: Loose): Read {
  const customer = customerOf([lid, pn], null)
  if (customer === null || customer.userId === null || customer.phone === null) return 'mapping without both addresses'
  return { type: 'contact_named', customer }
}

/** As the network numbers them; 1 says that the message has not left yet. */
const statuses: ReadonlyMap<unknown, DeliveryStatus> = new Map<number, DeliveryStatus>([
  [0, 'failed'],
  [2, 'sent'],
  [3, 'delivered'],
  [4, 'read'],
  // A voice message that was played has been read as well.
  [5, 'read'],
])

/** One of `messages.update`: how far a message of ours has come. Edits and the like come this way once more. */
function readStatus({ key, update }: Loose, now: Date): Read {
  const { id, fromMe, remoteJid, remoteJidAlt } = objectOf(key)
  const { status: number, messageTimestamp, messageStubParameters } = objectOf(update)
  const status = statuses.get(number)
  const externalId = tokenOf(id)
  if (status === undefined) return readChange(objectOf(key), objectOf(update), now)
  if (fromMe !== true) return "status of a customer's message"
  if (externalId === null) return 'status without an id'
  // The address may be another one than was written to: the id is what joins them.
  if (readJid(remoteJid) === null && remoteJid !== undefined) return 'status that is not of a person'
  return {
    type: 'status',
    externalId,
    status,
    errorCode: status === 'failed' ? (tokenOf(listOf(messageStubParameters)[0])?.slice(0, 50) ?? 'unknown') : null,
    at: readNetworkTime(messageTimestamp, now),
    correlator: null,
    customer: customerOf([remoteJid, remoteJidAlt], null),
  }
}

type About = Pick<Extract<ChannelEvent, { originalId: string }>, 'direction' | 'customer' | 'at'>

/** As the network numbers what concerns another message, and notices in place of one. */
const [withdrawal, edit, withdrawnNotice] = [0, 14, 1]

/** What is no message of its own: an edit, a withdrawal, a reaction that was lifted. Takes what `unwrap` returns. */
function readRevision(content: Loose, about: About, now: Date): Read {
  const { type, key, editedMessage, timestampMs } = objectOf(content.protocolMessage)
  const reaction = objectOf(content.reactionMessage)
  const originalId = tokenOf(objectOf(key ?? reaction.key).id)
  const isKnown = type === withdrawal || type === edit || 'reactionMessage' in content
  if (!isKnown || originalId === null) return 'edit, withdrawal, lifted reaction or the like'
  if ('reactionMessage' in content) return { type: 'reaction_lifted', originalId, ...about }
  if (type === withdrawal) return { type: 'withdrawn', originalId, ...about }
  return editOf(readContent(unwrap(editedMessage)), {
    originalId,
    ...about,
    at: readNetworkTime(timestampMs, now, about.at),
  })
}

/**
 * One of `messages.update` that is no status: the network's library tells edits and withdrawals once more this way, and
 * edits that came encrypted in no other.
 */
function readChange(key: Loose, update: Loose, now: Date): Read {
  const isWithdrawal = update.message === null && update.messageStubType === withdrawnNotice
  const edited = objectOf(objectOf(update.message).editedMessage).message
  const originalId = tokenOf(key.id)
  if ((!isWithdrawal && edited === undefined) || originalId === null) return 'change of a message that is no status'
  const customer = customerOf([key.remoteJid, key.remoteJidAlt], null)
  if (customer === null) return 'change of a message of nobody'
  const direction = key.fromMe === true ? 'outbound' : 'inbound'
  const about: About = { direction, customer, at: readNetworkTime(update.messageTimestamp, now) }
  return isWithdrawal
    ? { type: 'withdrawn', originalId, ...about }
    : editOf(readContent(unwrap(edited)), { originalId, ...about })
}

/** What a socket says of itself. Only what it said is there. */
export interface SocketUpdate {
  /** To be shown as a QR code until the next one comes. */
  qr?: string
  state?: 'connecting' | 'open' | 'closed'
  /** With `closed`: what `afterClose` judges by. */
  code?: number | null
  /** The code was scanned: a close that asks for a restart follows. */
  isNewLogin?: boolean
  /** The digits of the phone that shares its number with us, from `me` beside the state. */
  phone?: string | null
}

const states: ReadonlyMap<unknown, SocketUpdate['state']> = new Map<string, SocketUpdate['state']>([
  ['connecting', 'connecting'],
  ['open', 'open'],
  ['close', 'closed'],
])

/** The data of `connection.update`, to which the transport adds `me` when the number is known; null when it says nothing. */
function readUpdate(data: unknown): SocketUpdate | null {
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
  return readJid(id)?.phone ?? readJid(phoneNumber)?.phone ?? null
}
