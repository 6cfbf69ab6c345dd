import type { StoredFile } from './files/file-store.ts'
import { describeFile, type FileKind, fileMessageFields, isFileKind } from './files/present-file.ts'
import { addReadyMade, type ReadyMade } from './files/sample-files.ts'
import { type AdKind, contentOf, referralOf, shownParts, shownText, type Utterance } from './inbound.ts'
import { makePhoneId } from './linked/baileys-shapes.ts'
import { deviceContent } from './linked/content.ts'
import { sendInbound, sendMapping, sendOutbound } from './linked/notify.ts'
import { startFreeEntry } from './message-prices.ts'
import {
  addressOf,
  contactOf,
  deliverPending,
  messagesValue,
  seconds,
  senderOf,
  startStatuses,
} from './message-statuses.ts'
import { sendCopy } from './other-apps.ts'
import type { Chat, Platform } from './platform.ts'
import type { SimulatedTemplate } from './simulated-template.ts'
import { makeWamid } from './wamid.ts'
import { addMessage, type BusinessNumber, type ChatMessage, limits, messageIn, userIdOf } from './world.ts'

// Kinds about an existing message; they make no bubble of their own.
const kindsWithoutBubble: readonly string[] = ['reaction', 'reaction_removed', 'revoke', 'edit']

/** Sends a message from the customer. While the phone is offline the message waits on it. */
export function sendFromCustomer(
  chat: Chat,
  spoken: Utterance,
  { ad = null, at = chat.platform.clock.now() }: { ad?: AdKind | null; at?: Date } = {},
): ChatMessage {
  const { platform, number, customer } = chat
  const about = messageIn(customer, spoken.about)
  const utterance = spoken.file === undefined ? addFile(platform, number, spoken, about) : spoken
  const ends = { businessPhone: number.phone, customerPhone: customer.waId, about }
  const message: ChatMessage = addMessage(customer, {
    id: number.network === 'linked' ? makePhoneId() : makeWamid(addressOf(customer), 'inbound'),
    from: 'customer',
    kind: kindsWithoutBubble.includes(utterance.kind) ? 'quiet' : utterance.kind,
    text: shownText(utterance),
    at,
    ...shownParts(utterance, ends),
  })
  if (about !== undefined) applyToMessage(about, utterance)
  if (ad !== null) startFreeEntry(customer, at)
  const content =
    number.network === 'linked'
      ? deviceContent(utterance, { phone: customer.waId, ad, about, sealed: platform.linked.encryptedFiles })
      : { ...(ad === null ? {} : { referral: referralOf(ad) }), ...contentOf(utterance, ends) }
  if (customer.online) transmit(chat, message, content, at)
  else if (customer.unsent.length < limits.unsent) customer.unsent.push({ messageId: message.id, message: content })
  platform.changed()
  return message
}

const readyMade: Record<FileKind, ReadyMade> = {
  image: 'photo',
  video: 'clip',
  audio: 'voice',
  voice: 'voice',
  document: 'pdf',
  sticker: 'sticker',
}

/** Adds a ready-made file if none was chosen, or the file of the message being edited. */
function addFile(
  { files }: Platform,
  { numberId }: BusinessNumber,
  utterance: Utterance,
  about: ChatMessage | undefined,
): Utterance {
  const { kind, text } = utterance
  if (kind === 'edit') return about?.file?.id ? { ...utterance, file: files.find(about.file.id) } : utterance
  if (!isFileKind(kind)) return utterance
  // The text of a document is its file name if it has none.
  if (kind === 'document' && text !== '')
    return { ...utterance, text: '', file: addReadyMade(files, numberId, 'pdf', text) }
  return { ...utterance, file: addReadyMade(files, numberId, readyMade[kind]) }
}

/** Applies a reaction, edit or deletion to the message on the customer's own phone. */
function applyToMessage(message: ChatMessage, { kind, text }: Utterance): void {
  const isOwn = message.from === 'customer'
  if (kind === 'reaction') message.reactions.customer = text || '👍'
  if (kind === 'reaction_removed') message.reactions.customer = null
  if (kind === 'revoke' && isOwn) message.isWithdrawn = true
  if (kind === 'edit' && isOwn) {
    message.isEdited = true
    if (message.file === null) message.text = text
    else {
      message.caption = text
      message.text = describeFile(message.file.kind, text || message.file.name)
    }
  }
}

function transmit(chat: Chat, message: ChatMessage, content: object, at: Date): void {
  const { platform, number, customer } = chat
  message.at = at
  message.status = 'sent'
  if (message.kind !== 'group') customer.lastWroteAt = wholeSeconds(at)
  const onDelivered = () => {
    if (message.status === 'sent') message.status = 'delivered'
    platform.changed()
  }
  if (number.network === 'linked') {
    sendInbound(chat, message, { content, onDelivered })
    return
  }
  const parts = {
    contacts: [contactOf(customer)],
    messages: [{ ...senderOf(customer), id: message.id, timestamp: seconds(at), ...content }],
  }
  if (customer.answeredBy !== 'business') {
    sendCopy(chat, parts, onDelivered)
    return
  }
  const value = { ...messagesValue(number), ...parts }
  platform.webhookSender.send(number, { field: 'messages', value, lane: customer.id, onDelivered })
}

const wholeSeconds = (at: Date): Date => new Date(Math.floor(at.getTime() / 1000) * 1000)

/** Switches the phone's network on or off; messages that waited on either side are then delivered. */
export function setOnline(chat: Chat, online: boolean): void {
  const { platform, customer } = chat
  customer.online = online
  platform.changed()
  if (!online) return
  for (const { messageId, message: content } of customer.unsent.splice(0)) {
    const message = customer.messages.find(({ id }) => id === messageId)
    if (message !== undefined) transmit(chat, message, content, platform.clock.now())
  }
  deliverPending(chat)
}

/** Makes a call from the customer: carries no text, but opens the window. */
export function callBusiness(chat: Chat): void {
  const { platform, number, customer } = chat
  const now = platform.clock.now()
  customer.lastWroteAt = wholeSeconds(now)
  addMessage(customer, {
    id: makeWamid(addressOf(customer), 'inbound'),
    from: 'customer',
    kind: 'call',
    text: '📞 Call',
    at: now,
    status: 'delivered',
  })
  platform.changed()
  // The connector reads no calls from linked devices.
  if (number.network === 'linked') return
  const calls = [
    {
      ...senderOf(customer),
      id: `wacid.${makeWamid(addressOf(customer), 'inbound').slice('wamid.'.length)}`,
      to: number.phone,
      event: 'connect',
      timestamp: seconds(now),
      direction: 'USER_INITIATED',
    },
  ]
  const value = { ...messagesValue(number), contacts: [contactOf(customer)], calls }
  platform.webhookSender.send(number, { field: 'calls', value, lane: customer.id })
}

/** Announces that the customer stopped marketing messages of the business, or resumed them. */
export function announcePreference({ platform, number, customer }: Chat): void {
  // Linked devices are not told.
  if (number.network === 'linked') return
  const preference = {
    ...(customer.hidesNumber ? {} : { wa_id: customer.waId }),
    user_id: customer.userId,
    detail: `User requested to ${customer.stopsMarketing ? 'stop' : 'resume'} marketing messages`,
    category: 'marketing_messages',
    value: customer.stopsMarketing ? 'stop' : 'resume',
    timestamp: Number(seconds(platform.clock.now())),
  }
  const value = { ...messagesValue(number), contacts: [contactOf(customer)], user_preferences: [preference] }
  platform.webhookSender.send(number, { field: 'user_preferences', value, lane: customer.id })
}

/** Changes the customer's number. The platform assigns a new user id as well, and announces both. */
export function changeNumber(chat: Chat, phone: string): void {
  const { platform, number, customer } = chat
  const { waId: oldPhone, userId: oldUserId } = customer
  customer.waId = phone
  platform.changed()
  if (number.network === 'linked') {
    if (!customer.hidesNumber) sendMapping(chat)
    return
  }
  customer.userId = userIdOf(number.numberId, phone)
  if (!customer.hidesNumber) {
    const body = `User ${customer.name} changed from ${oldPhone} to ${phone}`
    notify(chat, oldPhone, { from: oldPhone }, { body, wa_id: phone, type: 'user_changed_number' })
  }
  const ids = { previous_user_id: oldUserId, user_id: customer.userId }
  const body = `User ${customer.name} changed from ${oldUserId} to ${customer.userId}`
  notify(chat, customer.userId, {}, { ...ids, body, type: 'user_changed_user_id' })
}

// System messages about a customer have no `contacts`.
function notify(chat: Chat, address: string, from: object, system: object): void {
  const { platform, number, customer } = chat
  const id = makeWamid(address, 'inbound')
  const message = { ...from, id, timestamp: seconds(platform.clock.now()), type: 'system', system }
  const value = { ...messagesValue(number), messages: [message] }
  platform.webhookSender.send(number, { field: 'messages', value, lane: customer.id })
}

/** Sends a message typed by a person on the business's own phone, for numbers that are also used there. */
export function sendFromDevice(chat: Chat, text: string, attached: AttachedFile | null = null): ChatMessage {
  const { platform, number, customer } = chat
  const { clock, webhookSender } = platform
  const now = clock.now()
  const isLinked = number.network === 'linked'
  const id = isLinked ? makePhoneId() : makeWamid(addressOf(customer), 'outbound')
  const shown = attached === null ? { text } : fileMessageFields(attached.file, attached.kind, text)
  const message = addMessage(customer, { ...shown, id, from: 'device', at: now })
  startStatuses(chat, message, null)
  platform.changed()
  if (isLinked) {
    sendOutbound(chat, message, null)
    return message
  }
  const echo = {
    from: number.phone,
    ...(customer.hidesNumber ? {} : { to: customer.waId }),
    to_user_id: customer.userId,
    id,
    timestamp: seconds(now),
    ...(attached === null
      ? { type: 'text', text: { body: text } }
      : contentOf(
          { kind: attached.kind, text, about: null, file: attached.file },
          { businessPhone: number.phone, customerPhone: customer.waId },
        )),
  }
  const value = { ...messagesValue(number), contacts: [contactOf(customer)], message_echoes: [echo] }
  webhookSender.send(number, { field: 'smb_message_echoes', value, lane: customer.id })
  return message
}

/** File that the business sends from the phone. */
interface AttachedFile {
  kind: FileKind
  file: StoredFile
}

/** Why the platform has rejected a template, in words. */
export interface Rejection {
  reason: string
  recommendation: string
}

/** Announces a template's new status; callbacks take it as a hint to fetch the list again. */
export function announceTemplate(
  platform: Platform,
  template: SimulatedTemplate,
  event: string,
  rejection: Rejection | null = null,
): void {
  const isRejected = event === 'REJECTED'
  const pause = { title: 'FIRST_PAUSE', description: 'Your message template has been paused for 3 hours.' }
  const value = {
    event,
    ...templateIds(template),
    message_template_category: template.category,
    reason: isRejected ? (template.rejected_reason ?? 'INVALID_FORMAT') : 'NONE',
    ...(isRejected && rejection !== null && { rejection_info: rejection }),
    ...(event === 'PAUSED' && { other_info: pause }),
  }
  announce(platform, 'message_template_status_update', value)
}

const templateIds = ({ id, name, language }: SimulatedTemplate) => ({
  message_template_id: Number(id),
  message_template_name: name,
  message_template_language: language,
})

/** Announces how customers react to a template. */
export function announceQuality(platform: Platform, template: SimulatedTemplate, previous: string): void {
  announce(platform, 'message_template_quality_update', {
    previous_quality_score: previous,
    new_quality_score: template.quality_score?.score ?? 'UNKNOWN',
    ...templateIds(template),
  })
}

/** Announces that a template has another category from now on. */
export function announceCategory(platform: Platform, template: SimulatedTemplate, previous: string): void {
  announce(platform, 'template_category_update', {
    message_template_id: Number(template.id),
    message_template_name: template.name,
    message_template_language: template.language.replace('_', '-'),
    previous_category: previous,
    new_category: template.category,
  })
}

export const accountEvents = [
  'ACCOUNT_RESTRICTION',
  'ACCOUNT_VIOLATION',
  'DISABLED_UPDATE',
  'ACCOUNT_DELETED',
  'PARTNER_REMOVED',
  'ACCOUNT_OFFBOARDED',
  'ACCOUNT_RECONNECTED',
] as const

/** Announces an event of a number's account. */
export function announceAccount(
  { webhookSender }: Platform,
  number: BusinessNumber,
  event: (typeof accountEvents)[number],
): void {
  const violation = event === 'ACCOUNT_VIOLATION' ? { violation_info: { violation_type: 'SPAM' } } : {}
  webhookSender.send(number, { field: 'account_update', value: { event, ...violation }, isTimed: true })
}

// Every account has the same templates here, and gets each announcement once.
function announce({ webhookSender, world }: Platform, field: string, value: object): void {
  const accounts = new Map([...world.numbers.values()].map((number) => [number.accountId, number]))
  for (const number of accounts.values()) webhookSender.send(number, { field, value, isTimed: true })
}
