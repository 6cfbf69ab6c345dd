import type { Referral } from '../../channel-event.ts'
import { type Content, callNotice, contentOf, parseCount, unsupported } from '../../untrusted-values.ts'
import { type JsonObject, listOf, objectOf, textOf, tokenOf } from '../../waba/json.ts'
import { kindsOf, parseDetail } from './detail.ts'

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
  locationMessage: (inner) => ({ kind: 'location', text: placeOf(inner) }),
  liveLocationMessage: (inner) => ({ kind: 'location', text: placeOf(inner) }),
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

function placeOf({ name, address, caption, degreesLatitude, degreesLongitude }: JsonObject): string {
  const parts = [textOf(name), textOf(address), textOf(caption)].filter((part) => part !== null)
  if (parts.length > 0) return parts.join(', ')
  const isPoint = typeof degreesLatitude === 'number' && typeof degreesLongitude === 'number'
  return isPoint ? `${degreesLatitude}, ${degreesLongitude}` : ''
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
