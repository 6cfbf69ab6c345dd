import { ApiError, conflict, type ErrorData, tooManyRequests, unprocessable } from '../../base/errors.ts'
import type { ThreadOwner } from '../../channels/channel-event.ts'
import { findAdvice } from '../../channels/health/advice.ts'
import type { Hold } from '../../channels/health/holds.ts'
import type { PromptType } from '../../channels/prompts.ts'
import type { Consent, ConsentPurpose, ConsentSource } from '../../consents/consent.ts'
import type { Message } from '../conversation/message.ts'
import { type Owner, writeOwner } from '../conversation/owner.ts'
import type { ApprovalReason } from '../drafts/approval-rules.ts'

export class IdempotencyKeyReused extends ApiError {
  constructor() {
    const message = 'This Idempotency-Key was already used for another message. Use a new key for a new message.'
    super(422, message, { data: { code: 'INVALID_MESSAGE' } })
  }
}

export const outcomeUnknownYet = (): ApiError =>
  conflict('It is not known yet whether this message was sent. Retry later with the same key.', {
    code: 'NOT_RETRYABLE',
  })

/** An automatic message whose reason is gone: the team has answered, for example. */
export const notNeeded = (): ApiError => conflict('This message is no longer needed. Nothing was sent.')

export const unsupportedKind = (): ApiError =>
  unprocessable('Only text and template can be sent', { code: 'UNSUPPORTED_KIND' })

export const choicesUnsupported = (): ApiError =>
  unprocessable('This channel does not support buttons and lists: send a text with numbered options', {
    code: 'UNSUPPORTED_KIND',
  })

export const promptUnsupported = (type: PromptType): ApiError =>
  unprocessable(`This channel does not support this kind: ${insteadOf[type]}`, { code: 'UNSUPPORTED_KIND' })

const insteadOf: Record<PromptType, string> = {
  link: 'send a text that contains the address',
  location_request: 'ask for the location in a text',
  contact_request: 'ask for the number in a text',
  address_request: 'ask for the address in a text',
  flow: 'ask the questions in a text',
}

// Does not suggest taking the conversation over: an agent must not do that because of an error message.
export const ownerMismatch = (owner: Owner): ApiError =>
  conflict(
    owner.type === 'human'
      ? 'The team owns this conversation (owner: human). Nothing was sent; leave the reply to the team.'
      : `Another key owns this conversation (owner: ${writeOwner(owner)}). Nothing was sent.`,
    { code: 'OWNER_MISMATCH' },
  )

/** Another app on the number answers this customer at the platform; two answers would contradict each other. */
export const onStandby = (owner: ThreadOwner): ApiError =>
  conflict(
    `Another automation on this number answers the customer (${owner}). Nothing was sent. You get the conversation as work when the platform gives it back, or when the customer writes to us.`,
    { code: 'ON_STANDBY', thread_owner: owner },
  )

/** Contains the unseen message; routes decide how to present it. */
export class StaleThread extends ApiError {
  readonly newer: Message

  constructor(newer: Message) {
    super(409, 'There are newer messages. Read them, then send again or discard your message.', {
      data: { code: 'THREAD_MOVED' },
    })
    this.newer = newer
  }
}

/** The customer has written after the message that the agent named as the newest it has seen; `more` is what. */
export class CustomerWroteAgain extends ApiError {
  constructor(more: ErrorData = {}) {
    super(409, 'The customer has written again since after_message_id. Nothing was sent.', {
      data: { code: 'CUSTOMER_WROTE_AGAIN', ...more },
    })
  }
}

/** The team approves what this key sends. The `answer` of the interface for agents becomes a draft instead. */
export class ApprovalNeeded extends ApiError {
  readonly why: ApprovalReason

  constructor(why: ApprovalReason) {
    const message =
      'A person must approve this message of the key before it is sent, and nothing was sent. Propose it with answer of the interface for agents (/api/v2), which drafts it.'
    super(409, message, { data: { code: 'APPROVAL_NEEDED', why } })
    this.why = why
  }
}

export const connectionUnavailable = (): ApiError =>
  conflict('The chat connection cannot send now', { code: 'CONNECTION_UNAVAILABLE' })

/** Error for a hold on part of the connection's sends. Its settings show the reason and what to do. */
export const connectionOnHold = ({ reason, nextTryAt, until }: Hold): ApiError =>
  conflict(
    `The chat connection cannot send this now. ${findAdvice(reason) ?? `The platform rejects it (${reason}).`}`,
    { code: 'CONNECTION_UNAVAILABLE', reason, retry_at: nextTryAt ?? until },
  )

export const acknowledgementRequired = (): ApiError =>
  conflict('A workspace member must first accept the risk of this channel in the settings of the connection', {
    code: 'ACKNOWLEDGEMENT_REQUIRED',
  })

export const windowClosed = (): ApiError =>
  unprocessable('The 24-hour window is closed. Send a template.', { code: 'WINDOW_CLOSED' })

export const unansweredLimit = (limit: number): ApiError =>
  conflict(
    `The customer has not answered ${limit === 1 ? 'the last message' : `the last ${limit} messages`} of this key, which is its limit. Wait until they write.`,
    { code: 'UNANSWERED_LIMIT', limit },
  )

/** A text would be cut into more messages than the key may send at once. */
export const tooManyParts = (parts: number, limit: number, maxLength: number | null): ApiError =>
  unprocessable(
    `The text needs ${parts} messages of at most ${maxLength} characters, and this key may send ${limit} per answer. Nothing was sent.`,
    { code: 'TOO_MANY_PARTS', parts, limit },
  )

export const dailySendsReached = (limit: number, retryAfterSeconds: number): ApiError =>
  tooManyRequests(
    `This key has sent ${limit} messages today, which is its limit. The limit resets at midnight UTC.`,
    retryAfterSeconds,
    { code: 'DAILY_SENDS_REACHED', limit },
  )

/** The platform refuses such messages too, and counts each against the quality of the number. */
export const optedOut = ({
  purpose,
  source,
  decidedAt: at,
}: Pick<Consent, 'purpose' | 'source' | 'decidedAt'>): ApiError =>
  unprocessable(
    `The customer has opted out of ${optOutPurposes[purpose]} (${optOutSources[source]}, ${at.toISOString().slice(0, 10)}). Send no ${purpose} template until they opt in again; a text within the window or a template of another category can be sent.`,
    { code: 'OPTED_OUT', purpose, source, opted_out_at: at.toISOString() },
  )

const optOutPurposes: Record<ConsentPurpose, string> = {
  marketing: 'marketing messages',
  utility: 'templates about orders, appointments and the like',
}

const optOutSources: Record<ConsentSource, string> = {
  platform: 'in their settings on the platform',
  platform_error: 'the platform refused a message',
  keyword: 'they wrote a keyword',
  form: 'in a form',
  member: 'recorded by the team',
  agent: 'recorded by an agent',
}

const templateProblems = {
  no_templates: 'This channel has no templates. Send a text.',
  unknown: 'No template of this connection has this name and language. Use one from the list of templates.',
  not_approved:
    'The platform has not approved this template, or has revoked its approval. Use one from the list of templates.',
  needs_more:
    'This template is approved, but needs more than body parameters: a media header, or a value in its header or a button. Use one from the list of templates.',
} as const

export const templateNotApproved = (why: keyof typeof templateProblems): ApiError =>
  unprocessable(templateProblems[why], { code: 'TEMPLATE_NOT_APPROVED' })

export const invalidMessage = (reason: string): ApiError => unprocessable(reason, { code: 'INVALID_MESSAGE' })
