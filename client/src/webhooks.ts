import { ParleyError } from './errors.ts'
import type { ParleyEvent } from './types.ts'

/** What a webhook tells of, as in the feed but for the time. */
export type WebhookEvent = {
  [Name in ParleyEvent['event']]: WithSentAt<Extract<ParleyEvent, { event: Name }>>
}[ParleyEvent['event']]

type WithSentAt<Event extends ParleyEvent> = Omit<Event, 'occurred_at'> & {
  /** When this attempt was signed. */
  sent_at: string
}

export interface Webhook {
  /** As they came: of a `Request`, or of a server of Node. */
  headers: { get(name: string): string | null } | Record<string, string | string[] | undefined>
  /** As it came, byte for byte: JSON that was read and written again is signed no more. */
  body: string | Uint8Array
  /** `whsec_…`; several while one takes the place of another. */
  secret: string | readonly string[]
  /** How old or how far ahead it may be. Default: five minutes. */
  toleranceMs?: number
  now?: Date
}

/** It was not signed with this secret, or not lately, or is no event of Parley. Answer 400, and do nothing. */
export class WebhookVerificationError extends ParleyError {
  override readonly name: string = 'WebhookVerificationError'
}

const defaultToleranceMs = 5 * 60_000

/** The event that a webhook brings, once its signature (Standard Webhooks) is known to be right. The same `id` may come again. */
export async function verifyWebhook(webhook: Webhook): Promise<WebhookEvent> {
  const id = headerOf(webhook, 'webhook-id')
  const timestamp = headerOf(webhook, 'webhook-timestamp')
  const signatureHeader = headerOf(webhook, 'webhook-signature')
  const sentAtMs = Number(timestamp) * 1000
  const apartMs = Math.abs((webhook.now ?? new Date()).getTime() - sentAtMs)
  if (!/^\d{1,12}$/.test(timestamp) || apartMs > (webhook.toleranceMs ?? defaultToleranceMs))
    throw new WebhookVerificationError('The webhook was signed too long ago, or by a clock that is wrong')
  const signed = bytesOf(`${id}.${timestamp}.`, webhook.body)
  if (!(await isSignedByOne(webhook.secret, signed, signatureHeader)))
    throw new WebhookVerificationError('No signature of the webhook is by this secret')
  return readEvent(webhook, id, new Date(sentAtMs).toISOString())
}

function headerOf({ headers }: Webhook, name: string): string {
  const value = isHeaders(headers) ? headers.get(name) : headers[name]
  if (typeof value !== 'string' || value === '') throw new WebhookVerificationError(`The header ${name} is missing`)
  return value
}

const isHeaders = (headers: Webhook['headers']): headers is { get(name: string): string | null } =>
  typeof headers.get === 'function'

function bytesOf(head: string, body: string | Uint8Array): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder()
  const first = encoder.encode(head)
  const rest = typeof body === 'string' ? encoder.encode(body) : body
  const all = new Uint8Array(first.length + rest.length)
  all.set(first)
  all.set(rest, first.length)
  return all
}

async function isSignedByOne(
  secrets: string | readonly string[],
  signed: Uint8Array<ArrayBuffer>,
  signatureHeader: string,
) {
  const signatures = signatureHeader
    .split(' ')
    .filter((one) => one.startsWith('v1,'))
    .map((one) => decode(one.slice('v1,'.length)))
    .filter((one) => one !== null)
  for (const secret of typeof secrets === 'string' ? [secrets] : secrets) {
    const bytes = decode(secret.replace(/^whsec_/, ''))
    if (bytes === null || bytes.length === 0)
      throw new WebhookVerificationError('The secret is none: it begins with whsec_')
    const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
    for (const signature of signatures) {
      // It compares without telling by its time how much was right.
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) return true
    }
  }
  return false
}

function decode(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
  } catch {
    return null
  }
}

/** Events of leads are a body alone, named by a header; those of the inbox are wrapped in their name. */
function readEvent(webhook: Webhook, id: string, sent_at: string): WebhookEvent {
  const text = typeof webhook.body === 'string' ? webhook.body : new TextDecoder().decode(webhook.body)
  const event = headerOf(webhook, 'webhook-event')
  const body = parse(text)
  const isWrapped = event.startsWith('inbox.')
  const payload = isWrapped ? body.payload : body
  if (isWrapped && body.event !== event)
    throw new WebhookVerificationError('The body tells of another event than the headers')
  return { id, event, payload, sent_at } as WebhookEvent
}

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new WebhookVerificationError('The body is no JSON', { cause: error })
  }
}
