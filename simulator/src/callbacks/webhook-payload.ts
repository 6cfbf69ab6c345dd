import { createHmac } from 'node:crypto'
import type { Clock } from '../../../server/src/base/clock.ts'
import type { BusinessNumber } from '../world.ts'

/** Faults of webhook delivery; zero, one or false is normal. `duplicates` and `reorder` affect linked devices too. */
export interface DeliverySettings {
  delayMs: number
  /** Number of extra copies of every delivery. */
  duplicates: number
  /** Number of next changes to lose. */
  drop: number
  /** Number of changes per delivery, at most 1,000. */
  batch: number
  /** Number of changes to collect and then deliver newest first. */
  reorder: number
  /** Collects everything until switched off. */
  paused: boolean
  escapeSlashes: boolean
  skipDelivered: boolean
}

export const defaultDelivery: DeliverySettings = {
  delayMs: 0,
  duplicates: 0,
  drop: 0,
  batch: 1,
  reorder: 1,
  paused: false,
  escapeSlashes: false,
  skipDelivered: false,
}

export interface CallbackChange {
  field: string
  value: object
  /** Adds a time to the entry, as for fields about an account. */
  isTimed?: boolean
  /** Deliveries of one lane are sent one after another. */
  lane?: string
  onDelivered?: () => void
}

export type QueuedChange = [BusinessNumber, CallbackChange]

export interface WebhookPayload {
  number: BusinessNumber
  body: Buffer
  changes: CallbackChange[]
  lane: string
}

const timeoutMs = 10_000

/** Groups changes into deliveries according to the settings. */
export function packDeliveries(
  items: readonly QueuedChange[],
  knobs: DeliverySettings,
  clock: Clock,
): WebhookPayload[] {
  const payloads: WebhookPayload[] = []
  for (const number of new Set(items.map(([owner]) => owner))) {
    const changes = items.filter(([owner]) => owner === number).map(([, change]) => change)
    for (let at = 0; at < changes.length; at += knobs.batch) {
      const batch = changes.slice(at, at + knobs.batch)
      const body = encodeBody(envelope(number, batch, clock), knobs.escapeSlashes)
      // Deliveries of one customer keep their order unless the settings reorder them.
      const lane = knobs.batch > 1 || knobs.reorder > 1 ? number.numberId : (batch[0]?.lane ?? number.numberId)
      payloads.push({ number, changes: batch, body, lane })
    }
  }
  return payloads
}

function envelope(number: BusinessNumber, changes: readonly CallbackChange[], clock: Clock): object {
  const time = Math.floor(clock.now().getTime() / 1000)
  const entry = changes.map(({ field, value, isTimed }) => ({
    id: number.accountId,
    ...(isTimed ? { time } : {}),
    changes: [{ value, field }],
  }))
  return { object: 'whatsapp_business_account', entry }
}

/** Posts once. Returns the status, or why there is none. */
export async function post({ number, body }: WebhookPayload, stopped: AbortSignal): Promise<string> {
  if (number.callbackUrl === null) return 'no callback'
  try {
    const answer = await fetch(number.callbackUrl, {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.any([stopped, AbortSignal.timeout(timeoutMs)]),
      headers: { 'content-type': 'application/json', ...signatureHeaders(number, body) },
      body: new Uint8Array(body),
    })
    await answer.body?.cancel()
    return String(answer.status)
  } catch {
    return 'no answer'
  }
}

// The platform signs its deliveries. A partner sends its registered headers, and signs only on some of its plans.
function signatureHeaders({ appSecret, partner }: BusinessNumber, body: Buffer): Record<string, string> {
  if (partner === null) {
    return { 'user-agent': 'facebookexternalua', 'x-hub-signature-256': signatureOf(body, appSecret) }
  }
  const { headers, signingSecret } = partner
  return signingSecret === null ? headers : { ...headers, 'x-360dialog-signature': signatureOf(body, signingSecret) }
}

/** Checks that a callback knows the verify token, as the platform does before it uses a callback. */
export async function verifyCallback(callbackUrl: string, verifyToken: string, challenge: string): Promise<boolean> {
  const url = new URL(callbackUrl)
  url.searchParams.set('hub.mode', 'subscribe')
  url.searchParams.set('hub.challenge', challenge)
  url.searchParams.set('hub.verify_token', verifyToken)
  try {
    const answer = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) })
    return answer.status === 200 && (await answer.text()) === challenge
  } catch {
    return false
  }
}

/** Encodes JSON as the platform does: non-ASCII characters are escaped, slashes on request. */
function encodeBody(value: unknown, escapeSlashes: boolean): Buffer {
  const ascii = JSON.stringify(value).replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return Buffer.from(escapeSlashes ? ascii.replaceAll('/', '\\/') : ascii, 'latin1')
}

/** Returns the `X-Hub-Signature-256` header of raw bytes. */
const signatureOf = (body: Buffer, appSecret: string): string =>
  `sha256=${createHmac('sha256', appSecret).update(body).digest('hex')}`
