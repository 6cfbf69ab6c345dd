import { invalid } from '../../base/errors.ts'
import { isBlank } from '../../base/text/external-text.ts'
import type { MediaKind } from '../../channels/channel-event.ts'
import type {
  FilledInputs,
  LinkedFile,
  OutgoingMessage,
  PlatformFile,
  ReferencedMessage,
} from '../../channels/connector.ts'
import { type MediaTransport, supportsCaption } from '../../channels/media-transport.ts'
import { isFileUrl, type TemplateInputs } from '../../channels/templates/template-inputs.ts'
import type { Template } from '../../channels/templates/templates.ts'
import type { WorkspaceTx } from '../conversation/conversation.ts'
import { decryptMessage, type Message, type MessageRow, type StoredDetail } from '../conversation/message.ts'
import { messageColumns } from '../conversation/message-queries.ts'
import { acceptedType, lockUpload, type Upload } from '../media/attached-uploads.ts'
import type { SendCommand } from './send-command.ts'
import { invalidMessage } from './send-errors.ts'

/** File and message that a send refers to, read under the conversation's lock; null if none or not found. */
export interface SendReferences {
  /** The file, or that of a template's header. */
  upload: Upload | null
  /** The quoted message or target of a reaction. */
  referenced: Message | null
}

export const noReferences: SendReferences = { upload: null, referenced: null }

export const hasReferences = (command: SendCommand): boolean =>
  uploadIdOf(command) !== undefined || aboutIdOf(command) !== undefined

/** Runs no statement for plain text. */
export async function findReferences(
  work: WorkspaceTx,
  conversationId: string,
  command: SendCommand,
): Promise<SendReferences> {
  const [uploadId, aboutId] = [uploadIdOf(command), aboutIdOf(command)]
  if (uploadId === undefined && aboutId === undefined) return noReferences
  const [upload, referenced] = await Promise.all([
    uploadId === undefined ? null : lockUpload(work, conversationId, uploadId),
    aboutId === undefined ? null : findMessage(work, conversationId, aboutId),
  ])
  return { upload, referenced }
}

function uploadIdOf(command: SendCommand): string | undefined {
  if (command.kind === 'media') return command.uploadId
  return command.kind === 'template' ? command.headerUploadId : undefined
}

function aboutIdOf(command: SendCommand): string | undefined {
  if (command.kind === 'reaction') return command.messageId
  return command.kind === 'interactive' ? undefined : command.quotedId
}

async function findMessage({ tx, keyring, workspaceId }: WorkspaceTx, conversationId: string, id: string) {
  const [row] = await tx<MessageRow[]>`
    select ${messageColumns(tx)}
    from messages m
    where m.workspace_id = ${workspaceId}
      and m.id = ${id}
      and m.conversation_id = ${conversationId}`
  return row === undefined ? null : decryptMessage(keyring, row)
}

/** File to send: its row and, once uploaded, its platform id. */
export type OutgoingFile = Pick<Upload, 'id' | 'platform'>

/** Reference to another message, for the platform and for storage. */
export interface MessageReference {
  other: ReferencedMessage
  quoted: NonNullable<StoredDetail['quoted']>
}

/** Returns the quoted message or target of a reaction. Throws 400 and 422 if it cannot be referred to. */
export function checkReference(field: 'quoted_message_id' | 'message_id', message: Message | null): MessageReference {
  if (message === null) throw invalid(field, 'must be a message of this conversation')
  const { externalId, direction, kind, detail, revision } = message
  if (kind === 'system') throw invalidMessage(`${field} is a system message: choose another message`)
  if (detail?.reaction !== undefined) throw invalidMessage(`${field} is a reaction: choose the message it refers to`)
  if (revision !== undefined && revision.withdrawnAt !== null) {
    throw invalidMessage(`${field} was withdrawn by its author: choose another message`)
  }
  if (externalId === null) {
    throw invalidMessage(`${field} has not reached the platform: choose a message that was sent or received`)
  }
  return { other: { externalId, direction, text: message.text }, quoted: { externalId, text: null } }
}

/** Returns the file as the channel accepts it. Throws 422 with the reason if the channel does not accept it. */
export function checkFile(
  field: 'upload_id' | 'header_upload_id',
  upload: Upload | null,
  transport: MediaTransport | undefined,
): PlatformFile {
  if (transport === undefined) throw invalidMessage('This channel does not support files: send a text')
  if (upload === null) {
    throw invalidMessage(
      `${field} is not an upload of this conversation, or has expired (after a day): upload the file again`,
    )
  }
  if (upload.isAttached) throw invalidMessage(`${field} was already sent: upload the file again`)
  const { kind, bytes, details } = upload
  const limit = transport.limits[kind]
  if (limit === null) throw invalidMessage(`This channel does not accept ${kind} files: upload it as a document`)
  const mimeType = acceptedType(details, limit.types)
  if (mimeType === null) {
    throw invalidMessage(`This channel does not accept this ${kind} type. Accepted types: ${limit.types.join(', ')}`)
  }
  if (bytes > limit.bytes) {
    throw invalidMessage(`The file has ${bytes} bytes; this channel accepts at most ${limit.bytes} for ${kind}`)
  }
  return { kind, name: details.name ?? null, mimeType, platformId: null }
}

/** Throws 422 if the file cannot have this caption. */
export function checkCaption(kind: MediaKind, caption: string, transport: MediaTransport | undefined): string {
  if (isBlank(caption)) return ''
  if (!supportsCaption(kind)) throw invalidMessage(`A ${kind} file cannot have a caption: send the text separately`)
  const longest = transport?.maxCaptionLength ?? 0
  if (caption.length > longest) {
    throw invalidMessage(`text can have at most ${longest} characters with a file: send the rest separately`)
  }
  return caption
}

/** Returns the file of a template's header. Throws 422 if the template requires another file or none. */
export function checkHeader(
  { headerUploadId, headerUrl }: TemplateCommand,
  { header }: Pick<Template, 'header'>,
  upload: Upload | null,
  transport: MediaTransport | undefined,
): PlatformFile | LinkedFile | null {
  if (header === null) {
    if (headerUploadId === undefined && headerUrl === undefined) return null
    throw invalidMessage('This template has no media header')
  }
  if (headerUrl !== undefined) {
    if (headerUploadId !== undefined) throw invalidMessage('Send either header_upload_id or header_url, not both')
    return linkedFile(header, headerUrl)
  }
  if (headerUploadId === undefined) {
    throw invalidMessage(
      `This template requires a header file of the kind ${header}: set header_upload_id or header_url`,
    )
  }
  const file = checkFile('header_upload_id', upload, transport)
  if (file.kind !== header) {
    throw invalidMessage(`The header of this template requires a file of the kind ${header}, not ${file.kind}`)
  }
  return file
}

function linkedFile(kind: MediaKind, url: string): LinkedFile {
  if (!isFileUrl(url)) throw invalidMessage('template.header_url must be an https address that the platform can load')
  return { kind, name: nameIn(url), url }
}

/** Returns the end of an address, which a document shows as its name. */
function nameIn(url: string): string | null {
  const name = URL.parse(url)?.pathname.split('/').at(-1)?.slice(0, 240)
  if (!name) return null
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** Message kinds of the contract by file kind. */
export const contractKinds = {
  image: 'image',
  sticker: 'image',
  video: 'video',
  audio: 'audio',
  voice: 'audio',
  document: 'document',
} as const satisfies Record<MediaKind, Message['kind']>

/** Returns the message with the platform id of its file. */
export function withFile(message: OutgoingMessage, platformId: string): OutgoingMessage {
  if (message.kind === 'media') return { ...message, file: { ...message.file, platformId } }
  if (message.kind !== 'template' || message.header === undefined || 'url' in message.header) return message
  return { ...message, header: { ...message.header, platformId } }
}

type TemplateCommand = Extract<SendCommand, { kind: 'template' }>

/** Returns whether a command has more than body parameters. */
export const hasInputs = ({
  headerUploadId,
  headerUrl,
  headerText,
  headerLocation,
  buttonParameters,
}: TemplateCommand): boolean =>
  [headerUploadId, headerUrl, headerText, headerLocation, buttonParameters].some((value) => value !== undefined)

/** Returns the values of a template's header and buttons. Throws 422 if one is missing, wrong or too many. */
export function checkInputs(command: TemplateCommand, { inputs }: Pick<Template, 'inputs'>): FilledInputs | null {
  const { headerText, headerLocation, buttons = [] } = inputs ?? {}
  const filled = {
    ...checkHeaderText(command, headerText),
    ...checkLocation(command, headerLocation ?? false),
    ...checkButtons(command, buttons),
  }
  const { quickReplies } = command
  if (quickReplies === undefined) return inputs === null ? null : filled
  const replies = quickReplies.map(({ index, payload }) => ({ index, type: 'quick_reply' as const, value: payload }))
  return { ...filled, buttons: [...(filled.buttons ?? []), ...replies] }
}

function checkHeaderText(
  { headerText: value }: TemplateCommand,
  needed: TemplateInputs['headerText'],
): Pick<FilledInputs, 'headerText'> {
  if (needed === undefined) {
    if (value !== undefined) throw invalidMessage('This template has no variable in its header: remove header_param')
    return {}
  }
  if (value === undefined) throw invalidMessage('This template requires a value for its header: set header_param')
  const problem = parameterProblem(value)
  if (problem !== null) throw invalidMessage(`template.header_param ${problem}`)
  return { headerText: { value, name: needed.name } }
}

function checkLocation(
  { headerLocation: value }: TemplateCommand,
  isNeeded: boolean,
): Pick<FilledInputs, 'headerLocation'> {
  if (!isNeeded) {
    if (value !== undefined) throw invalidMessage('This template has no location header: remove header_location')
    return {}
  }
  if (value === undefined) throw invalidMessage('This template requires a location: set header_location')
  return { headerLocation: value }
}

function checkButtons(
  { buttonParameters: values = [], parameters }: TemplateCommand,
  needed: NonNullable<TemplateInputs['buttons']>,
): Pick<FilledInputs, 'buttons'> {
  if (values.length !== needed.length) {
    throw invalidMessage(`This template requires ${needed.length} button_params, but got ${values.length}`)
  }
  if (needed.length === 0) return {}
  const buttons = needed.map(({ index, type }, n) => {
    const value = values[n] ?? ''
    const problem = parameterProblem(value) ?? buttonProblem(type, value, parameters[0])
    if (problem !== null) throw invalidMessage(`template.button_params[${n}] ${problem}`)
    return { index, type, value }
  })
  return { buttons }
}

/** Longest codes of offers and one-time passwords that the platform shows. */
const maxCodeLength = { copy_code: 20, otp: 15 }

type ButtonType = NonNullable<TemplateInputs['buttons']>[number]['type']

function buttonProblem(type: ButtonType, value: string, code: string | undefined): string | null {
  if (type === 'url') return /\s/.test(value) ? 'must not contain a space: it is the end of a URL' : null
  if (value.length > maxCodeLength[type]) return `must have at most ${maxCodeLength[type]} characters`
  if (type === 'copy_code') return null
  if (value !== code) return 'must be the code that is in body_params'
  return /\p{Extended_Pictographic}/u.test(value) ? 'must not contain an emoji' : null
}

/** Returns why the platform would refuse a value of a template; null if it accepts it. */
export function parameterProblem(parameter: string): string | null {
  if (isBlank(parameter)) return 'must not be empty'
  if (/[\n\r\t]/.test(parameter)) return 'must not contain a newline or a tab'
  if (/ {5}/.test(parameter)) return 'must not contain more than four spaces in a row'
  return null
}
