import { randomBytes } from 'node:crypto'
import { type EncryptedFiles, encryptFile, type MediaKeyType, type StoredFile } from '../files/file-store.ts'
import type { FileKind } from '../files/present-file.ts'
import type { Platform } from '../platform.ts'
import type { BusinessNumber, ChatMessage, Customer, MessageStatus } from '../world.ts'

// Events for devices, as Baileys names and shapes them.

export const jidOf = (phone: string): string => `${phone}@s.whatsapp.net`

/** Returns an id as phones make them; those of programs begin with `3EB0`. */
export const makePhoneId = (): string => `3A${randomBytes(9).toString('hex').toUpperCase()}`

/** Returns the chat with a customer: by hidden id, and by phone number if known. */
export function chatOf({ addressing }: BusinessNumber, { hidesNumber, userId, waId }: Customer): object {
  if (hidesNumber) return { remoteJid: userId, addressingMode: 'lid' }
  if (addressing === 'pn') return { remoteJid: jidOf(waId), remoteJidAlt: userId, addressingMode: 'pn' }
  return { remoteJid: userId, remoteJidAlt: jidOf(waId), addressingMode: 'lid' }
}

export interface MessageParts {
  id: string
  fromMe: boolean
  at: Date
  /** Usually `{ message }`. */
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

const statusCodes: Record<Exclude<MessageStatus, 'pending'>, number> = { failed: 0, sent: 2, delivered: 3, read: 4 }

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

/** Returns the status of a message to a number without a phone. */
export const refusalOf = (jid: string, id: string, code: string): object[] => [
  { key: { remoteJid: jid, fromMe: true, id }, update: { status: 0, messageStubParameters: [code] } },
]

/** Returns the chats from before the device was linked: texts and files. */
export function historyOf({ linked, files }: Platform, number: BusinessNumber, customers: readonly Customer[]): object {
  const chats = customers.filter(({ messages }) => messages.length > 0)
  const contentOf = ({ text, caption, file }: ChatMessage): object => {
    if (file?.id == null) return { conversation: text }
    const words = { kind: file.kind, caption: caption ?? '', name: file.name }
    return fileContent(linked.encryptedFiles, files.find(file.id), words, {})
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

const maxEncryptedFiles = 5_000
const keyTypes: Record<FileKind, MediaKeyType> = {
  image: 'Image',
  sticker: 'Image',
  video: 'Video',
  audio: 'Audio',
  voice: 'Audio',
  document: 'Document',
}

interface FileWords {
  kind: FileKind
  caption: string
  name: string | null
}

/** Returns a file message as Baileys shapes it, bytes as base64. Without a file, refers to one that does not exist. */
export function fileContent(
  sealedFiles: EncryptedFiles,
  file: StoredFile | undefined,
  { kind, caption, name }: FileWords,
  contextInfo: object,
): object {
  const told = file === undefined ? {} : fileLocation(sealedFiles, kind, file)
  const size = file?.width === undefined ? {} : { width: file.width, height: file.height }
  const thumbnail = file?.thumbnail === undefined ? {} : { jpegThumbnail: file.thumbnail.toString('base64') }
  const seconds = file?.seconds === undefined ? {} : { seconds: file.seconds }
  const words = caption === '' ? {} : { caption }
  switch (kind) {
    case 'image':
      return { imageMessage: { ...told, ...size, ...thumbnail, ...words, contextInfo } }
    case 'video':
      return { videoMessage: { ...told, ...size, ...thumbnail, ...seconds, ...words, contextInfo } }
    case 'audio':
      return { audioMessage: { ...told, ...seconds, ptt: false, contextInfo } }
    case 'voice': {
      const waveform = file?.waveform === undefined ? {} : { waveform: Buffer.from(file.waveform).toString('base64') }
      return { audioMessage: { ...told, ...seconds, ...waveform, ptt: true, contextInfo } }
    }
    case 'document': {
      const documentMessage = {
        ...told,
        fileName: name ?? 'document',
        title: name ?? 'document',
        ...words,
        contextInfo,
      }
      if (caption === '') return { documentMessage }
      return { documentWithCaptionMessage: { message: { documentMessage } } }
    }
    case 'sticker':
      return { stickerMessage: { ...told, ...size, isAnimated: false, contextInfo } }
    default:
      return kind satisfies never
  }
}

function fileLocation(sealedFiles: EncryptedFiles, kind: FileKind, file: StoredFile): object {
  const sealed = encryptFile(file, keyTypes[kind])
  sealedFiles.set(sealed.path, { file, sealed })
  const [oldest] = sealedFiles.keys()
  if (sealedFiles.size > maxEncryptedFiles && oldest !== undefined) sealedFiles.delete(oldest)
  return {
    mimetype: file.mimeType,
    fileLength: file.size,
    fileSha256: file.sha256.toString('base64'),
    fileEncSha256: sealed.sealedSha256.toString('base64'),
    mediaKey: sealed.mediaKey.toString('base64'),
    mediaKeyTimestamp: Math.floor(file.addedAt.getTime() / 1000),
    directPath: `/linked/media/${sealed.path}?ccb=11-4&_nc_sid=5e03e0`,
  }
}
