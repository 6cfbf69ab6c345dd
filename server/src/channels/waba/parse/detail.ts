import {
  type ContactCard,
  type MediaInfo,
  type MediaKind,
  type MessageDetail,
  maxCards,
  maxPhones,
  type Quoted,
  type Reaction,
} from '../../channel-event.ts'
import { parseRatingChoice } from '../../interactive-options.ts'
import {
  buildDetail,
  limitText,
  parseCards,
  parseCount,
  parseKnownMimeType,
  parsePlace,
  parseSha256Bytes,
} from '../../untrusted-values.ts'
import { type JsonObject, listOf, objectOf, tokenOf } from '../json.ts'
import { parsePhone } from './values.ts'

const mediaKinds: readonly MediaKind[] = ['image', 'video', 'audio', 'voice', 'document', 'sticker']

const maxBytes = 2 ** 40
const maxChosen = 256

/** Returns the content of a message beyond the text; null for text only. */
export function parseDetail(type: string, message: JsonObject): MessageDetail | null {
  const inner = objectOf(message[type])
  const { id, forwarded, frequently_forwarded } = objectOf(message.context)
  return buildDetail({
    media: parseMedia(type, inner),
    place: type === 'location' ? parsePlace({ ...placeFields(inner), isLive: false }) : null,
    cards: type === 'contacts' ? parseContacts(listOf(message.contacts)) : null,
    quoted: parseQuote(id),
    reaction: type === 'reaction' ? parseReaction(inner) : null,
    chosen: type === 'interactive' ? parseChosen(inner) : type === 'button' ? parseRating(inner) : null,
    isForwarded: forwarded === true || frequently_forwarded === true,
  })
}

function parseMedia(type: string, inner: JsonObject): MediaInfo | null {
  const kind = mediaKinds.find((one) => one === type)
  const id = tokenOf(inner.id)
  if (kind === undefined || id === null) return null
  return {
    kind: kind === 'audio' && inner.voice === true ? 'voice' : kind,
    source: { by: 'id', id },
    mimeType: parseKnownMimeType(inner.mime_type),
    size: parseCount(inner.file_size, maxBytes),
    sha256: parseSha256Bytes(inner.sha256),
    name: limitText(inner.filename, 255),
    width: null,
    height: null,
    seconds: null,
    waveform: null,
    thumbnail: null,
    isAnimated: inner.animated === true,
  }
}

const placeFields = ({ latitude, longitude, name, address }: JsonObject) => ({ latitude, longitude, name, address })

function parseQuote(id: unknown): Quoted | null {
  const externalId = tokenOf(id)
  return externalId === null ? null : { externalId, text: null }
}

function parseReaction({ message_id, emoji }: JsonObject): Reaction | null {
  const [externalId, shown] = [tokenOf(message_id), limitText(emoji, 64)]
  return externalId === null || shown === null ? null : { externalId, emoji: shown }
}

/** Returns the id of the chosen button or row: other answers contain no id of ours. */
function parseChosen({ button_reply, list_reply }: JsonObject): string | null {
  return limitText(objectOf(button_reply ?? list_reply).id, maxChosen)
}

/** Quick replies of templates have no ids, except those that we send with the question how satisfied the customer is. */
function parseRating({ payload }: JsonObject): string | null {
  const chosen = limitText(payload, maxChosen)
  return parseRatingChoice(chosen) === null ? null : chosen
}

function parseContacts(cards: unknown[]): ContactCard[] | null {
  return parseCards(
    cards.slice(0, maxCards).map((card) => {
      const { name, org, phones, emails } = objectOf(card)
      return {
        name: nameOf(objectOf(name)),
        organisation: objectOf(org).company,
        phones: listOf(phones)
          .slice(0, maxPhones)
          .map(objectOf)
          .map(({ phone, wa_id, type }) => ({ phone: parsePhone(wa_id) ?? phone, label: type })),
        emails: listOf(emails)
          .slice(0, maxPhones)
          .map((one) => objectOf(one).email),
      }
    }),
  )
}

function nameOf({ formatted_name, first_name, last_name }: JsonObject): string | null {
  const parts = [first_name, last_name].map((part) => limitText(part, 120)).filter((part) => part !== null)
  return limitText(formatted_name, 255) ?? (parts.join(' ') || null)
}
