import {
  type ContactCard,
  type MediaKind,
  type MediaTold,
  type MessageDetail,
  maxCards,
  type Quoted,
  type Reaction,
} from '../../channel-event.ts'
import { bytesOf, cardsOf, countOf, detailOf, mimeTypeOf, placeOf, sha256Of, shortText } from '../../detail-values.ts'
import { type Loose, listOf, objectOf, tokenOf } from '../../waba/json.ts'

const wrappers = [
  'ephemeralMessage',
  'viewOnceMessage',
  'viewOnceMessageV2',
  'viewOnceMessageV2Extension',
  'documentWithCaptionMessage',
  'editedMessage',
  'associatedChildMessage',
  'lottieStickerMessage',
  'deviceSentMessage',
]
const deepest = 8

/** Returns the content of a message without wrappers, which only affect its display. */
export function unwrap(message: unknown): Loose {
  let content = objectOf(message)
  for (let depth = 0; depth < deepest; depth++) {
    const wrapper = wrappers.find((name) => 'message' in objectOf(content[name]))
    if (wrapper === undefined) return content
    content = objectOf(objectOf(content[wrapper]).message)
  }
  return {}
}

// Keys that accompany a message, or appear alone to carry encryption keys.
const beside = new Set([
  'messageContextInfo',
  'senderKeyDistributionMessage',
  'fastRatchetKeySenderKeyDistributionMessage',
])

/** Returns the content kinds of a message; usually one. */
export function kindsOf(content: Loose): string[] {
  return Object.keys(content).filter(
    (kind) => content[kind] !== null && content[kind] !== undefined && !beside.has(kind),
  )
}

export function isEmpty(content: Loose): boolean {
  return kindsOf(content).length === 0
}

interface Card {
  name: string | null
  organisation: string | null
  phones: { phone: string; label: string | null }[]
  emails: string[]
}

const [maxLength, maxLines] = [20_000, 200]

/** Parses a vCard as written by phones; fields are empty if invalid. Folded lines are read up to the fold. */
function readCard(vcard: unknown): Card {
  const card: Card = { name: null, organisation: null, phones: [], emails: [] }
  for (const line of (shortText(vcard, maxLength) ?? '').split(/\r?\n/).slice(0, maxLines)) {
    const colon = line.indexOf(':')
    if (colon < 0) continue
    const [field = '', ...parameters] = line.slice(0, colon).split(';')
    readField(card, field.slice(field.indexOf('.') + 1).toUpperCase(), parameters, plain(line.slice(colon + 1)))
  }
  return card
}

function readField(card: Card, field: string, parameters: readonly string[], value: string): void {
  if (value === '') return
  if (field === 'FN') card.name ??= value
  if (field === 'ORG')
    card.organisation ??=
      value
        .split(';')
        .filter((part) => part !== '')
        .join(', ') || null
  if (field === 'EMAIL') card.emails.push(value)
  if (field === 'TEL') {
    const known = parameterOf(parameters, 'waid=')
    const isKnown = known !== null && /^\d{4,20}$/.test(known)
    card.phones.push({ phone: isKnown ? known : value, label: parameterOf(parameters, 'type=')?.toLowerCase() ?? null })
  }
}

function parameterOf(parameters: readonly string[], name: string): string | null {
  const found = parameters.find((one) => one.slice(0, name.length).toLowerCase() === name)
  return found?.slice(name.length) || null
}

const plain = (value: string): string =>
  value
    .slice(0, 1000)
    .replace(/\\n/gi, ' ')
    .replace(/\\([\\,;:])/g, '$1')
    .trim()

const mediaKinds: ReadonlyMap<string, Exclude<MediaKind, 'voice'>> = new Map([
  ['imageMessage', 'image'],
  ['videoMessage', 'video'],
  ['ptvMessage', 'video'],
  ['audioMessage', 'audio'],
  ['documentMessage', 'document'],
  ['stickerMessage', 'sticker'],
])

const [maxBytes, maxPixels, maxSeconds] = [2 ** 40, 100_000, 7 * 86_400]
// 8 KB in base64, for every message of a page.
const [maxThumbnailBytes, waveformLength] = [6_144, 64]

/** Returns the content beyond the text; null for text only. */
export function readDetail(kind: string, inner: Loose): MessageDetail | null {
  const context = objectOf(inner.contextInfo)
  const mediaKind = mediaKinds.get(kind)
  const cards = kind === 'contactMessage' ? [inner] : kind === 'contactsArrayMessage' ? listOf(inner.contacts) : []
  return detailOf({
    media: mediaKind === undefined ? null : readMedia(mediaKind, inner),
    place: readPlace(kind, inner),
    cards: readCards(cards),
    quoted: readQuote(context),
    reaction: kind === 'reactionMessage' ? readReaction(inner) : null,
    // Linked devices cannot offer choices.
    chosen: null,
    isForwarded: context.isForwarded === true,
  })
}

function readMedia(kind: Exclude<MediaKind, 'voice'>, inner: Loose): MediaTold | null {
  const key = bytesOf(inner.mediaKey, 64)
  // Without its key the file cannot be decrypted.
  if (key === null) return null
  const encrypted = sha256Of(inner.fileEncSha256)
  return {
    kind: kind === 'audio' && inner.ptt === true ? 'voice' : kind,
    source: {
      by: 'linked',
      type: kind,
      url: shortText(inner.url, 2048),
      directPath: shortText(inner.directPath, 2048),
      mediaKey: key.toString('base64'),
      fileEncSha256: encrypted,
    },
    mimeType: mimeTypeOf(inner.mimetype),
    size: countOf(inner.fileLength, maxBytes),
    sha256: sha256Of(inner.fileSha256),
    name: shortText(inner.fileName ?? inner.title, 255),
    width: countOf(inner.width, maxPixels) || null,
    height: countOf(inner.height, maxPixels) || null,
    seconds: countOf(inner.seconds, maxSeconds),
    waveform: readWaveform(inner.waveform),
    thumbnail: bytesOf(inner.jpegThumbnail, maxThumbnailBytes)?.toString('base64') ?? null,
    isAnimated: inner.isAnimated === true || inner.gifPlayback === true,
  }
}

function readWaveform(value: unknown): number[] | null {
  const heights = bytesOf(value, 1024)?.subarray(0, waveformLength)
  return heights === undefined ? null : [...heights].map((height) => Math.min(height, 100))
}

function readPlace(kind: string, inner: Loose) {
  const isLive = kind === 'liveLocationMessage' || inner.isLive === true
  if (kind !== 'locationMessage' && kind !== 'liveLocationMessage') return null
  const { degreesLatitude: latitude, degreesLongitude: longitude, name, caption, address } = inner
  return placeOf({ latitude, longitude, name: name ?? caption, address, isLive })
}

function readCards(cards: unknown[]): ContactCard[] | null {
  return cardsOf(
    cards.slice(0, maxCards).map((one) => {
      const { displayName, vcard } = objectOf(one)
      const { name, ...rest } = readCard(vcard)
      return { name: shortText(displayName, 255) ?? name, ...rest }
    }),
  )
}

const maxQuotedLength = 1000
const wordsOf = ['text', 'caption', 'contentText', 'fileName', 'displayName', 'name'] as const

function readQuote({ stanzaId, quotedMessage }: Loose): Quoted | null {
  const externalId = tokenOf(stanzaId)
  return externalId === null ? null : { externalId, text: quotedText(unwrap(quotedMessage)) }
}

function quotedText(quoted: Loose): string | null {
  const [kind = ''] = kindsOf(quoted)
  const whole = quoted[kind]
  const inner = objectOf(whole)
  const words = wordsOf.map((name) => shortText(inner[name], maxQuotedLength)).find((text) => text !== null)
  return shortText(whole, maxQuotedLength) ?? words ?? null
}

function readReaction({ key, text }: Loose): Reaction | null {
  const [externalId, emoji] = [tokenOf(objectOf(key).id), shortText(text, 64)]
  return externalId === null || emoji === null ? null : { externalId, emoji }
}
