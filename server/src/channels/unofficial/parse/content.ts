import {
  type ContactCard,
  type MediaInfo,
  type MediaKind,
  type MessageDetail,
  maxCards,
  type Quoted,
  type Reaction,
  type Referral,
} from '../../channel-event.ts'
import {
  buildDetail,
  type Content,
  callNotice,
  contentOf,
  limitText,
  parseBytes,
  parseCards,
  parseCount,
  parseKnownMimeType,
  parsePlace,
  parseSha256Bytes,
  placeText,
  unsupported,
} from '../../untrusted-values.ts'
import { type JsonObject, listOf, objectOf, textOf, tokenOf } from '../../waba/json.ts'

/** Kind of a call log entry. The misspelling is the network's. */
export const callLog = 'callLogMesssage'

// Values appear as numbers or names, depending on the library.
const answered = new Set<unknown>([0, '0', 'CONNECTED', 4, '4', 'ACCEPTED_ELSEWHERE', 5, '5', 'ONGOING'])
const declined = new Set<unknown>([3, '3', 'REJECTED'])
const missedNotices = new Map<unknown, boolean>([
  [40, false],
  ['CALL_MISSED_VOICE', false],
  [41, true],
  ['CALL_MISSED_VIDEO', true],
])
const maxSeconds = 7 * 86_400

function callText({ isVideo, callOutcome, durationSecs }: JsonObject): string {
  const outcome = answered.has(callOutcome) ? 'answered' : declined.has(callOutcome) ? 'declined' : 'missed'
  return callNotice({ isVideo: isVideo === true, outcome, seconds: parseCount(durationSecs, maxSeconds) })
}

/** Returns the text for a missed-call notice; null for any other notice. */
export function missedCallText(stubType: unknown): string | null {
  const isVideo = missedNotices.get(stubType)
  return isVideo === undefined ? null : callNotice({ isVideo, outcome: 'missed', seconds: null })
}

const maxSummaryLength = 4096

const poll = ({ name, options }: JsonObject): Content | null =>
  contentOf('text', pollText(textOf(name), listOf(options)))

/** Parsers by content kind; null for edits, deletions, votes and removed reactions, which are not messages. */
const parsers: Record<string, (inner: JsonObject, whole: unknown) => Content | null> = {
  conversation: (_, whole) => contentOf('text', textOf(whole)),
  extendedTextMessage: ({ text }) => contentOf('text', textOf(text)),
  imageMessage: ({ caption }) => ({ kind: 'image', text: textOf(caption) ?? '' }),
  videoMessage: ({ caption }) => ({ kind: 'video', text: textOf(caption) ?? '' }),
  ptvMessage: ({ caption }) => ({ kind: 'video', text: textOf(caption) ?? '' }),
  audioMessage: () => ({ kind: 'audio', text: '' }),
  documentMessage: ({ caption, fileName, title }) => ({
    kind: 'document',
    text: textOf(caption) ?? textOf(fileName) ?? textOf(title) ?? '',
  }),
  stickerMessage: () => ({ kind: 'image', text: '' }),
  locationMessage: placeOf,
  liveLocationMessage: placeOf,
  contactMessage: (inner) => ({ kind: 'text', text: summaryOfContacts([inner]) }),
  contactsArrayMessage: ({ contacts }) => ({ kind: 'text', text: summaryOfContacts(listOf(contacts)) }),
  pollCreationMessage: poll,
  pollCreationMessageV2: poll,
  pollCreationMessageV3: poll,
  pollCreationMessageV5: poll,
  [callLog]: (inner) => contentOf('system', callText(inner)),
  reactionMessage: ({ text }) => contentOf('text', textOf(text)),
  buttonsResponseMessage: ({ selectedDisplayText, selectedButtonId }) =>
    contentOf('text', textOf(selectedDisplayText) ?? tokenOf(selectedButtonId)),
  templateButtonReplyMessage: ({ selectedDisplayText, selectedId }) =>
    contentOf('text', textOf(selectedDisplayText) ?? tokenOf(selectedId)),
  listResponseMessage: ({ title, description, singleSelectReply }) =>
    contentOf('text', textOf(title) ?? textOf(description) ?? tokenOf(objectOf(singleSelectReply).selectedRowId)),
  interactiveResponseMessage: ({ body }) => contentOf('text', textOf(objectOf(body).text)),
  // Messages sent by the business itself, received as echoes.
  buttonsMessage: ({ contentText }) => contentOf('text', textOf(contentText)),
  listMessage: ({ description, title }) => contentOf('text', textOf(description) ?? textOf(title)),
  interactiveMessage: ({ body }) => contentOf('text', textOf(objectOf(body).text)),
  templateMessage: ({ hydratedTemplate, hydratedFourRowTemplate }) =>
    contentOf('text', textOf(objectOf(hydratedTemplate ?? hydratedFourRowTemplate).hydratedContentText)),
  orderMessage: ({ message, orderTitle }) => ({ kind: 'text', text: textOf(message) ?? textOf(orderTitle) ?? 'Order' }),
}

const ignoredKinds = new Set([
  'protocolMessage',
  'editedMessage',
  'secretEncryptedMessage',
  'encReactionMessage',
  'pollUpdateMessage',
  'keepInChatMessage',
  'pinInChatMessage',
  'albumMessage',
  'messageHistoryBundle',
  // A ringing call; its end is a separate item.
  'call',
])

// Kinds that may be empty. Any other empty message is shown as unsupported, because something was written.
const mayBeEmpty = new Set(['reactionMessage'])

/** Returns a message's content in our kinds; null if it is not a message itself. Takes the result of `unwrap`. */
export function parseContent(whole: JsonObject): Content | null {
  const kinds = kindsOf(whole)
  if (kinds.some((kind) => ignoredKinds.has(kind))) return null
  const kind = kinds.find((one) => Object.hasOwn(parsers, one)) ?? kinds[0] ?? ''
  const parsed = Object.hasOwn(parsers, kind) ? parsers[kind]?.(objectOf(whole[kind]), whole[kind]) : null
  const result = parsed ?? (mayBeEmpty.has(kind) ? null : unsupportedOf(kind))
  const detail = result === null ? null : parseDetail(kind, objectOf(whole[kind]))
  return result === null || detail === null ? result : { ...result, detail }
}

// Example: `eventInviteMessageV3` becomes `event_invite`.
function unsupportedOf(kind: string): Content {
  const named = kind.replace(/Message(V\d+)?$/, '').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return unsupported(Object.hasOwn(parsers, kind) ? null : named)
}

const maxOptions = 12

/** Returns the question, followed by one line per answer. */
function pollText(question: string | null, options: unknown[]): string | null {
  if (question === null) return null
  const answers = options.map((one) => textOf(objectOf(one).optionName)).filter((answer) => answer !== null)
  const lines = [`📊 ${question}`, ...answers.slice(0, maxOptions).map((answer) => `• ${answer}`)]
  return lines.join('\n').slice(0, maxSummaryLength).toWellFormed()
}

function placeOf({ name, address, caption, degreesLatitude, degreesLongitude }: JsonObject): Content {
  return { kind: 'location', text: placeText([name, address, caption], degreesLatitude, degreesLongitude) }
}

function summaryOfContacts(cards: unknown[]): string {
  const names = cards.map((card) => textOf(objectOf(card).displayName)).filter((name) => name !== null)
  return names.length === 0 ? 'Contact' : `Contact: ${names.join(', ')}`.slice(0, maxSummaryLength).toWellFormed()
}

/** Returns details of the ad that led to a message; null if there is none. */
export function parseReferral(content: JsonObject): Referral | null {
  for (const kind of kindsOf(content)) {
    const ad = objectOf(objectOf(objectOf(content[kind]).contextInfo).externalAdReply)
    const referral = {
      ctwa_clid: textOf(ad.ctwaClid),
      source_id: tokenOf(ad.sourceId),
      source_type: textOf(ad.sourceType),
      source_url: textOf(ad.sourceUrl),
      headline: textOf(ad.title),
    }
    // Link previews also set the title and URL of `externalAdReply`.
    const isAd = referral.ctwa_clid !== null || referral.source_id !== null || referral.source_type !== null
    if (isAd) return referral
  }
  return null
}

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
function kindsOf(content: JsonObject): string[] {
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

const [maxBytes, maxPixels] = [2 ** 40, 100_000]
// 8 KB in base64, for every message of a page.
const [maxThumbnailBytes, waveformLength] = [6_144, 64]

/** Returns the content beyond the text; null for text only. */
function parseDetail(kind: string, inner: JsonObject): MessageDetail | null {
  const context = objectOf(inner.contextInfo)
  const mediaKind = mediaKinds.get(kind)
  const cards = kind === 'contactMessage' ? [inner] : kind === 'contactsArrayMessage' ? listOf(inner.contacts) : []
  return buildDetail({
    media: mediaKind === undefined ? null : parseMedia(mediaKind, inner),
    place: parsePlaceOf(kind, inner),
    cards: parseContacts(cards),
    quoted: parseQuote(context),
    reaction: kind === 'reactionMessage' ? parseReaction(inner) : null,
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
