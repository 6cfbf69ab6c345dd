import {
  type ContactCard,
  type MediaInfo,
  type MediaKind,
  type MessageDetail,
  maxCards,
  maxPhones,
  type Quoted,
  type Reaction,
  type Referral,
} from '../../channel-event.ts'
import { parseRatingChoice } from '../../interactive-options.ts'
import {
  buildDetail,
  type Content,
  contentOf,
  limitText,
  parseCards,
  parseCount,
  parseKnownMimeType,
  parsePlace,
  parseSha256Bytes,
  placeText,
  unsupported,
} from '../../untrusted-values.ts'
import { type JsonObject, listOf, objectOf, parseJson, textOf, tokenOf } from '../json.ts'
import { parsePhone } from './values.ts'

const maxSummaryLength = 4096

/** Returns a message's content in our kinds; null for edits, deletions and removed reactions. */
export function parseContent(message: JsonObject): Content | null {
  const type = textOf(message.type) ?? typeByContent(message)
  const content = parseText(type, message)
  const detail = content === null ? null : parseDetail(type, message)
  return content === null || detail === null ? content : { ...content, detail }
}

function parseText(type: string, message: JsonObject): Content | null {
  const inner = objectOf(message[type])
  switch (type) {
    case 'text':
      return contentOf('text', textOf(inner.body)) ?? unsupportedOf(message)
    case 'image':
    case 'video':
      return { kind: type, text: textOf(inner.caption) ?? '' }
    case 'sticker':
      return { kind: 'image', text: '' }
    case 'audio':
    case 'voice':
      return { kind: 'audio', text: '' }
    case 'document':
      return { kind: 'document', text: textOf(inner.caption) ?? textOf(inner.filename) ?? '' }
    case 'location':
      return { kind: 'location', text: placeText([inner.name, inner.address], inner.latitude, inner.longitude) }
    case 'contacts':
      return { kind: 'text', text: summaryOfContacts(listOf(message.contacts)) }
    case 'interactive':
      return contentOf('text', interactiveText(inner)) ?? unsupportedOf(message)
    case 'button':
      return contentOf('text', textOf(inner.text) ?? tokenOf(inner.payload)) ?? unsupportedOf(message)
    case 'order':
      return { kind: 'text', text: textOf(inner.text) ?? summaryOfOrder(inner) }
    case 'template':
      return { kind: 'template', text: textOf(inner.body) ?? textOf(inner.name) ?? '' }
    case 'media_placeholder':
      return { kind: 'system', text: 'Media' }
    case 'reaction':
      return contentOf('text', textOf(inner.emoji))
    case 'revoke':
    case 'edit':
      return null
    case 'unsupported':
      // Some senders of this type include the text anyway.
      return contentOf('text', textOf(objectOf(message.text).body)) ?? unsupportedOf(message)
    default:
      return unsupportedOf(message)
  }
}

/** Returns details of the ad that led to a message; null if there is none. */
export function parseReferral(value: unknown): Referral | null {
  const { ctwa_clid, source_id, source_type, source_url, headline } = objectOf(value)
  const referral = {
    ctwa_clid: textOf(ctwa_clid),
    source_id: tokenOf(source_id),
    source_type: textOf(source_type),
    source_url: textOf(source_url),
    headline: textOf(headline),
  }
  return Object.values(referral).some((part) => part !== null) ? referral : null
}

// The platform sometimes names the type that it could not deliver.
function unsupportedOf(message: JsonObject): Content {
  const type = textOf(message.type)
  const named = type === 'unsupported' || type === null ? textOf(objectOf(message.unsupported).type) : type
  return unsupported(named === 'unknown' ? null : named)
}

function typeByContent(message: JsonObject): string {
  const known = ['text', 'image', 'video', 'audio', 'document', 'sticker', 'location', 'interactive', 'button', 'order']
  return known.find((type) => typeof message[type] === 'object' && message[type] !== null) ?? ''
}

function summaryOfContacts(cards: unknown[]): string {
  const isOwnNumber = cards.some((card) => objectOf(card).origin === 'contact_request')
  if (isOwnNumber) return 'Shared their phone number'
  const names = cards.map((card) => {
    const { name, org } = objectOf(card)
    const { formatted_name, first_name, last_name } = objectOf(name)
    const parts = [textOf(first_name), textOf(last_name)].filter((part) => part !== null).join(' ')
    return textOf(formatted_name) ?? (parts || textOf(objectOf(org).company))
  })
  const known = names.filter((name) => name !== null)
  return known.length === 0 ? 'Contact' : `Contact: ${known.join(', ')}`.slice(0, maxSummaryLength)
}

function summaryOfOrder({ product_items }: JsonObject): string {
  const items = listOf(product_items).map((item) => {
    const { product_retailer_id, quantity } = objectOf(item)
    return `${tokenOf(quantity) ?? '1'} × ${tokenOf(product_retailer_id) ?? '?'}`
  })
  return items.length === 0 ? 'Order' : `Order: ${items.join(', ')}`.slice(0, maxSummaryLength)
}

const maxAnswersLength = 4096

/** Returns what a customer chose or filled in; null if the platform omitted it. */
function interactiveText(interactive: JsonObject): string | null {
  const type = textOf(interactive.type)
  const inner = objectOf(type === null ? null : interactive[type])
  if (type === 'nfm_reply') return flowText(inner)
  return textOf(inner.title) ?? textOf(inner.text) ?? textOf(inner.body) ?? textOf(inner.response)
}

/** Returns the line that the customer saw, then one line per answer of the form. */
function flowText({ body, name, response_json }: JsonObject): string | null {
  const response = objectOf(parseJson(textOf(response_json) ?? ''))
  const head = textOf(body) ?? textOf(name)
  const isAddress = name === 'address_message'
  const answers = isAddress ? addressLines(objectOf(response.values), head ?? '') : answersOf(response)
  // The name is none that the customer saw.
  const lines = head === null || (isAddress && body === undefined) ? answers : [head, ...answers]
  return lines.length === 0 ? null : lines.join('\n').slice(0, maxAnswersLength)
}

/** The platform's fields of an address, in the order in which they are read. */
const addressFields: readonly (readonly [field: string, label: string])[] = [
  ['name', 'Name'],
  ['phone_number', 'Phone'],
  ['house_number', 'House number'],
  ['floor_number', 'Floor'],
  ['tower_number', 'Tower'],
  ['building_name', 'Building'],
  ['address', 'Address'],
  ['landmark_area', 'Landmark'],
  ['city', 'City'],
  ['state', 'State'],
  ['in_pin_code', 'PIN code'],
]

/** Returns one line per field of an address that `shown` does not contain already. */
const addressLines = (values: JsonObject, shown: string): string[] =>
  addressFields.flatMap(([field, label]) => {
    const value = tokenOf(values[field])
    return value === null || shown.includes(value) ? [] : [`${label}: ${value}`]
  })

function answersOf(response: JsonObject): string[] {
  return Object.entries(response)
    .filter(([key]) => key !== 'flow_token')
    .flatMap(([key, value]) => {
      const text = [value].flat().filter(isPlain).join(', ')
      return text === '' ? [] : [`${textOf(key)}: ${textOf(text)}`]
    })
}

const isPlain = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value)

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
