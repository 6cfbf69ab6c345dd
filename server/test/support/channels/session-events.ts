import type { SocketEvent } from '../../../src/channels/unofficial/transport/transport.ts'

// Builders of a session's socket events; all values are made up.

export const customerDigits = '5511987650001'
export const customerJid = `${customerDigits}@s.whatsapp.net`
export const customerLid = '70011223344556@lid'
export const at = 1_790_000_000

type Fields = Record<string, unknown>

let ids = 0

/** Returns a message of `messages.upsert`; `more` overrides its fields. */
export function socketMessage(message: unknown, more: Fields = {}, key: Fields = {}): Fields {
  return {
    key: { remoteJid: customerJid, fromMe: false, id: `3A00FF${++ids}`, ...key },
    messageTimestamp: at,
    pushName: 'Ana',
    message,
    ...more,
  }
}

export const upsert = (...messages: unknown[]): SocketEvent => ({
  ...{ event: 'messages.upsert', data: { type: 'notify', messages } },
})

export function statusUpdate(status: unknown, more: Fields = {}, key: Fields = {}): SocketEvent {
  const update = { status, messageTimestamp: at, ...more }
  const item = { key: { remoteJid: customerJid, fromMe: true, id: '3EB0AA', ...key }, update }
  return { event: 'messages.update', data: [item] }
}

export function closed(statusCode?: unknown): SocketEvent {
  const lastDisconnect = { error: { output: { statusCode } }, date: new Date(0) }
  return { event: 'connection.update', data: { connection: 'close', lastDisconnect } }
}
