import { randomBytes } from 'node:crypto'
import type { StoredFile } from './files/file-store.ts'
import {
  type Card,
  describeFile,
  type FileKind,
  fileKinds,
  isFileKind,
  type Place,
  shownFile,
} from './files/present-file.ts'
import { randomDigits } from './wamid.ts'
import type { ChatMessage, Choice } from './world.ts'

/** All kinds of messages that a customer can send. */
export const inboundKinds = [
  ...(['text', ...fileKinds, 'location', 'contacts', 'contact_request', 'button', 'button_reply'] as const),
  ...([
    'list_reply',
    'flow_reply',
    'address_reply',
    'reaction',
    'reaction_removed',
    'order',
    'revoke',
    'edit',
    'unsupported',
  ] as const),
  ...(['no_content', 'lost_file', 'group', 'request_welcome', 'ephemeral', 'unknown'] as const),
] as const
export type InboundKind = (typeof inboundKinds)[number]
export const adKinds = ['image', 'video', 'post', 'status'] as const
export type AdKind = (typeof adKinds)[number]

export interface Utterance {
  kind: InboundKind
  text: string
  /** Id of the message that is quoted, reacted to, deleted or edited. */
  about: string | null
  /** For kinds that carry a file. */
  file?: StoredFile | undefined
  place?: Place | undefined
  card?: Card | undefined
  /** Option chosen from an earlier message. */
  choice?: Choice | undefined
}

/** Both ends of a chat, and the message that an utterance refers to, if known. */
export interface ChatEnds {
  businessPhone: string
  customerPhone: string
  about?: ChatMessage | undefined
}

/** Returns the part of a message that depends on its kind. */
export function contentOf(utterance: Utterance, ends: ChatEnds): object {
  const { kind, text, about } = utterance
  const author = ends.about?.from === 'customer' ? ends.customerPhone : ends.businessPhone
  const context = about === null ? {} : { context: { from: author, id: about } }
  switch (kind) {
    case 'text':
      return { ...context, type: 'text', text: { body: text } }
    case 'image':
    case 'video':
    case 'audio':
    case 'voice':
    case 'document':
    case 'sticker': {
      const type = kind === 'voice' ? 'audio' : kind
      return { ...context, type, [type]: mediaOf(kind, text, utterance.file) }
    }
    case 'location':
      return { ...context, type: 'location', location: utterance.place ?? placeNamed(text) }
    case 'contacts':
    case 'contact_request':
      return {
        ...context,
        type: 'contacts',
        contacts: [cardOf(utterance.card ?? cardNamed(text, ends.customerPhone), kind)],
      }
    case 'button':
      return { ...context, type: 'button', button: { payload: ends.about?.payloads?.[text] ?? text, text } }
    case 'button_reply':
    case 'list_reply':
    case 'flow_reply':
    case 'address_reply':
      return { ...context, type: 'interactive', interactive: interactive(utterance, ends.about) }
    case 'reaction':
      return { type: 'reaction', reaction: { message_id: about, emoji: text || '👍' } }
    case 'reaction_removed':
      return { type: 'reaction', reaction: { message_id: about } }
    case 'order':
      return { ...context, type: 'order', order: { catalog_id: randomDigits(15), text, product_items: items } }
    case 'revoke':
      return { type: 'revoke', revoke: { original_message_id: about } }
    case 'edit':
      return {
        type: 'edit',
        edit: { original_message_id: about, message: editContent(text, ends.about, utterance.file) },
      }
    case 'unsupported':
      return { type: 'unsupported', unsupported: { type: 'poll_creation' }, errors: [notSupported(131051)] }
    case 'no_content':
      return { type: 'unsupported', errors: [notSupported(131060)] }
    case 'lost_file':
      return { type: 'unsupported', errors: [couldNotFetch] }
    case 'group':
      return { type: 'text', group_id: `${randomDigits(18)}@g.us`, text: { body: text } }
    case 'request_welcome':
    case 'ephemeral':
      return { type: kind }
    case 'unknown':
      return { type: 'hologram', hologram: { body: text } }
    default:
      return kind satisfies never
  }
}

/** Returns a file's metadata as the platform sends it; without a file, metadata of one that does not exist. */
function mediaOf(kind: FileKind, text: string, file: StoredFile | undefined): object {
  const told = {
    id: file?.id ?? randomDigits(16),
    mime_type: file?.mimeType ?? 'application/octet-stream',
    sha256: (file?.sha256 ?? randomBytes(32)).toString('base64'),
  }
  switch (kind) {
    case 'image':
    case 'video':
      return { ...told, ...captionOf(text) }
    case 'audio':
    case 'voice':
      return { ...told, voice: kind === 'voice' }
    case 'document':
      return { ...told, filename: file?.name ?? 'document', ...captionOf(text) }
    case 'sticker':
      return { ...told, animated: false }
    default:
      return kind satisfies never
  }
}

// Editing a caption sends the unchanged file again.
function editContent(text: string, about: ChatMessage | undefined, file: StoredFile | undefined): object {
  const kind = about?.file?.kind
  const hasCaption = kind === 'image' || kind === 'video' || kind === 'document'
  return hasCaption ? { type: kind, [kind]: mediaOf(kind, text, file) } : { type: 'text', text: { body: text } }
}

export const placeNamed = (text: string): Place => ({
  latitude: -23.5614,
  longitude: -46.6559,
  name: text || 'Avenida Paulista',
})

export const cardNamed = (text: string, phone: string): Card => ({ name: text || 'Lucía Gómez', phones: [phone] })

const captionOf = (text: string) => (text === '' ? {} : { caption: text })

const cardOf = ({ name, phones, organisation, emails = [] }: Card, kind: InboundKind) => ({
  name: { formatted_name: name, first_name: name.split(' ')[0] },
  phones: phones.map((phone) => ({ phone: `+${phone}`, wa_id: phone, type: 'MOBILE' })),
  ...(organisation ? { org: { company: organisation } } : {}),
  ...(emails.length > 0 ? { emails: emails.map((email) => ({ email, type: 'WORK' })) } : {}),
  ...(kind === 'contact_request' ? { origin: 'contact_request' } : {}),
})

function interactive({ kind, text, choice }: Utterance, about: ChatMessage | undefined): object {
  if (kind === 'button_reply') {
    return { type: 'button_reply', button_reply: { id: choice?.id ?? 'choice-1', title: text } }
  }
  if (kind === 'list_reply') {
    const description = choice?.description ?? ''
    return { type: 'list_reply', list_reply: { id: choice?.id ?? 'row-1', title: text, description } }
  }
  if (kind === 'address_reply') {
    const values = { name: 'Asha Rao', address: text || '12 Lake Road', city: 'Mumbai', in_pin_code: '400063' }
    return {
      type: 'nfm_reply',
      nfm_reply: { name: 'address_message', body: 'Address', response_json: JSON.stringify({ values }) },
    }
  }
  const token = about?.prompt?.token
  const answers = { ...(token === undefined ? {} : { flow_token: token }), answer: text }
  return {
    type: 'nfm_reply',
    nfm_reply: { name: 'flow', body: 'Sent', response_json: JSON.stringify(answers) },
  }
}

const items = [
  { product_retailer_id: 'lamp-01', quantity: 2, item_price: 30, currency: 'USD' },
  { product_retailer_id: 'rug-07', quantity: 1, item_price: 25, currency: 'USD' },
]

const notSupported = (code: number) => ({
  code,
  title: 'Message type unknown',
  message: 'Message type unknown',
  error_data: { details: 'Message type is currently not supported.' },
})

const couldNotFetch = {
  code: 131052,
  title: 'Media download error',
  message: 'Media download error',
  error_data: { details: 'Failed to download the media from the sender.' },
}

/** Returns the referral of a message that came from an ad or a post. Ads in a status carry no click id. */
export function referralOf(ad: AdKind): object {
  const click = ad === 'status' ? {} : { ctwa_clid: `AR${randomBytes(24).toString('base64url')}` }
  const picture =
    ad === 'video'
      ? { media_type: 'video', video_url: 'https://example.com/ad.mp4', thumbnail_url: 'https://example.com/ad.jpg' }
      : { media_type: 'image', image_url: 'https://example.com/ad.jpg' }
  return {
    source_url: 'https://example.com/ads/summer',
    source_id: randomDigits(17),
    source_type: ad === 'post' ? 'post' : 'ad',
    headline: 'Summer collection',
    body: 'Chat with us about the summer collection',
    ...picture,
    ...click,
  }
}

/** Returns what the phone shows of kinds with parts other than text. */
export function shownParts(utterance: Utterance, ends: ChatEnds): Partial<ChatMessage> {
  const { kind, text, file } = utterance
  const quotes = referringKinds.includes(kind) ? {} : { quotes: utterance.about }
  if (isFileKind(kind) && file !== undefined) {
    return { ...quotes, file: shownFile(kind, file), caption: text === '' ? null : text }
  }
  if (kind === 'location') return { ...quotes, place: utterance.place ?? placeNamed(text) }
  if (kind === 'contacts' || kind === 'contact_request') {
    return { ...quotes, cards: [utterance.card ?? cardNamed(text, ends.customerPhone)] }
  }
  return quotes
}

// Kinds that refer to a message without quoting it.
const referringKinds: readonly InboundKind[] = ['reaction', 'reaction_removed', 'revoke', 'edit']

/** Returns the text for lists of chats. */
export function shownText({ kind, text, file, place, card }: Utterance): string {
  if (isFileKind(kind)) return describeFile(kind, text || (file?.name ?? null))
  const names: Partial<Record<InboundKind, string>> = {
    location: '📍 Location',
    contacts: '👤 Contact',
    contact_request: '👤 Shared my number',
    order: '🛒 Order',
    unsupported: '📊 Poll',
    no_content: '📊 Message without content',
    lost_file: '📷 Photo that got lost on its way',
    group: '👥 In a group',
  }
  const name = names[kind]
  const words = place?.name ?? card?.name ?? text
  if (name === undefined) return text || kind.replaceAll('_', ' ')
  return words === '' ? name : `${name} · ${words}`
}
