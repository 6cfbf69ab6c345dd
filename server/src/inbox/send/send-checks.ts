import type { ConnectionState } from '../../channels/connection/connection.ts'
import type { Outgoing } from '../../channels/connector.ts'
import { needsAcknowledgement } from '../../channels/health/acknowledgement.ts'
import type { Template } from '../../channels/templates/template.ts'
import { fillBody } from '../../channels/templates/template-body.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { windowIsOpen } from '../conversation/conversation-state.ts'
import type { SendCommand } from './send-command.ts'
import type { Sender } from './send-deps.ts'
import {
  acknowledgementRequired,
  connectionUnavailable,
  invalidMessage,
  ownerMismatch,
  templateNotApproved,
  unsupportedKind,
  windowClosed,
} from './send-errors.ts'
import { splitText } from './split-text.ts'

/** The platform's limit for the filled body. */
const maxFilledLength = 32_768

/** Whether a connection can send, as of this moment. */
export interface ConnectionReadiness {
  state: ConnectionState
  acknowledgedAt: Date | null
}

export interface Question {
  command: SendCommand
  sender: Sender
  conversation: Conversation
  /** Null when the connection was removed. */
  readiness: ConnectionReadiness | null
  /** The one that the command names, whether or not it can be sent. */
  template: Template | null
  /** The channel's limit for one message, in UTF-16 units. */
  maxTextLength: number | null
  now: Date
}

/** What will be sent: the message's text, and the platform messages that carry it, in order. */
export interface Draft {
  kind: 'text' | 'template'
  text: string
  parts: Outgoing[]
}

/** Judges a send as things stand under the conversation's lock, in the order that callers are promised. */
export function checkSend(question: Question): Draft {
  const { command, sender, conversation, readiness, now } = question
  if (command.kind === 'interactive') throw unsupportedKind()
  if (!mayAnswer(sender, conversation)) throw ownerMismatch(conversation.owner)
  if (readiness?.state !== 'active') throw connectionUnavailable()
  const { channel } = conversation
  if (needsAcknowledgement({ channel, ...readiness }, now)) throw acknowledgementRequired()
  if (command.kind === 'text') {
    if (!windowIsOpen(conversation.windowExpiresAt, now)) throw windowClosed()
    return draftText(command, question.maxTextLength)
  }
  return draftTemplate(command, sendable(question))
}

function sendable({ template, conversation }: Question): Template {
  if (conversation.channel === 'unofficial') throw templateNotApproved('no_templates')
  if (template === null) throw templateNotApproved('unknown')
  if (template.status !== 'APPROVED') throw templateNotApproved('not_approved')
  if (!template.bodyOnly) throw templateNotApproved('needs_more')
  return template
}

function mayAnswer({ actor }: Sender, { owner }: Conversation): boolean {
  return actor.type !== 'agent' || (owner.type === 'agent' && owner.keyId === actor.id)
}

function draftText({ text, previewUrl }: Extract<SendCommand, { kind: 'text' }>, maxTextLength: number | null): Draft {
  const texts = maxTextLength === null ? [text] : splitText(text, maxTextLength)
  if (texts.some((part) => part.trim() === '')) {
    const found =
      texts.length === 1 ? 'text must not be blank' : `text is blank for more than ${maxTextLength} characters`
    throw invalidMessage(found)
  }
  const firstLink = previewUrl ? texts.findIndex((part) => /https?:\/\//i.test(part)) : -1
  const parts = texts.map((part, index): Outgoing => ({ kind: 'text', text: part, previewUrl: index === firstLink }))
  return { kind: 'text', text, parts }
}

function draftTemplate({ parameters }: Extract<SendCommand, { kind: 'template' }>, template: Template): Draft {
  const { name, language, body, parameterNames: names, parameterCount: count } = template
  const text = fillTemplate(body, count, parameters)
  return { kind: 'template', text, parts: [{ kind: 'template', name, language, parameters, names }] }
}

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
  if (parameter.trim() === '') return 'must not be empty'
  if (/[\n\r\t]/.test(parameter)) return 'must not hold a newline or a tab'
  if (/ {5}/.test(parameter)) return 'must not hold more than four spaces in a row'
  return null
}
