import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import type { ChannelEvent } from '../../../src/channels/channel-event.ts'
import { parseCallback } from '../../../src/channels/waba/parse/parse-callback.ts'

// Builders of the platform's payloads; all values are made up.

export const numberId = '700100200300'
export const accountId = '900800700600'
export const ownPhone = '4930123456'
export const customerPhone = '5511987654321'
export const userId = 'BR.77aa88bb99'
export const at = 1_772_000_000

type Fields = Record<string, unknown>

export const change = (field: string, value: Fields): Fields => ({ field, value })

export const payload = (...changes: Fields[]): Fields => ({
  ...{ object: 'whatsapp_business_account', entry: [{ id: accountId, changes }] },
})

export function value(lists: Fields, ofNumber = numberId): Fields {
  return {
    messaging_product: 'whatsapp',
    metadata: { display_phone_number: ownPhone, phone_number_id: ofNumber },
    contacts: [{ profile: { name: 'Ana' }, wa_id: customerPhone }],
    ...lists,
  }
}

let ids = 0

export function message(type: string, content: unknown, more: Fields = {}): Fields {
  const inner = content === undefined ? {} : { [type]: content }
  return { from: customerPhone, id: `wamid.IN${++ids}`, timestamp: String(at), type, ...inner, ...more }
}

export const text = (body: string, more: Fields = {}): Fields => message('text', { body }, more)

export const status = (state: string, more: Fields = {}): Fields => ({
  ...{ id: 'wamid.OUT', status: state, timestamp: String(at), recipient_id: customerPhone, ...more },
})

/** Returns a callback with one field. */
export const callback = (field: string, lists: Fields, ofNumber?: string) =>
  payload(change(field, value(lists, ofNumber)))

/** Returns a callback with these messages. */
export const messages = (...items: Fields[]) => callback('messages', { messages: items })

/** Encodes a body as the platform does: escapes everything beyond ASCII. */
export function bytesOf(body: unknown): Buffer {
  const escaped = JSON.stringify(body).replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return Buffer.from(escaped)
}

export const signatureOf = (secret: string, bytes: Buffer): string =>
  `sha256=${createHmac('sha256', secret).update(bytes).digest('hex')}`

export const parsedAt = new Date('2026-03-10T12:00:00.000Z')
export const parsed = (body: unknown) => parseCallback(body, parsedAt)

/** Returns the events parsed from a callback, in order. */
export const eventsOf = (body: unknown): ChannelEvent[] => parsed(body).items.map(({ event }) => event)

/** Returns the only event parsed from a callback; fails unless it has this type. */
export function onlyEvent<T extends ChannelEvent['type']>(body: unknown, type: T): Extract<ChannelEvent, { type: T }> {
  const events = eventsOf(body)
  assert.deepEqual(
    events.map((event) => event.type),
    [type],
  )
  return events[0] as Extract<ChannelEvent, { type: T }>
}
