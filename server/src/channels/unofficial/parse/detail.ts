import {
  type ContactCard,
  type MediaInfo,
  type MediaKind,
  type MessageDetail,
  maxCards,
  type Quoted,
  type Reaction,
} from '../../channel-event.ts'
import {
  buildDetail,
  limitText,
  parseBytes,
  parseCards,
  parseCount,
  parseKnownMimeType,
  parsePlace,
  parseSha256Bytes,
} from '../../untrusted-values.ts'
import { type JsonObject, listOf, objectOf, tokenOf } from '../../waba/json.ts'

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
const maxDepth = 8

/** Returns the content of a message without wrappers, which only affect its display. */
export function unwrap(message: unknown): JsonObject {
  let content = objectOf(message)
  for (let depth = 0; depth < maxDepth; depth++) {
    const wrapper = wrappers.find((name) => 'message' in objectOf(content[name]))
    if (wrapper === undefined) return content
    content = objectOf(objectOf(content[wrapper]).message)
  }
  return {}
}

// Keys that accompany a message, or appear alone to carry encryption keys.
const accompanyingKeys = new Set([
  'messageContextInfo',
  'senderKeyDistributionMessage',
  'fastRatchetKeySenderKeyDistributionMessage',
])

/** Returns the content kinds of a message; usually one. */
export function kindsOf(content: JsonObject): string[] {
  return Object.keys(content).filter(
    (kind) => content[kind] !== null && content[kind] !== undefined && !accompanyingKeys.has(kind),
  )
}

export function isEmpty(content: JsonObject): boolean {
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
function parseCard(vcard: unknown): Card {
  const card: Card = { name: null, organisation: null, phones: [], emails: [] }
  for (const line of (limitText(vcard, maxLength) ?? '').split(/\r?\n/).slice(0, maxLines)) {
    const colon = line.indexOf(':')
    if (colon < 0) continue
    const [field = '', ...parameters] = line.slice(0, colon).split(';')
    parseField(card, field.slice(field.indexOf('.') + 1).toUpperCase(), parameters, unescapeText(line.slice(colon + 1)))
  }
  return card
}

function parseField(card: Card, field: string, parameters: readonly string[], value: string): void {
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

const unescapeText = (value: string): string =>
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
export function parseDetail(kind: string, inner: JsonObject): MessageDetail | null {
  const context = objectOf(inner.contextInfo)
  const mediaKind = mediaKinds.get(kind)
  const cards = kind === 'contactMessage' ? [inner] : kind === 'contactsArrayMessage' ? listOf(inner.contacts) : []
  return buildDetail({
    media: mediaKind === undefined ? null : parseMedia(mediaKind, inner),
    place: parsePlaceOf(kind, inner),
    cards: parseContacts(cards),
    quoted: parseQuote(context),
    reaction: kind === 'reactionMessage' ? parseReaction(inner) : null,
    // Linked devices cannot offer choices.
    chosen: null,
    isForwarded: context.isForwarded === true,
  })
}

function parseMedia(kind: Exclude<MediaKind, 'voice'>, inner: JsonObject): MediaInfo | null {
  const key = parseBytes(inner.mediaKey, 64)
  // Without its key the file cannot be decrypted.
  if (key === null) return null
  const encrypted = parseSha256Bytes(inner.fileEncSha256)
  return {
    kind: kind === 'audio' && inner.ptt === true ? 'voice' : kind,
    source: {
      by: 'linked',
      type: kind,
      url: limitText(inner.url, 2048),
      directPath: limitText(inner.directPath, 2048),
      mediaKey: key.toString('base64'),
      fileEncSha256: encrypted,
    },
    mimeType: parseKnownMimeType(inner.mimetype),
    size: parseCount(inner.fileLength, maxBytes),
    sha256: parseSha256Bytes(inner.fileSha256),
    name: limitText(inner.fileName ?? inner.title, 255),
    width: parseCount(inner.width, maxPixels) || null,
    height: parseCount(inner.height, maxPixels) || null,
    seconds: parseCount(inner.seconds, maxSeconds),
    waveform: parseWaveform(inner.waveform),
    thumbnail: parseBytes(inner.jpegThumbnail, maxThumbnailBytes)?.toString('base64') ?? null,
    isAnimated: inner.isAnimated === true || inner.gifPlayback === true,
  }
}

function parseWaveform(value: unknown): number[] | null {
  const heights = parseBytes(value, 1024)?.subarray(0, waveformLength)
  return heights === undefined ? null : [...heights].map((height) => Math.min(height, 100))
}

function parsePlaceOf(kind: string, inner: JsonObject) {
  const isLive = kind === 'liveLocationMessage' || inner.isLive === true
  if (kind !== 'locationMessage' && kind !== 'liveLocationMessage') return null
  const { degreesLatitude: latitude, degreesLongitude: longitude, name, caption, address } = inner
  return parsePlace({ latitude, longitude, name: name ?? caption, address, isLive })
}

function parseContacts(cards: unknown[]): ContactCard[] | null {
  return parseCards(
    cards.slice(0, maxCards).map((one) => {
      const { displayName, vcard } = objectOf(one)
      const { name, ...rest } = parseCard(vcard)
      return { name: limitText(displayName, 255) ?? name, ...rest }
    }),
  )
}

const maxQuotedLength = 1000
const textKeys = ['text', 'caption', 'contentText', 'fileName', 'displayName', 'name'] as const

function parseQuote({ stanzaId, quotedMessage }: JsonObject): Quoted | null {
  const externalId = tokenOf(stanzaId)
  return externalId === null ? null : { externalId, text: quotedText(unwrap(quotedMessage)) }
}

function quotedText(quoted: JsonObject): string | null {
  const [kind = ''] = kindsOf(quoted)
  const whole = quoted[kind]
  const inner = objectOf(whole)
  const innerText = textKeys.map((name) => limitText(inner[name], maxQuotedLength)).find((text) => text !== null)
  return limitText(whole, maxQuotedLength) ?? innerText ?? null
}

function parseReaction({ key, text }: JsonObject): Reaction | null {
  const [externalId, emoji] = [tokenOf(objectOf(key).id), limitText(text, 64)]
  return externalId === null || emoji === null ? null : { externalId, emoji }
}
