import { type AdKind, type InboundKind, referralOf, type Utterance } from '../inbound.ts'
import { randomDigits } from '../world.ts'
import { jidOf } from './shapes.ts'

/** What a customer sends as devices get it: the content, and the key's own part where the kind has one. */
export function deviceContent(
  { kind, text, about }: Utterance,
  { phone, ad }: { phone: string; ad: AdKind | null },
): object {
  if (kind === 'no_content') return { messageStubType: 2, messageStubParameters: ['No session record'] }
  const message = messageOf(kind, text, { phone, about, contextInfo: contextOf(about, ad) })
  if (kind !== 'group') return { message }
  return { key: { remoteJid: `${randomDigits(18)}@g.us`, participant: jidOf(phone) }, message }
}

interface Context {
  phone: string
  about: string | null
  contextInfo: object
}

function messageOf(kind: Exclude<InboundKind, 'no_content'>, text: string, context: Context): object {
  const { phone, about, contextInfo } = context
  const key = { remoteJid: jidOf(phone), fromMe: false, id: about }
  const hasContext = Object.keys(contextInfo).length > 0
  switch (kind) {
    case 'text':
    case 'group':
      return hasContext ? { extendedTextMessage: { text, contextInfo } } : { conversation: text }
    case 'image':
      return { imageMessage: { mimetype: 'image/jpeg', ...captionOf(text), contextInfo } }
    case 'video':
      return { videoMessage: { mimetype: 'video/mp4', ...captionOf(text), contextInfo } }
    case 'audio':
      return { audioMessage: { mimetype: 'audio/mpeg', ptt: false, contextInfo } }
    case 'voice':
      return { audioMessage: { mimetype: 'audio/ogg; codecs=opus', ptt: true, contextInfo } }
    case 'document':
      return { documentMessage: { mimetype: 'application/pdf', fileName: text || 'document.pdf', contextInfo } }
    case 'sticker':
      return { stickerMessage: { mimetype: 'image/webp', isAnimated: false } }
    case 'location': {
      const place = { degreesLatitude: -23.5614, degreesLongitude: -46.6559, name: text || 'Avenida Paulista' }
      return { locationMessage: { ...place, contextInfo } }
    }
    case 'contacts':
    case 'contact_request':
      return { contactMessage: cardOf(text || 'Lucía Gómez', phone) }
    case 'button':
      return { templateButtonReplyMessage: { selectedId: text, selectedDisplayText: text, contextInfo } }
    case 'button_reply':
      return { buttonsResponseMessage: { selectedButtonId: 'choice-1', selectedDisplayText: text, contextInfo } }
    case 'list_reply':
      return { listResponseMessage: { title: text, singleSelectReply: { selectedRowId: 'row-1' }, contextInfo } }
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
      const protocolMessage = { key, type: 14, editedMessage: { conversation: text } }
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

const captionOf = (text: string): object => (text === '' ? {} : { caption: text })

const cardOf = (displayName: string, phone: string): object => ({
  displayName,
  vcard: `BEGIN:VCARD\nVERSION:3.0\nFN:${displayName}\nTEL;type=CELL;waid=${phone}:+${phone}\nEND:VCARD`,
})

function contextOf(about: string | null, ad: AdKind | null): object {
  const quoted = about === null ? {} : { stanzaId: about }
  return ad === null ? quoted : { ...quoted, externalAdReply: adReplyOf(ad) }
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
