import type { Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { invalid } from '../../base/errors.ts'
import { isBlank } from '../../base/text/external-text.ts'
import type { MediaKind } from '../../channels/channel-event.ts'
import type { GivenFile, OtherMessage, Outgoing } from '../../channels/connector.ts'
import { type MediaWay, takesCaption } from '../../channels/media-transport.ts'
import type { Template } from '../../channels/templates/templates.ts'
import { decryptMessage, type Message, type MessageRow, type StoredDetail } from '../conversation/message.ts'
import { messageColumns } from '../conversation/message-queries.ts'
import { acceptedType, lockUpload, type Upload } from '../media/attached-uploads.ts'
import type { SendCommand } from './send-command.ts'
import { invalidMessage } from './send-errors.ts'

/** What a send names beside its words, as it is under the conversation's lock; null where it names none, or one that is not there. */
export interface SendReferences {
  /** The file, or that of a template's header. */
  upload: Upload | null
  /** The message that is quoted or reacted to. */
  about: Message | null
}

export const noReferences: SendReferences = { upload: null, about: null }

/** Whether a send names a file or a message. */
export const hasReferences = (command: SendCommand): boolean =>
  uploadIdOf(command) !== undefined || aboutIdOf(command) !== undefined

/** Makes no statement for words alone. */
export async function findReferences(
  tx: Tx,
  keyring: Keyring,
  place: { workspaceId: string; conversationId: string },
  command: SendCommand,
): Promise<SendReferences> {
  const [uploadId, aboutId] = [uploadIdOf(command), aboutIdOf(command)]
  if (uploadId === undefined && aboutId === undefined) return noReferences
  const { workspaceId, conversationId } = place
  const [upload, about] = await Promise.all([
    uploadId === undefined ? null : lockUpload({ tx, keyring, workspaceId }, conversationId, uploadId),
    aboutId === undefined ? null : findMessage(tx, keyring, place, aboutId),
  ])
  return { upload, about }
}

function uploadIdOf(command: SendCommand): string | undefined {
  if (command.kind === 'media') return command.uploadId
  return command.kind === 'template' ? command.headerUploadId : undefined
}

function aboutIdOf(command: SendCommand): string | undefined {
  if (command.kind === 'reaction') return command.messageId
  return command.kind === 'interactive' ? undefined : command.quotedId
}

async function findMessage(
  tx: Tx,
  keyring: Keyring,
  { workspaceId, conversationId }: { workspaceId: string; conversationId: string },
  id: string,
): Promise<Message | null> {
  const [row] = await tx<MessageRow[]>`
    select ${messageColumns(tx)}
    from messages m
    where m.workspace_id = ${workspaceId}
      and m.id = ${id}
      and m.conversation_id = ${conversationId}`
  return row === undefined ? null : decryptMessage(keyring, row)
}

/** The bytes of a file that goes out: which row has them, and how the platform calls it, if it does already. */
export type OutgoingFile = Pick<Upload, 'id' | 'platform'>

/** What a message that is about another one says of it. */
export interface MessageReference {
  other: OtherMessage
  quoted: NonNullable<StoredDetail['quoted']>
}

/** The message that is quoted or reacted to. Throws 400 and 422 for one that cannot be. */
export function checkReference(field: 'quoted_message_id' | 'message_id', message: Message | null): MessageReference {
  if (message === null) throw invalid(field, 'must be a message of this conversation')
  const { externalId, direction, kind, detail, revision } = message
  if (kind === 'system') throw invalidMessage(`${field} is a notice: choose a message that somebody wrote`)
  if (detail?.reaction !== undefined)
    throw invalidMessage(`${field} is a reaction: choose the message that it is about`)
  if (revision !== undefined && revision.withdrawnAt !== null) {
    throw invalidMessage(`${field} was withdrawn by its author: choose another message`)
  }
  if (externalId === null) {
    throw invalidMessage(`${field} has not reached the platform: choose a message that was sent or received`)
  }
  return { other: { externalId, direction, text: message.text }, quoted: { externalId, text: null } }
}

/** The file of a send as the channel takes it. Throws 422 for one that it does not take, and says why. */
export function checkFile(
  field: 'upload_id' | 'header_upload_id',
  upload: Upload | null,
  transport: MediaWay | undefined,
): GivenFile {
  if (transport === undefined) throw invalidMessage('This channel takes no files: send a text')
  if (upload === null) {
    throw invalidMessage(
      `${field} is no upload of this conversation, or is gone, as after a day: upload the file again`,
    )
  }
  if (upload.isAttached) throw invalidMessage(`${field} was sent already: upload the file again`)
  const { kind, bytes, details } = upload
  const limit = transport.limits[kind]
  if (limit === null) throw invalidMessage(`This channel takes no file of the kind ${kind}: upload it as a document`)
  const mimeType = acceptedType(details, limit.types)
  if (mimeType === null) {
    throw invalidMessage(`This channel takes no ${kind} of this type. It takes ${limit.types.join(', ')}`)
  }
  if (bytes > limit.bytes) {
    throw invalidMessage(`The file has ${bytes} bytes; this channel takes ${limit.bytes} of the kind ${kind}`)
  }
  return { kind, name: details.name ?? null, mimeType, platformId: null }
}

/** Throws 422 for a caption that the file cannot have. */
export function checkCaption(kind: MediaKind, caption: string, transport: MediaWay | undefined): string {
  if (isBlank(caption)) return ''
  if (!takesCaption(kind)) throw invalidMessage(`A file of the kind ${kind} has no caption: send the text by itself`)
  const longest = transport?.maxCaptionLength ?? 0
  if (caption.length > longest) {
    throw invalidMessage(`text may have ${longest} characters beside a file: send what is more by itself`)
  }
  return caption
}

/** What fills a template's header. Throws 422 where the template needs another file, or none. */
export function checkHeader(
  { headerUploadId }: Extract<SendCommand, { kind: 'template' }>,
  { header }: Template,
  upload: Upload | null,
  transport: MediaWay | undefined,
): GivenFile | null {
  if (header === null) {
    if (headerUploadId !== undefined) throw invalidMessage('This template has no header that takes a file')
    return null
  }
  if (headerUploadId === undefined) {
    throw invalidMessage(`This template needs a file of the kind ${header} for its header: give header_upload_id`)
  }
  const file = checkFile('header_upload_id', upload, transport)
  if (file.kind !== header) {
    throw invalidMessage(`The header of this template takes a file of the kind ${header}, not ${file.kind}`)
  }
  return file
}

/** How the contract names what a file is. */
export const contractKinds = {
  image: 'image',
  sticker: 'image',
  video: 'video',
  audio: 'audio',
  voice: 'audio',
  document: 'document',
} as const satisfies Record<MediaKind, Message['kind']>

/** Whether the message is to be put together with a file, once the platform has it. */
export function withFile(message: Outgoing, platformId: string): Outgoing {
  if (message.kind === 'media') return { ...message, file: { ...message.file, platformId } }
  if (message.kind !== 'template' || message.header === undefined) return message
  return { ...message, header: { ...message.header, platformId } }
}
