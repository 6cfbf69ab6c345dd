import type { FastifyReply } from 'fastify'
import { unprocessable } from '../../../server/src/base/errors.ts'
import { type Fault, takeFault } from '../faults.ts'
import { type FileKind, fileMessageFields } from '../files/present-file.ts'
import { answerBadly } from '../graph/fault-answer.ts'
import { markRead, showTyping, startStatuses, stopTyping } from '../message-statuses.ts'
import type { Chat, Platform } from '../platform.ts'
import {
  addCustomer,
  addMessage,
  type BusinessNumber,
  type ChatMessage,
  type Customer,
  findByPhone,
  findByUserId,
  messageIn,
} from '../world.ts'
import { refusalOf } from './baileys-shapes.ts'
import { type Device, devicesOf } from './network.ts'
import { sendOutbound, sendStatus, suppressStatuses } from './notify.ts'
import { queueForDevices } from './socket.ts'

export interface DeviceMessage {
  id: string
  jid: string
  text?: string
  file?: { fileId: string; kind: FileKind; name?: string }
  quotes?: string
  reaction?: { about: string; emoji: string }
}

/** Accepts a message of a device, or applies a fault. The result arrives as a status update. */
export function handleMessage(
  platform: Platform,
  number: BusinessNumber,
  device: Device,
  message: DeviceMessage,
  reply: FastifyReply,
): unknown {
  const customer = customerAt(platform, number, message.jid)
  if (customer === undefined) {
    const update = refusalOf(message.jid, message.id, '404')
    queueForDevices(platform, devicesOf(platform.linked, number.numberId), 'messages.update', update)
    return { taken: true }
  }
  const fault = takeFault(platform.faults, 'send', [customer.waId, customer.userId])
  const accept = (failure: number | null) => acceptMessage({ platform, number, customer }, device, message, failure)
  return fault === undefined ? accept(null) : applyFault(platform, fault, message, reply, accept)
}

/** Returns an address's customer. Creates one for an unknown phone number; undefined for an unknown hidden id. */
export function customerAt({ world }: Platform, { numberId }: BusinessNumber, jid: string): Customer | undefined {
  if (jid.endsWith('@lid')) return findByUserId(world, numberId, jid)
  const [, phone] = /^(\d{5,20})@s\.whatsapp\.net$/.exec(jid) ?? []
  if (phone === undefined) return undefined
  return findByPhone(world, numberId, phone) ?? addCustomer(world, { numberId, name: `+${phone}`, phone })
}

// The network accepts an id twice and the phone shows it once. `arrivals` counts both, so that duplicates stay visible.
function acceptMessage(chat: Chat, device: Device, sent: DeviceMessage, failure: number | null): object {
  const { platform, customer } = chat
  const { id } = sent
  const known = customer.messages.find((message) => message.id === id)
  if (known !== undefined) {
    known.arrivals += 1
    sendStatus(chat, known)
    return { taken: true }
  }
  const shown = shownOf(chat, sent)
  const message = addMessage(customer, { ...shown, id, from: 'business', at: platform.clock.now() })
  const about = message.kind === 'quiet' ? messageIn(customer, message.quotes) : undefined
  if (about !== undefined && failure === null) about.reactions.business = message.text || null
  sendOutbound(chat, message, device)
  startStatuses(chat, message, failure)
  platform.changed()
  return { taken: true }
}

function shownOf(
  { platform: { files }, number: { numberId }, customer }: Chat,
  { text = '', file: carried, quotes = '', reaction }: DeviceMessage,
): Partial<ChatMessage> & { text: string } {
  if (reaction !== undefined) return { kind: 'quiet', text: reaction.emoji, quotes: reaction.about }
  const quoted = { quotes: messageIn(customer, quotes)?.id ?? null }
  if (carried === undefined) {
    if (text === '') throw unprocessable('Send text, a file or a reaction')
    return { ...quoted, text }
  }
  const file = files.find(carried.fileId)
  if (file?.numberId !== numberId) throw unprocessable('File not found. Upload it first')
  return { ...quoted, ...fileMessageFields(file, carried.kind, text, carried.name) }
}

function applyFault(
  platform: Platform,
  fault: Fault,
  message: DeviceMessage,
  reply: FastifyReply,
  accept: (failure: number | null) => object,
): unknown {
  switch (fault.effect) {
    case 'refuse':
    case 'fail':
      return accept(fault.code)
    // Sends no status, whether the customer gets the message or not.
    case 'hang':
      suppressStatuses(platform, message.id)
      return fault.accepts ? accept(null) : { taken: true }
    case 'late':
      suppressStatuses(platform, message.id)
      platform.scheduler.after(fault.afterMs, () => resumeStatuses(platform, message.id))
      return accept(null)
    default:
      if (fault.accepts) accept(null)
      return answerBadly(fault, reply)
  }
}

function resumeStatuses(platform: Platform, messageId: string): void {
  const { linked, world } = platform
  linked.suppressedStatuses.delete(messageId)
  for (const customer of world.customers.values()) {
    const message = customer.messages.find(({ id }) => id === messageId)
    const number = world.numbers.get(customer.numberId)
    if (message !== undefined && number !== undefined) sendStatus({ platform, number, customer }, message)
  }
}

/** Marks messages up to this one as read by a device. */
export function handleRead(platform: Platform, number: BusinessNumber, jid: string, messageId: string): void {
  const customer = customerAt(platform, number, jid)
  const message = customer?.messages.find(({ id, from }) => id === messageId && from === 'customer')
  if (customer !== undefined && message !== undefined) markRead(platform, customer, message)
}

/** Shows or ends that a device is typing. */
export function handleTyping(platform: Platform, number: BusinessNumber, jid: string, isTyping: boolean): void {
  const customer = customerAt(platform, number, jid)
  if (customer !== undefined) (isTyping ? showTyping : stopTyping)(platform, customer)
}
