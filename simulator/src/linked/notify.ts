import type { Chat, Platform } from '../platform.ts'
import { type ChatMessage, type Customer, messageIn } from '../world.ts'
import { chatOf, fileContent, jidOf, mappingOf, messageOf, statusOf, upsertOf } from './baileys-shapes.ts'
import { type Device, devicesOf, linkedLimits } from './network.ts'
import { push, queueForDevices } from './socket.ts'

/** Sends a customer's message to the devices. Delivered when a device acknowledges it, or at once without devices. */
export function sendInbound(
  chat: Chat,
  { id, at }: ChatMessage,
  { content, onDelivered }: { content: object; onDelivered: () => void },
): void {
  const { platform, number, customer } = chat
  const devices = devicesOf(platform.linked, number.numberId)
  const deviceMessage = messageOf(number, customer, { id, fromMe: false, at, content })
  queueForDevices(platform, devices, 'messages.upsert', upsertOf('notify', [deviceMessage]), { onDelivered })
  if (devices.length === 0) onDelivered()
}

/** Sends a message from the phone or one of its devices to the other devices. */
export function sendOutbound(chat: Chat, message: ChatMessage, by: Device | null): void {
  const { platform, number, customer } = chat
  const { id, at } = message
  const content = { message: outboundContent(platform, customer, message) }
  const deviceMessage = (status: number) => messageOf(number, customer, { id, fromMe: true, at, content, status })
  const devices = devicesOf(platform.linked, number.numberId)
  queueForDevices(platform, devices, 'messages.upsert', upsertOf('notify', [deviceMessage(2)]), { except: by })
  // A device gets its own messages only while connected; they are not queued.
  if (by?.socket) push(by.socket, 'messages.upsert', upsertOf('append', [deviceMessage(1)]))
}

function outboundContent(platform: Platform, customer: Customer, message: ChatMessage): object {
  const { kind, text, file, caption, quotes } = message
  const about = messageIn(customer, quotes)
  if (kind === 'quiet') {
    const isMine = about !== undefined && about.from !== 'customer'
    return { reactionMessage: { key: { remoteJid: jidOf(customer.waId), fromMe: isMine, id: quotes }, text } }
  }
  const quotedMessage = { conversation: about?.caption ?? about?.text ?? '' }
  const context = about === undefined ? {} : { contextInfo: { stanzaId: about.id, quotedMessage } }
  if (file?.id == null) return { extendedTextMessage: { text, ...context } }
  const words = { kind: file.kind, caption: caption ?? '', name: file.name }
  return fileContent(platform.linked.encryptedFiles, platform.files.find(file.id), words, context.contextInfo ?? {})
}

export function sendStatus(chat: Chat, message: ChatMessage): void {
  const { platform, number, customer } = chat
  const { linked, clock } = platform
  if (linked.suppressedStatuses.has(message.id)) return
  const update = statusOf(number, customer, message, clock.now())
  queueForDevices(platform, devicesOf(platform.linked, number.numberId), 'messages.update', update)
}

/** Suppresses statuses of the message until a device sends it again. */
export function suppressStatuses({ linked: { suppressedStatuses } }: Platform, messageId: string): void {
  suppressedStatuses.add(messageId)
  const [oldest] = suppressedStatuses
  if (suppressedStatuses.size > linkedLimits.suppressedStatuses && oldest !== undefined)
    suppressedStatuses.delete(oldest)
}

/** Sends the mapping of the customer's hidden id to the phone number. */
export function sendMapping(chat: Chat): void {
  const { platform, number, customer } = chat
  queueForDevices(platform, devicesOf(platform.linked, number.numberId), 'lid-mapping.update', mappingOf(customer))
}

export function sendName(chat: Chat): void {
  const { platform, number, customer } = chat
  const { remoteJid } = chatOf(number, customer) as { remoteJid: string }
  queueForDevices(platform, devicesOf(platform.linked, number.numberId), 'contacts.update', [
    { id: remoteJid, notify: customer.name },
  ])
}
