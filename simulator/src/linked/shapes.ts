import { randomBytes } from 'node:crypto'
import type { Platform } from '../platform.ts'
import type { BusinessNumber, ChatMessage, Customer, Tick } from '../world.ts'
import { fileContent } from './file-content.ts'

// What devices are told, as Baileys names and shapes it.

export const jidOf = (phone: string): string => `${phone}@s.whatsapp.net`

/** An id as phones make them; programs begin theirs with `3EB0`. */
export const makePhoneId = (): string => `3A${randomBytes(9).toString('hex').toUpperCase()}`

/** The chat with a customer: by the hidden id, and by the phone where it is known. */
export function chatOf({ addressing }: BusinessNumber, { hidesNumber, userId, waId }: Customer): object {
  if (hidesNumber) return { remoteJid: userId, addressingMode: 'lid' }
  if (addressing === 'pn') return { remoteJid: jidOf(waId), remoteJidAlt: userId, addressingMode: 'pn' }
  return { remoteJid: userId, remoteJidAlt: jidOf(waId), addressingMode: 'lid' }
}

export interface MessageParts {
  id: string
  fromMe: boolean
  at: Date
  /** `{ message }` as a rule. */
  content: object
  status?: number
}

export function messageOf(
  number: BusinessNumber,
  customer: Customer,
  { id, fromMe, at, content, status }: MessageParts,
): object {
  const { key = {}, ...rest } = content as { key?: object }
  return {
    key: { ...chatOf(number, customer), fromMe, id, ...key },
    messageTimestamp: Math.floor(at.getTime() / 1000),
    pushName: fromMe ? number.name : customer.name,
    ...(status === undefined ? {} : { status }),
    ...rest,
  }
}

export const upsertOf = (type: 'notify' | 'append', messages: object[]): object => ({ type, messages })

const statusCodes: Record<Exclude<Tick, 'pending'>, number> = { failed: 0, sent: 2, delivered: 3, read: 4 }

export function statusOf(number: BusinessNumber, customer: Customer, message: ChatMessage, at: Date): object[] {
  if (message.status === 'pending') return []
  const refusal = message.status === 'failed' ? { messageStubParameters: [String(message.errorCode ?? 479)] } : {}
  const update = {
    status: statusCodes[message.status],
    ...refusal,
    messageTimestamp: Math.floor(at.getTime() / 1000),
  }
  return [{ key: { ...chatOf(number, customer), fromMe: true, id: message.id }, update }]
}

/** A message that no phone was found for. */
export const refusalOf = (jid: string, id: string, code: string): object[] => [
  { key: { remoteJid: jid, fromMe: true, id }, update: { status: 0, messageStubParameters: [code] } },
]

/** The chats that were on the phone before the device was linked to it: words and files. */
export function historyOf({ linked, files }: Platform, number: BusinessNumber, customers: readonly Customer[]): object {
  const chats = customers.filter(({ messages }) => messages.length > 0)
  const contentOf = ({ text, caption, file }: ChatMessage): object => {
    if (file?.id == null) return { conversation: text }
    const words = { kind: file.kind, caption: caption ?? '', name: file.name }
    return fileContent(linked.sealed, files.find(file.id), words, {})
  }
  const messages = chats.flatMap((customer) =>
    customer.messages
      .filter(({ kind, file, isWithdrawn }) => !isWithdrawn && (kind === 'text' || file !== null))
      .map((message) =>
        messageOf(number, customer, {
          id: message.id,
          fromMe: message.from !== 'customer',
          at: message.at,
          content: { message: contentOf(message) },
        }),
      ),
  )
  return {
    chats: chats.map((customer) => ({ id: customer.userId, name: customer.name, unreadCount: 0 })),
    contacts: chats.map(contactOf),
    messages,
    isLatest: true,
    progress: 100,
    syncType: 3,
  }
}

export const contactOf = ({ userId, waId, name, hidesNumber }: Customer): object => ({
  id: userId,
  lid: userId,
  notify: name,
  ...(hidesNumber ? {} : { phoneNumber: jidOf(waId) }),
})

export const mappingOf = ({ userId, waId }: Customer): object => ({ lid: userId, pn: jidOf(waId) })
