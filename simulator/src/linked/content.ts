import type { EncryptedFiles, StoredFile } from '../files/file-store.ts'
import { type Card, type FileKind, isFileKind } from '../files/present-file.ts'
import { type AdKind, cardNamed, type InboundKind, placeNamed, referralOf, type Utterance } from '../inbound.ts'
import { randomDigits } from '../wamid.ts'
import type { ChatMessage } from '../world.ts'
import { fileContent, jidOf } from './baileys-shapes.ts'

/** Sender of a message, the message it refers to, and the store of its file. */
export interface ContentContext {
  phone: string
  ad: AdKind | null
  about: ChatMessage | undefined
  sealed: EncryptedFiles
}

/** Returns a customer's message as devices receive it: the content, and key fields if the kind has any. */
export function deviceContent(utterance: Utterance, setting: ContentContext): object {
  const { kind } = utterance
  if (kind === 'no_content') return { messageStubType: 2, messageStubParameters: ['No session record'] }
  const contextInfo = contextOf(utterance, setting)
  const message = isFileKind(kind)
    ? fileMessage(utterance, kind, contextInfo, setting)
    : messageOf(kind, utterance, contextInfo, setting)
  if (kind !== 'group') return { message }
  return { key: { remoteJid: `${randomDigits(18)}@g.us`, participant: jidOf(setting.phone) }, message }
}

const fileMessage = (
  { text, file }: Utterance,
  kind: FileKind,
  contextInfo: object,
  { sealed }: ContentContext,
): object => fileContent(sealed, file, { kind, caption: text, name: file?.name ?? null }, contextInfo)

function messageOf(
  kind: Exclude<InboundKind, 'no_content' | FileKind>,
  { text, about: id, file, place, card }: Utterance,
  contextInfo: object,
  { phone, about, sealed }: ContentContext,
): object {
  // `fromMe` is from the business's point of view.
  const key = { remoteJid: jidOf(phone), fromMe: about !== undefined && about.from !== 'customer', id }
  const hasContext = Object.keys(contextInfo).length > 0
  switch (kind) {
    case 'text':
    case 'group':
      return hasContext ? { extendedTextMessage: { text, contextInfo } } : { conversation: text }
    // Without its key the file cannot be decrypted.
    case 'lost_file':
      return { imageMessage: { mimetype: 'image/jpeg', contextInfo } }
    case 'location': {
      const { latitude, longitude, ...words } = place ?? placeNamed(text)
      return { locationMessage: { degreesLatitude: latitude, degreesLongitude: longitude, ...words, contextInfo } }
    }
    case 'contacts':
    case 'contact_request':
      return { contactMessage: { ...vcardOf(card ?? cardNamed(text, phone)), contextInfo } }
    case 'button':
      return { templateButtonReplyMessage: { selectedId: text, selectedDisplayText: text, contextInfo } }
    case 'button_reply':
      return { buttonsResponseMessage: { selectedButtonId: 'choice-1', selectedDisplayText: text, contextInfo } }
    case 'list_reply':
      return { listResponseMessage: { title: text, singleSelectReply: { selectedRowId: 'row-1' }, contextInfo } }
    case 'address_reply':
    case 'flow_reply': {
      const paramsJson = JSON.stringify({ answer: text })
      const nativeFlowResponseMessage = { name: 'flow', paramsJson }
      return { interactiveResponseMessage: { body: { text: 'Sent' }, nativeFlowResponseMessage } }
    }
    case 'reaction':
      return { reactionMessage: { key, text: text || '👍' } }
    case 'reaction_removed':
      return { reactionMessage: { key, text: '' } }
    case 'order':
      return { orderMessage: { orderId: randomDigits(15), itemCount: 3, message: text } }
    case 'revoke':
      return { protocolMessage: { key, type: 0 } }
    case 'edit': {
      const protocolMessage = { key, type: 14, editedMessage: editedContent(text, about, file, sealed) }
      return { editedMessage: { message: { protocolMessage } } }
    }
    case 'unsupported':
      return {
        pollCreationMessageV3: { name: text || 'Which one?', options: [{ optionName: 'A' }, { optionName: 'B' }] },
      }
    case 'request_welcome':
      return { protocolMessage: { type: 9 } }
    case 'ephemeral':
      return { ephemeralMessage: { message: { extendedTextMessage: { text, contextInfo: { expiration: 604_800 } } } } }
    case 'unknown':
      return { hologramMessage: { body: text } }
    default:
      return kind satisfies never
  }
}

// Editing a caption sends the unchanged file again.
function editedContent(
  text: string,
  about: ChatMessage | undefined,
  file: StoredFile | undefined,
  sealed: EncryptedFiles,
): object {
  if (!about?.file) return { conversation: text }
  return fileContent(sealed, file, { kind: about.file.kind, caption: text, name: about.file.name }, {})
}

const vcardOf = ({ name, phones, organisation, emails = [] }: Card): object => ({
  displayName: name,
  vcard: [
    'BEGIN:VCARD',
    'VERSION:3.0',
    `FN:${name}`,
    ...(organisation ? [`ORG:${organisation}`] : []),
    ...phones.map((phone) => `TEL;type=CELL;waid=${phone}:+${phone}`),
    ...emails.map((email) => `EMAIL;type=WORK:${email}`),
    'END:VCARD',
  ].join('\n'),
})

function contextOf({ about: id }: Utterance, { ad, about }: ContentContext): object {
  // A reply carries the quoted message with it.
  const quoted = about === undefined ? {} : { quotedMessage: { conversation: about.caption ?? about.text } }
  const quote = id === null ? {} : { stanzaId: id, ...quoted }
  return ad === null ? quote : { ...quote, externalAdReply: adReplyOf(ad) }
}

function adReplyOf(ad: AdKind): object {
  const { source_url, source_id, source_type, headline, body, ctwa_clid } = referralOf(ad) as Record<string, unknown>
  return {
    title: headline,
    body,
    sourceType: source_type,
    sourceId: source_id,
    sourceUrl: source_url,
    ...(ctwa_clid === undefined ? {} : { ctwaClid: ctwa_clid }),
    showAdAttribution: true,
  }
}
