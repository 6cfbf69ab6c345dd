import { ApiError, conflict, tooManyRequests, unprocessable } from '../../base/errors.ts'
import { knownAdvice } from '../../channels/health/advice.ts'
import type { Hold } from '../../channels/health/holds.ts'
import type { Message } from '../conversation/message.ts'
import { type Owner, writeOwner } from '../conversation/owner.ts'

/** Another message was sent under this key. */
export class IdempotencyKeyReused extends ApiError {
  constructor() {
    const message = 'This Idempotency-Key was used for another message. Send a new message with a new key.'
    super(422, message, { data: { code: 'INVALID_MESSAGE' } })
  }
}

export const outcomeUnknownYet = (): ApiError =>
  conflict('It is not known yet whether this message was sent. Repeat the request later, with the same key.', {
    code: 'NOT_RETRYABLE',
  })

export const unsupportedKind = (): ApiError =>
  unprocessable('Only text and template can be sent', { code: 'UNSUPPORTED_KIND' })

export const choicesUnsupported = (): ApiError =>
  unprocessable('This channel has no buttons and lists: send a text that numbers what can be chosen', {
    code: 'UNSUPPORTED_KIND',
  })

// What people have taken is not to be taken back because a message says how.
export const ownerMismatch = (owner: Owner): ApiError =>
  conflict(
    owner.type === 'human'
      ? 'People answer this conversation: its owner is human. Nothing was sent; leave it to them.'
      : `Another key answers this conversation: its owner is ${writeOwner(owner)}. Nothing was sent.`,
    { code: 'OWNER_MISMATCH' },
  )

/** Holds the message that the sender has not seen; how it is shown is for the route to say. */
export class StaleThread extends ApiError {
  readonly newer: Message

  constructor(newer: Message) {
    super(409, 'Somebody has written since. Read it, then send again or leave it.', { data: { code: 'THREAD_MOVED' } })
    this.newer = newer
  }
}

export const connectionUnavailable = (): ApiError =>
  conflict('The chat connection cannot send now', { code: 'CONNECTION_UNAVAILABLE' })

/** Some of what the connection sends is held. The reason and what to do are in its settings. */
export const connectionOnHold = ({ reason, nextTryAt, until }: Hold): ApiError =>
  conflict(
    `The chat connection cannot send this now. ${knownAdvice(reason) ?? `The platform does not take it (${reason}).`}`,
    { code: 'CONNECTION_UNAVAILABLE', reason, retry_at: nextTryAt ?? until },
  )

export const acknowledgementRequired = (): ApiError =>
  conflict('A member of the workspace must first confirm the risk of this channel, in the settings of the connection', {
    code: 'ACKNOWLEDGEMENT_REQUIRED',
  })

export const windowClosed = (): ApiError =>
  unprocessable('The 24-hour window is closed. Send a template.', { code: 'WINDOW_CLOSED' })

export const unansweredLimit = (limit: number): ApiError =>
  conflict(
    `The customer has not answered ${limit === 1 ? 'the last message' : `the last ${limit} messages`} of this key, which is as many as it may send. Wait until they write.`,
    { code: 'UNANSWERED_LIMIT', limit },
  )

export const dailySendsReached = (limit: number, retryAfterSeconds: number): ApiError =>
  tooManyRequests(
    `This key has sent ${limit} messages today, which is as many as it may. The day ends at midnight UTC.`,
    retryAfterSeconds,
    { code: 'DAILY_SENDS_REACHED', limit },
  )

/** The platform refuses them too, and counts each as bad behaviour of the number. */
export const optedOut = (): ApiError =>
  unprocessable(
    'The customer has opted out of marketing messages from this number. Send no marketing template until they opt in again.',
    { code: 'OPTED_OUT' },
  )

const templateProblems = {
  no_templates: 'This channel has no templates. Send a text.',
  unknown: 'No template of this connection has this name and language. Send one that the list of templates shows.',
  not_approved:
    'The platform has not approved this template, or no longer does. Send one that the list of templates shows.',
  needs_more:
    'This template is approved, but needs more than body parameters: a media header, or a value in its header or a button. Send one that the list of templates shows.',
} as const

export const templateNotApproved = (why: keyof typeof templateProblems): ApiError =>
  unprocessable(templateProblems[why], { code: 'TEMPLATE_NOT_APPROVED' })

export const invalidMessage = (reason: string): ApiError => unprocessable(reason, { code: 'INVALID_MESSAGE' })
