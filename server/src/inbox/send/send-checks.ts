import { isBlank } from '../../base/text/external-text.ts'
import { isOfficial, type StoredConnection } from '../../channels/connection/connection.ts'
import type { OutgoingMessage } from '../../channels/connector.ts'
import { holdsOf } from '../../channels/health/availability.ts'
import { needsAcknowledgement } from '../../channels/health/health.ts'
import { findHold, isDue } from '../../channels/health/holds.ts'
import { findChoicesProblem, optionsOf, parseRatingChoice } from '../../channels/interactive-options.ts'
import type { MediaTransport } from '../../channels/media-transport.ts'
import { canAskForAddress, findPromptProblem } from '../../channels/prompts.ts'
import { fillBody, type Template } from '../../channels/templates/templates.ts'
import type { Decisions } from '../../consents/consent.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { windowIsOpen, windowOf } from '../conversation/conversation-state.ts'
import type { Message, StoredDetail } from '../conversation/message.ts'
import { standbyOwner } from '../conversation/thread-control.ts'
import {
  checkCaption,
  checkFile,
  checkHeader,
  checkInputs,
  checkReference,
  contractKinds,
  hasInputs,
  type MessageReference,
  type OutgoingFile,
  parameterProblem,
  type SendReferences,
} from './check-references.ts'

import type { SendCommand } from './send-command.ts'
import { isRule, type Sender } from './send-deps.ts'
import {
  acknowledgementRequired,
  choicesUnsupported,
  connectionOnHold,
  connectionUnavailable,
  invalidMessage,
  onStandby,
  optedOut,
  ownerMismatch,
  promptUnsupported,
  templateNotApproved,
  unsupportedKind,
  windowClosed,
} from './send-errors.ts'

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

// In order of preference. A cut is at the end of the match: nothing is trimmed.
const boundaries: readonly RegExp[] = [/\n[^\S\n]*\n\s*/g, /\n/g, /[.!?…。！？]["'”’»)\]]*\s+|[。！？]/g, /\s+/g]

/**
 * Splits a text into parts of at most `maxLength` UTF-16 units that, joined, equal the text. Each part ends at the last
 * paragraph within reach, else at a line, a sentence or a space, and never inside a grapheme unless that is longer than
 * a part. A part is blank only if the text is blank for longer than `maxLength`.
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
  // The platform refuses blank parts: both sides of the cut need a visible character.
  const firstVisible = text.search(/\S/)
  const lastVisible = text.trimEnd().length - 1
  const furthest = firstVisible < maxLength && lastVisible > firstVisible ? Math.min(maxLength, lastVisible) : maxLength
  const nearest = firstVisible < furthest ? firstVisible + 1 : 1
  const reach = text.slice(0, furthest)

  for (const boundary of boundaries) {
    const ends = [...reach.matchAll(boundary)].map((match) => match.index + match[0].length)
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

/** Connection fields that decide whether it can send now. */
export type ConnectionReadiness = Pick<
  StoredConnection,
  'state' | 'stateReason' | 'stateChangedAt' | 'acknowledgedAt' | 'holds'
>

export interface SendCheck {
  command: SendCommand
  sender: Sender
  conversation: Conversation
  /** Null if the connection was removed. */
  readiness: ConnectionReadiness | null
  /** Template named by the command, whether it can be sent or not. */
  template: Template | null
  /** Whether the platform may send it without a charge; only decided while charged messages are on hold. */
  isFree: boolean
  /** The customer's current decisions, for a template. */
  consents: Decisions
  /** The channel's limit for one message, in UTF-16 units. */
  maxTextLength: number | null
  /** Whether the channel supports interactive messages. */
  supportsChoices: boolean
  references: SendReferences
  /** How the channel transfers files; undefined if it supports none. */
  mediaTransport: MediaTransport | undefined
  now: Date
}

/** Message text and the platform messages that carry it, in order. */
export interface SendDraft {
  kind: Message['kind']
  text: string
  parts: OutgoingMessage[]
  /** Stored content other than text. */
  detail?: StoredDetail
  /** File to upload to the platform first. */
  file?: OutgoingFile
  /** Reason of the hold that this send probes; absent without one. */
  probedHold?: string
}

/** Validates a send under the conversation's lock. Checks run in the order of the contract. */
export function checkSend(check: SendCheck): SendDraft {
  const { command, sender, conversation, readiness, now } = check
  const template = command.kind === 'template' ? check.template : null
  const isWindowOpen = windowIsOpen(windowOf(conversation), now)
  if (command.kind === 'interactive') throw unsupportedKind()
  if (command.kind === 'choices' && !check.supportsChoices) throw choicesUnsupported()
  if (command.kind === 'prompt' && !check.supportsChoices) throw promptUnsupported(command.prompt.type)
  if (!canAnswer(sender, conversation)) throw ownerMismatch(conversation.owner)
  checkThread(sender, conversation, now)
  if (readiness === null || readiness.state === 'paused') throw connectionUnavailable()
  const holds = readiness.state === 'active' && readiness.holds.length === 0 ? [] : holdsOf(readiness)
  const stopsAll = holds.find(({ stops, liftedAt }) => stops === 'all' && liftedAt === null)
  if (readiness.state !== 'active' && (stopsAll === undefined || stopsAll.probe !== 'send' || !isDue(stopsAll, now))) {
    throw connectionUnavailable()
  }
  const { channel } = conversation
  if (needsAcknowledgement({ channel, ...readiness }, now)) throw acknowledgementRequired()
  if (command.kind === 'template') approvedTemplate(command, check)
  else if (!isWindowOpen) throw windowClosed()
  const category = template?.category.toUpperCase() ?? null
  checkConsents(conversation, category, check.consents)
  const hold = findHold(holds, { category, isWindowOpen, isFree: check.isFree }, now)
  if (hold !== null && !isDue(hold, now)) throw connectionOnHold(hold)
  const draft = draftOf(check)
  return hold === null ? draft : { ...draft, probedHold: hold.reason }
}

/** While another app on the number has the conversation, only a person may answer in it: that takes it back. */
function checkThread({ actor }: Sender, conversation: Conversation, now: Date): void {
  const owner = actor.type === 'agent' || actor.type === 'system' ? standbyOwner(conversation, now) : null
  if (owner !== null) throw onStandby(owner)
}

/** The conversation's copy only decides if there is no record: then it is from before there were any. */
function checkConsents({ contact }: Conversation, category: string | null, { marketing, utility }: Decisions): void {
  if (category === 'UTILITY' && utility?.decision === 'opted_out') throw optedOut(utility)
  if (category !== 'MARKETING') return
  if (marketing?.decision === 'opted_out') throw optedOut(marketing)
  const { isStopped = false, source = 'platform', at = '' } = contact.marketing ?? {}
  if (marketing === null && isStopped) throw optedOut({ purpose: 'marketing', source, decidedAt: new Date(at) })
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
    case 'prompt':
      return draftPrompt(command, check)
    case 'reaction':
      return draftReaction(command, check)
    case 'interactive':
      throw unsupportedKind()
    default:
      return command satisfies never
  }
}

function approvedTemplate(command: Of<'template'>, { template, conversation, sender }: SendCheck): Template {
  if (!isOfficial(conversation.channel)) throw templateNotApproved('no_templates')
  if (template === null) throw templateNotApproved('unknown')
  if (template.status !== 'APPROVED') throw templateNotApproved('not_approved')
  // The Inbox API of the contract has only body parameters.
  const canFill = template.header !== null || template.inputs !== null
  if (!template.bodyOnly && !(canFill && (sender.actor.type !== 'agent' || hasInputs(command)))) {
    throw templateNotApproved('needs_more')
  }
  return template
}

function canAnswer({ actor, reachesAgents }: Sender, { owner }: Conversation): boolean {
  // A rule never speaks between an agent and its customer; a broadcast is no answer.
  if (isRule(actor)) return reachesAgents === true || owner.type === 'human'
  return actor.type !== 'agent' || (owner.type === 'agent' && owner.keyId === actor.id)
}

type Of<K extends SendCommand['kind']> = Extract<SendCommand, { kind: K }>

/** Only the first part carries the quote. */
function quotedReference({ quotedId }: { quotedId?: string }, { references }: SendCheck): MessageReference | null {
  return quotedId === undefined ? null : checkReference('quoted_message_id', references.referenced)
}

function draftText({ text, previewUrl, ...command }: Of<'text'>, check: SendCheck): SendDraft {
  const { maxTextLength } = check
  const texts = maxTextLength === null ? [text] : splitText(text, maxTextLength)
  if (texts.some((part) => isBlank(part))) {
    const found =
      texts.length === 1
        ? 'text must not be blank'
        : `text must not have more than ${maxTextLength} blank characters in a row`
    throw invalidMessage(found)
  }
  const firstLink = previewUrl ? texts.findIndex((part) => /https?:\/\//i.test(part)) : -1
  const quote = quotedReference(command, check)
  const parts = texts.map((part, index): OutgoingMessage => {
    const outgoing = { kind: 'text', text: part, previewUrl: index === firstLink } as const
    return quote !== null && index === 0 ? { ...outgoing, quoted: quote.other } : outgoing
  })
  return { kind: 'text', text, parts, ...(quote !== null && { detail: { quoted: quote.quoted } }) }
}

function draftTemplate(command: Of<'template'>, template: Template, check: SendCheck): SendDraft {
  const { name, language, body, parameterNames: names, parameterCount: count } = template
  const { parameters } = command
  const { upload } = check.references
  if (template.category.toUpperCase() === 'AUTHENTICATION') requirePhone(check.conversation)
  const text = fillTemplate(body, count, parameters)
  const header = checkHeader(command, template, upload, check.mediaTransport)
  const inputs = checkInputs(command, template)
  const quote = quotedReference(command, check)
  const part: OutgoingMessage = {
    ...{ kind: 'template', category: template.category, name, language, parameters, names },
    ...(header !== null && { header }),
    ...(inputs !== null && { inputs }),
    ...(quote !== null && { quoted: quote.other }),
  }
  return { kind: 'template', text, parts: [part], ...storedDetailOf(header === null ? null : upload, quote) }
}

/** The platform sends codes to phone numbers only, not to its user ids. */
function requirePhone({ contact: { address, phone } }: Conversation): void {
  const isByAddress = address.phone !== null || address.userId !== null
  if ((isByAddress ? address.phone : phone) !== null) return
  throw invalidMessage(
    'Templates for authentication are sent to phone numbers only, and this customer hides theirs. Ask for the number with a contact_request.',
  )
}

function draftMedia(command: Of<'media'>, check: SendCheck): SendDraft {
  const { references, mediaTransport } = check
  const file = checkFile('upload_id', references.upload, mediaTransport)
  const caption = checkCaption(file.kind, command.text, mediaTransport)
  const quote = quotedReference(command, check)
  const part: OutgoingMessage = { kind: 'media', file, caption, ...(quote !== null && { quoted: quote.other }) }
  // Same as for inbound documents.
  const text = caption === '' && file.kind === 'document' ? (file.name ?? '') : caption
  return { kind: contractKinds[file.kind], text, parts: [part], ...storedDetailOf(references.upload, quote) }
}

function draftChoices({ text, choices, ...command }: Of<'choices'>, check: SendCheck): SendDraft {
  const { actor } = check.sender
  // Only the service asks how satisfied a customer is: an answer to another message is no score.
  const isService = actor.type === 'system' && !isRule(actor)
  const isRating = !isService && optionsOf(choices).some(({ id }) => parseRatingChoice(id) !== null)
  const problem = isRating ? 'choices must not have ids of ratings' : findChoicesProblem(text, choices)
  if (problem !== null) throw invalidMessage(problem)
  const quote = quotedReference(command, check)
  const part: OutgoingMessage = { kind: 'choices', text, choices, ...(quote !== null && { quoted: quote.other }) }
  return { kind: 'text', text, parts: [part], detail: { choices, ...(quote !== null && { quoted: quote.quoted }) } }
}

function draftPrompt({ text, prompt, ...command }: Of<'prompt'>, check: SendCheck): SendDraft {
  const problem = findPromptProblem(text, prompt)
  if (problem !== null) throw invalidMessage(problem)
  if (prompt.type === 'address_request' && !canAskForAddress(check.conversation.contact.phone)) {
    throw invalidMessage(
      'address_request works only between numbers in India, and this customer has another country code. Ask for the address in a text.',
    )
  }
  const quote = quotedReference(command, check)
  const part: OutgoingMessage = { kind: 'prompt', text, prompt, ...(quote !== null && { quoted: quote.other }) }
  return { kind: 'text', text, parts: [part], detail: { prompt, ...(quote !== null && { quoted: quote.quoted }) } }
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
  const { other } = checkReference('message_id', references.referenced)
  if (emoji !== null && !isOneEmoji(emoji))
    throw invalidMessage('emoji must be one emoji, or null to remove the reaction')
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
 * Returns the body with `{{1}}`, `{{2}}`, … filled in. Throws 422 INVALID_MESSAGE for parameters that the platform
 * refuses: a wrong number, an empty one, one with a newline, a tab or more than four consecutive spaces, or a result
 * that is too long.
 */
function fillTemplate(body: string, parameterCount: number, parameters: readonly string[]): string {
  if (parameters.length !== parameterCount) {
    throw invalidMessage(`This template requires ${parameterCount} body_params, but got ${parameters.length}`)
  }
  for (const [index, parameter] of parameters.entries()) {
    const problem = parameterProblem(parameter)
    if (problem !== null) throw invalidMessage(`template.body_params[${index}] ${problem}`)
  }
  const filled = fillBody(body, parameters)
  if (filled.length > maxFilledLength) {
    throw invalidMessage(`The filled template has more than ${maxFilledLength} characters`)
  }
  return filled
}
