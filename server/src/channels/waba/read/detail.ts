import {
  type ContactCard,
  type MediaKind,
  type MediaTold,
  type MessageDetail,
  maxCards,
  maxPhones,
  type Quoted,
  type Reaction,
} from '../../channel-event.ts'
import { cardsOf, countOf, detailOf, mimeTypeOf, placeOf, sha256Of, shortText } from '../../detail-values.ts'
import { type Loose, listOf, objectOf, tokenOf } from '../json.ts'
import { readPhone } from './reading.ts'

const mediaKinds: readonly MediaKind[] = ['image', 'video', 'audio', 'voice', 'document', 'sticker']

const maxBytes = 2 ** 40
const maxChosen = 256

/** Returns the content of a message beyond the text; null for text only. */
export function readDetail(type: string, message: Loose): MessageDetail | null {
  const inner = objectOf(message[type])
  const { id, forwarded, frequently_forwarded } = objectOf(message.context)
  return detailOf({
    media: readMedia(type, inner),
    place: type === 'location' ? placeOf({ ...placeFields(inner), isLive: false }) : null,
    cards: type === 'contacts' ? readCards(listOf(message.contacts)) : null,
    quoted: readQuote(id),
    reaction: type === 'reaction' ? readReaction(inner) : null,
    chosen: type === 'interactive' ? readChosen(inner) : null,
    isForwarded: forwarded === true || frequently_forwarded === true,
  })
}

function readMedia(type: string, inner: Loose): MediaTold | null {
  const kind = mediaKinds.find((one) => one === type)
  const id = tokenOf(inner.id)
  if (kind === undefined || id === null) return null
  return {
    kind: kind === 'audio' && inner.voice === true ? 'voice' : kind,
    source: { by: 'id', id },
    mimeType: mimeTypeOf(inner.mime_type),
    size: countOf(inner.file_size, maxBytes),
    sha256: sha256Of(inner.sha256),
    name: shortText(inner.filename, 255),
    width: null,
    height: null,
    seconds: null,
    waveform: null,
    thumbnail: null,
    isAnimated: inner.animated === true,
  }
}

const placeFields = ({ latitude, longitude, name, address }: Loose) => ({ latitude, longitude, name, address })

function readQuote(id: unknown): Quoted | null {
  const externalId = tokenOf(id)
  return externalId === null ? null : { externalId, text: null }
}

function readReaction({ message_id, emoji }: Loose): Reaction | null {
  const [externalId, shown] = [tokenOf(message_id), shortText(emoji, 64)]
  return externalId === null || shown === null ? null : { externalId, emoji: shown }
}

/** Returns the id of the chosen button or row: other answers contain no id of ours. */
function readChosen({ button_reply, list_reply }: Loose): string | null {
  return shortText(objectOf(button_reply ?? list_reply).id, maxChosen)
}

function readCards(cards: unknown[]): ContactCard[] | null {
  return cardsOf(
    cards.slice(0, maxCards).map((card) => {
      const { name, org, phones, emails } = objectOf(card)
      return {
        name: nameOf(objectOf(name)),
        organisation: objectOf(org).company,
        phones: listOf(phones)
          .slice(0, maxPhones)
          .map(objectOf)
          .map(({ phone, wa_id, type }) => ({ phone: readPhone(wa_id) ?? phone, label: type })),
        emails: listOf(emails)
          .slice(0, maxPhones)
          .map((one) => objectOf(one).email),
      }
    }),
  )
}

function nameOf({ formatted_name, first_name, last_name }: Loose): string | null {
  const parts = [first_name, last_name].map((part) => shortText(part, 120)).filter((part) => part !== null)
  return shortText(formatted_name, 255) ?? (parts.join(' ') || null)
}
