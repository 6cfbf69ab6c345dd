import { createHmac } from 'node:crypto'
import type { Clock } from '../../../server/src/base/clock.ts'
import type { BusinessNumber } from '../world.ts'

/** How webhooks travel; `duplicates` and `reorder` hold for what linked devices are told as well. Zero, one or false is the well-behaved platform. */
export interface DeliveryKnobs {
  delayMs: number
  /** Further copies of every delivery. */
  duplicates: number
  /** The next changes that are lost. */
  drop: number
  /** Changes in one delivery, at most 1,000. */
  batch: number
  /** Changes that are held and then delivered newest first. */
  reorder: number
  /** Holds everything until it is off again. */
  paused: boolean
  escapeSlashes: boolean
  skipDelivered: boolean
}

export const calmDelivery: DeliveryKnobs = {
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
  /** Fields about an account carry the time at their entry. */
  isTimed?: boolean
  /** Deliveries of one lane come one after another. */
  lane?: string
  onTaken?: () => void
}

export type Held = [BusinessNumber, CallbackChange]

export interface Parcel {
  number: BusinessNumber
  body: Buffer
  changes: CallbackChange[]
  lane: string
}

const timeoutMs = 10_000

/** Changes as the deliveries that the knobs make of them. */
export function packed(items: readonly Held[], knobs: DeliveryKnobs, clock: Clock): Parcel[] {
  const parcels: Parcel[] = []
  for (const number of new Set(items.map(([owner]) => owner))) {
    const changes = items.filter(([owner]) => owner === number).map(([, change]) => change)
    for (let at = 0; at < changes.length; at += knobs.batch) {
      const together = changes.slice(at, at + knobs.batch)
      const body = encodeBody(envelope(number, together, clock), knobs.escapeSlashes)
      // Deliveries of one customer keep their order, unless somebody wants them shuffled.
      const lane = knobs.batch > 1 || knobs.reorder > 1 ? number.numberId : (together[0]?.lane ?? number.numberId)
      parcels.push({ number, changes: together, body, lane })
    }
  }
  return parcels
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

/** Posts once; returns the status, or why there is none. */
export async function post({ number, body }: Parcel, stopped: AbortSignal): Promise<string> {
  if (number.callbackUrl === null) return 'no callback'
  try {
    const answer = await fetch(number.callbackUrl, {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.any([stopped, AbortSignal.timeout(timeoutMs)]),
      headers: { 'content-type': 'application/json', ...proofOf(number, body) },
      body: new Uint8Array(body),
    })
    await answer.body?.cancel()
    return String(answer.status)
  } catch {
    return 'no answer'
  }
}

// The platform signs what it sends; a partner shows what it was told to, and signs only by some of its plans.
function proofOf({ appSecret, partner }: BusinessNumber, body: Buffer): Record<string, string> {
  if (partner === null) {
    return { 'user-agent': 'facebookexternalua', 'x-hub-signature-256': signatureOf(body, appSecret) }
  }
  const { headers, signingSecret } = partner
  return signingSecret === null ? headers : { ...headers, 'x-360dialog-signature': signatureOf(body, signingSecret) }
}

/** Asks a callback to prove that it knows the token, as the platform does before it uses one. */
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

/** JSON as the platform writes it: what is not ASCII is escaped, and slashes too when asked. */
function encodeBody(value: unknown, escapeSlashes: boolean): Buffer {
  const ascii = JSON.stringify(value).replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return Buffer.from(escapeSlashes ? ascii.replaceAll('/', '\\/') : ascii, 'latin1')
}

/** The `X-Hub-Signature-256` of raw bytes. */
const signatureOf = (body: Buffer, appSecret: string): string =>
  `sha256=${createHmac('sha256', appSecret).update(body).digest('hex')}`
