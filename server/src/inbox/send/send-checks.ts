import { isBlank } from '../../base/text/external-text.ts'
import type { StoredConnection } from '../../channels/connection/connection.ts'
import type { Outgoing } from '../../channels/connector.ts'
import { holdsOf } from '../../channels/health/availability.ts'
import { needsAcknowledgement } from '../../channels/health/health.ts'
import { holdOn, isDue } from '../../channels/health/holds.ts'
import { problemOfChoices } from '../../channels/interactive-options.ts'
import type { MediaWay } from '../../channels/media-transport.ts'
import { fillBody, type Template } from '../../channels/templates/templates.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { windowIsOpen } from '../conversation/conversation-state.ts'
import { hasOptedOut } from '../conversation/customer.ts'
import type { Message, StoredDetail } from '../conversation/message.ts'
import {
  checkCaption,
  checkFile,
  checkHeader,
  checkReference,
  contractKinds,
  type MessageReference,
  type OutgoingFile,
  type SendReferences,
} from './check-references.ts'

import type { SendCommand } from './send-command.ts'
import type { Sender } from './send-deps.ts'
import {
  acknowledgementRequired,
  choicesUnsupported,
  connectionOnHold,
  connectionUnavailable,
  invalidMessage,
  optedOut,
  ownerMismatch,
  templateNotApproved,
  unsupportedKind,
  windowClosed,
} from './send-errors.ts'

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

// From the best place to cut to the worst. A cut stands at the end of the match: nothing is trimmed.
const boundaries: readonly RegExp[] = [/\n[^\S\n]*\n\s*/g, /\n/g, /[.!?…。！？]["'”’»)\]]*\s+|[。！？]/g, /\s+/g]

/**
 * Cuts a text into parts of at most `maxLength` UTF-16 units which, joined, are the text. Each part ends at the last
 * paragraph within reach, else at a line, a sentence, a space, and never inside a grapheme, unless one grapheme alone is
 * longer than that. A part is blank only where the text is blank for longer than `maxLength`.
 */
export function splitText(text: string, maxLength: number): string[] {
  const parts: string[] = []
  let rest = text
  while (rest.length > maxLength) {
    const cut = cutOf(rest, maxLength)
    parts.push(rest.slice(0, cut))
    rest = rest.slice(cut)
  }
  return [...parts, rest]
}

function cutOf(text: string, maxLength: number): number {
  const segments = graphemes.segment(text)
  const isBoundary = (at: number): boolean => segments.containing(at)?.index === at
  // The platform refuses a blank part: something to read must stand on both sides of the cut.
  const firstInk = text.search(/\S/)
  const lastInk = text.trimEnd().length - 1
  const furthest = firstInk < maxLength && lastInk > firstInk ? Math.min(maxLength, lastInk) : maxLength
  const nearest = firstInk < furthest ? firstInk + 1 : 1
  const reach = text.slice(0, furthest)

  for (const border of boundaries) {
    const ends = [...reach.matchAll(border)].map((match) => match.index + match[0].length)
    const cut = ends.findLast((end) => end >= nearest && isBoundary(end))
    if (cut !== undefined) return cut
  }
  const start = segments.containing(furthest)?.index ?? 0
  if (start >= nearest) return start
  return isLowSurrogate(text, maxLength) ? maxLength - 1 : maxLength
}

function isLowSurrogate(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00
}

/** The platform's limit for the filled body. */
const maxFilledLength = 32_768

/** Whether a connection can send, as of this moment. */
export type ConnectionReadiness = Pick<
  StoredConnection,
  'state' | 'stateReason' | 'stateChangedAt' | 'acknowledgedAt' | 'holds'
>

export interface SendCheck {
  command: SendCommand
  sender: Sender
  conversation: Conversation
  /** Null when the connection was removed. */
  readiness: ConnectionReadiness | null
  /** The one that the command names, whether or not it can be sent. */
  template: Template | null
  /** The channel's limit for one message, in UTF-16 units. */
  maxTextLength: number | null
  /** The channel has buttons and lists. */
  takesChoices: boolean
  references: SendReferences
  /** How the channel takes files; undefined where it takes none. */
  mediaTransport: MediaWay | undefined
  now: Date
}

/** What will be sent: the message's text, and the platform messages that carry it, in order. */
export interface SendDraft {
  kind: Message['kind']
  text: string
  parts: Outgoing[]
  /** What the message keeps beside its words. */
  detail?: StoredDetail
  /** Whose bytes the platform is given first. */
  file?: OutgoingFile
  /** The reason of the hold that this send is to try; absent where nothing stops it. */
  tries?: string
}

/** Judges a send as things stand under the conversation's lock, in the order that callers are promised. */
export function checkSend(check: SendCheck): SendDraft {
  const { command, sender, conversation, readiness, now } = check
  const template = command.kind === 'template' ? check.template : null
  const isWindowOpen = windowIsOpen(conversation.windowExpiresAt, now)
  if (command.kind === 'interactive') throw unsupportedKind()
  if (command.kind === 'choices' && !check.takesChoices) throw choicesUnsupported()
  if (!canAnswer(sender, conversation)) throw ownerMismatch(conversation.owner)
  if (readiness === null || readiness.state === 'paused') throw connectionUnavailable()
  const holds = readiness.state === 'active' && readiness.holds.length === 0 ? [] : holdsOf(readiness)
  const ofAll = holds.find(({ stops, liftedAt }) => stops === 'all' && liftedAt === null)
  if (readiness.state !== 'active' && (ofAll === undefined || ofAll.probe !== 'send' || !isDue(ofAll, now))) {
    throw connectionUnavailable()
  }
  const { channel } = conversation
  if (needsAcknowledgement({ channel, ...readiness }, now)) throw acknowledgementRequired()
  if (command.kind === 'template') approvedTemplate(command, check)
  else if (!isWindowOpen) throw windowClosed()
  const category = template?.category.toUpperCase() ?? null
  if (category === 'MARKETING' && hasOptedOut(conversation.contact)) throw optedOut()
  const hold = holdOn(holds, { category, isWindowOpen }, now)
  if (hold !== null && !isDue(hold, now)) throw connectionOnHold(hold)
  const draft = draftOf(check)
  return hold === null ? draft : { ...draft, tries: hold.reason }
}

function draftOf(check: SendCheck): SendDraft {
  const { command } = check
  switch (command.kind) {
    case 'template':
      return draftTemplate(command, approvedTemplate(command, check), check)
    case 'text':
      return draftText(command, check)
    case 'media':
      return draftMedia(command, check)
    case 'choices':
      return draftChoices(command, check)
    case 'reaction':
      return draftReaction(command, check)
    case 'interactive':
      throw unsupportedKind()
    default:
      return command satisfies never
  }
}

function approvedTemplate(command: Of<'template'>, { template, conversation, sender }: SendCheck): Template {
  if (conversation.channel === 'unofficial') throw templateNotApproved('no_templates')
  if (template === null) throw templateNotApproved('unknown')
  if (template.status !== 'APPROVED') throw templateNotApproved('not_approved')
  // The contract's keys know of no header.
  const takesFile = template.header !== null && (sender.actor.type !== 'agent' || command.headerUploadId !== undefined)
  if (!template.bodyOnly && !takesFile) throw templateNotApproved('needs_more')
  return template
}

function canAnswer({ actor }: Sender, { owner }: Conversation): boolean {
  return actor.type !== 'agent' || (owner.type === 'agent' && owner.keyId === actor.id)
}

type Of<K extends SendCommand['kind']> = Extract<SendCommand, { kind: K }>

/** What is quoted goes with the first part. */
function quotedReference({ quotedId }: { quotedId?: string }, { references }: SendCheck): MessageReference | null {
  return quotedId === undefined ? null : checkReference('quoted_message_id', references.about)
}

function draftText({ text, previewUrl, ...command }: Of<'text'>, check: SendCheck): SendDraft {
  const { maxTextLength } = check
  const texts = maxTextLength === null ? [text] : splitText(text, maxTextLength)
  if (texts.some((part) => isBlank(part))) {
    const found =
      texts.length === 1 ? 'text must not be blank' : `text is blank for more than ${maxTextLength} characters`
    throw invalidMessage(found)
  }
  const firstLink = previewUrl ? texts.findIndex((part) => /https?:\/\//i.test(part)) : -1
  const quote = quotedReference(command, check)
  const parts = texts.map((part, index): Outgoing => {
    const outgoing = { kind: 'text', text: part, previewUrl: index === firstLink } as const
    return quote !== null && index === 0 ? { ...outgoing, quoted: quote.other } : outgoing
  })
  return { kind: 'text', text, parts, ...(quote !== null && { detail: { quoted: quote.quoted } }) }
}

function draftTemplate(command: Of<'template'>, template: Template, check: SendCheck): SendDraft {
  const { name, language, body, parameterNames: names, parameterCount: count } = template
  const { parameters } = command
  const { upload } = check.references
  const text = fillTemplate(body, count, parameters)
  const header = checkHeader(command, template, upload, check.mediaTransport)
  const quote = quotedReference(command, check)
  const part: Outgoing = {
    ...{ kind: 'template', category: template.category, name, language, parameters, names },
    ...(header !== null && { header }),
    ...(quote !== null && { quoted: quote.other }),
  }
  return { kind: 'template', text, parts: [part], ...storedDetailOf(header === null ? null : upload, quote) }
}

function draftMedia(command: Of<'media'>, check: SendCheck): SendDraft {
  const { references, mediaTransport } = check
  const file = checkFile('upload_id', references.upload, mediaTransport)
  const caption = checkCaption(file.kind, command.text, mediaTransport)
  const quote = quotedReference(command, check)
  const part: Outgoing = { kind: 'media', file, caption, ...(quote !== null && { quoted: quote.other }) }
  // As of a document that came in.
  const text = caption === '' && file.kind === 'document' ? (file.name ?? '') : caption
  return { kind: contractKinds[file.kind], text, parts: [part], ...storedDetailOf(references.upload, quote) }
}

function draftChoices({ text, choices, ...command }: Of<'choices'>, check: SendCheck): SendDraft {
  const problem = problemOfChoices(text, choices)
  if (problem !== null) throw invalidMessage(problem)
  const quote = quotedReference(command, check)
  const part: Outgoing = { kind: 'choices', text, choices, ...(quote !== null && { quoted: quote.other }) }
  return { kind: 'text', text, parts: [part], detail: { choices, ...(quote !== null && { quoted: quote.quoted }) } }
}

function storedDetailOf(
  upload: SendReferences['upload'],
  quote: MessageReference | null,
): Pick<SendDraft, 'detail' | 'file'> {
  const quoted = quote === null ? {} : { quoted: quote.quoted }
  if (upload === null) return quote === null ? {} : { detail: quoted }
  const { id, kind, platform } = upload
  return { detail: { media: { id, kind }, ...quoted }, file: { id, platform } }
}

function draftReaction({ emoji }: Of<'reaction'>, { references }: SendCheck): SendDraft {
  const { other } = checkReference('message_id', references.about)
  if (emoji !== null && !isOneEmoji(emoji)) throw invalidMessage('emoji must be one emoji, or null to take ours back')
  const reaction = { externalId: other.externalId, emoji: emoji ?? '' }
  return {
    kind: 'text',
    text: reaction.emoji,
    parts: [{ kind: 'reaction', about: other, emoji }],
    detail: { reaction },
  }
}

const letters = new Intl.Segmenter('en', { granularity: 'grapheme' })

const isOneEmoji = (text: string): boolean =>
  [...letters.segment(text)].length === 1 && /\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20e3/u.test(text)

/**
 * The body with `{{1}}`, `{{2}}`, … filled in. Throws 422 INVALID_MESSAGE for what the platform is known to refuse: a
 * wrong number of parameters, an empty one, one with a newline, a tab or more than four spaces in a row, a long result.
 */
function fillTemplate(body: string, parameterCount: number, parameters: readonly string[]): string {
  if (parameters.length !== parameterCount) {
    throw invalidMessage(`This template needs ${parameterCount} body_params, ${parameters.length} were sent`)
  }
  for (const [index, parameter] of parameters.entries()) {
    const problem = problemOf(parameter)
    if (problem !== null) throw invalidMessage(`template.body_params[${index}] ${problem}`)
  }
  const filled = fillBody(body, parameters)
  if (filled.length > maxFilledLength) {
    throw invalidMessage(`The filled template has more than ${maxFilledLength} characters`)
  }
  return filled
}

function problemOf(parameter: string): string | null {
  if (isBlank(parameter)) return 'must not be empty'
  if (/[\n\r\t]/.test(parameter)) return 'must not hold a newline or a tab'
  if (/ {5}/.test(parameter)) return 'must not hold more than four spaces in a row'
  return null
}
