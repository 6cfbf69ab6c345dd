import { randomBytes } from 'node:crypto'
import { randomDigits } from './world.ts'

/** Every kind of thing that a customer can send. */
export const inboundKinds = [
  'text',
  'image',
  'video',
  'audio',
  'voice',
  'document',
  'sticker',
  'location',
  'contacts',
  'contact_request',
  'button',
  'button_reply',
  'list_reply',
  'flow_reply',
  'reaction',
  'reaction_removed',
  'order',
  'revoke',
  'edit',
  'unsupported',
  'no_content',
  'group',
  'request_welcome',
  'ephemeral',
  'unknown',
] as const
export type InboundKind = (typeof inboundKinds)[number]
export const adKinds = ['image', 'video', 'post', 'status'] as const
export type AdKind = (typeof adKinds)[number]

export interface Utterance {
  kind: InboundKind
  text: string
  /** The message that is meant: quoted, reacted to, taken back, changed. */
  about: string | null
}

/** The part of a message that depends on its kind. */
export function contentOf({ kind, text, about }: Utterance, businessPhone: string, customerPhone: string): object {
  const context = about === null ? {} : { context: { from: businessPhone, id: about } }
  switch (kind) {
    case 'text':
      return { ...context, type: 'text', text: { body: text } }
    case 'image':
      return { ...context, type: 'image', image: media('image/jpeg', captionOf(text)) }
    case 'video':
      return { ...context, type: 'video', video: media('video/mp4', captionOf(text)) }
    case 'audio':
      return { ...context, type: 'audio', audio: media('audio/mpeg', { voice: false }) }
    case 'voice':
      return { ...context, type: 'audio', audio: media('audio/ogg; codecs=opus', { voice: true }) }
    case 'document':
      return { ...context, type: 'document', document: media('application/pdf', { filename: text || 'document.pdf' }) }
    case 'sticker':
      return { ...context, type: 'sticker', sticker: media('image/webp', { animated: false }) }
    case 'location':
      return {
        ...context,
        type: 'location',
        location: { latitude: -23.5614, longitude: -46.6559, name: text || 'Avenida Paulista' },
      }
    case 'contacts':
    case 'contact_request':
      return { ...context, type: 'contacts', contacts: [card(text || 'Lucía Gómez', kind, customerPhone)] }
    case 'button':
      return { ...context, type: 'button', button: { payload: text, text } }
    case 'button_reply':
    case 'list_reply':
    case 'flow_reply':
      return { ...context, type: 'interactive', interactive: interactive(kind, text) }
    case 'reaction':
      return { type: 'reaction', reaction: { message_id: about, emoji: text || '👍' } }
    case 'reaction_removed':
      return { type: 'reaction', reaction: { message_id: about } }
    case 'order':
      return { ...context, type: 'order', order: { catalog_id: randomDigits(15), text, product_items: items } }
    case 'revoke':
      return { type: 'revoke', revoke: { original_message_id: about } }
    case 'edit':
      return { type: 'edit', edit: { original_message_id: about, message: { type: 'text', text: { body: text } } } }
    case 'unsupported':
      return { type: 'unsupported', unsupported: { type: 'poll_creation' }, errors: [notSupported(131051)] }
    case 'no_content':
      return { type: 'unsupported', errors: [notSupported(131060)] }
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

const media = (mimeType: string, more: object) => ({
  id: randomDigits(16),
  mime_type: mimeType,
  sha256: randomBytes(32).toString('base64'),
  ...more,
})

const captionOf = (text: string) => (text === '' ? {} : { caption: text })

const card = (name: string, kind: InboundKind, phone: string) => ({
  name: { formatted_name: name, first_name: name.split(' ')[0] },
  phones: [{ phone: `+${phone}`, wa_id: phone, type: 'MOBILE' }],
  ...(kind === 'contact_request' ? { origin: 'contact_request' } : {}),
})

function interactive(kind: InboundKind, text: string): object {
  if (kind === 'button_reply') return { type: 'button_reply', button_reply: { id: 'choice-1', title: text } }
  if (kind === 'list_reply') return { type: 'list_reply', list_reply: { id: 'row-1', title: text, description: '' } }
  return {
    type: 'nfm_reply',
    nfm_reply: { name: 'flow', body: 'Sent', response_json: JSON.stringify({ answer: text }) },
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

/** What a message carries when an ad or a post led to it. Ads in a status carry no click id. */
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

/** What the phone shows of it. */
export function shownText({ kind, text }: Utterance): string {
  const names: Partial<Record<InboundKind, string>> = {
    image: '📷 Photo',
    video: '🎬 Video',
    audio: '🎵 Audio',
    voice: '🎤 Voice message',
    document: '📄 Document',
    sticker: '🏷️ Sticker',
    location: '📍 Location',
    contacts: '👤 Contact',
    contact_request: '👤 Shared my number',
    order: '🛒 Order',
    unsupported: '📊 Poll',
    no_content: '📊 Message without content',
    group: '👥 In a group',
  }
  const name = names[kind]
  if (name === undefined) return text || kind.replaceAll('_', ' ')
  return text === '' ? name : `${name} · ${text}`
}
