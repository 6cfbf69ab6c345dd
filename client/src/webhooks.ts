import { ParleyError } from './errors.ts'
import type { ParleyEvent } from './types.ts'

/** An event of a webhook, as in the feed except for the time. */
export type WebhookEvent = {
  [Name in ParleyEvent['event']]: WithSentAt<Extract<ParleyEvent, { event: Name }>>
}[ParleyEvent['event']]

type WithSentAt<Event extends ParleyEvent> = Omit<Event, 'occurred_at'> & {
  /** Time when this attempt was signed. */
  sent_at: string
}

export interface Webhook {
  /** Headers of a `Request` or of a Node server. */
  headers: { get(name: string): string | null } | Record<string, string | string[] | undefined>
  /** Raw body: parsed and re-serialized JSON has another signature. */
  body: string | Uint8Array
  /** `whsec_…`; several during a rotation. */
  secret: string | readonly string[]
  /** Maximum clock difference in milliseconds. Default: five minutes. */
  toleranceMs?: number
  now?: Date
}

/** The signature is invalid or too old, or the body is not an event. Respond with 400. */
export class WebhookVerificationError extends ParleyError {
  override readonly name: string = 'WebhookVerificationError'
}

const defaultToleranceMs = 5 * 60_000

/** Verifies the signature (Standard Webhooks) and returns the event. The same `id` can arrive repeatedly. */
export async function verifyWebhook(webhook: Webhook): Promise<WebhookEvent> {
  const id = headerOf(webhook, 'webhook-id')
  const timestamp = headerOf(webhook, 'webhook-timestamp')
  const signatureHeader = headerOf(webhook, 'webhook-signature')
  const sentAtMs = Number(timestamp) * 1000
  const apartMs = Math.abs((webhook.now ?? new Date()).getTime() - sentAtMs)
  if (!/^\d{1,12}$/.test(timestamp) || apartMs > (webhook.toleranceMs ?? defaultToleranceMs))
    throw new WebhookVerificationError('The webhook timestamp is too old or too far in the future')
  const signed = bytesOf(`${id}.${timestamp}.`, webhook.body)
  if (!(await isSignedByOne(webhook.secret, signed, signatureHeader)))
    throw new WebhookVerificationError('The webhook signature does not match the secret')
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
      throw new WebhookVerificationError('The secret is invalid: it must start with whsec_')
    const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
    for (const signature of signatures) {
      // Compares in constant time.
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

/** Lead events are sent bare, with their name in a header; all others have an envelope with their name. */
function readEvent(webhook: Webhook, id: string, sent_at: string): WebhookEvent {
  const text = typeof webhook.body === 'string' ? webhook.body : new TextDecoder().decode(webhook.body)
  const event = headerOf(webhook, 'webhook-event')
  const body = parse(text)
  const isWrapped = !event.startsWith('lead.')
  const payload = isWrapped ? body.payload : body
  if (isWrapped && body.event !== event)
    throw new WebhookVerificationError('The event in the body differs from the headers')
  return { id, event, payload, sent_at } as WebhookEvent
}

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new WebhookVerificationError('The body is not JSON', { cause: error })
  }
}
