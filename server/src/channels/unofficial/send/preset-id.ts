import { createHash } from 'node:crypto'
import type { Recipient } from '../../connector.ts'

/**
 * The id that a message gets at the network. It follows from the message, so that after a crash whatever comes back under it
 * is known to be ours.
 */
export function presetId(correlator: string, connectionId: string): string {
  const digest = createHash('sha256').update(`${correlator} ${connectionId}`).digest('hex')
  return `${presetStart}${digest.slice(0, 18).toUpperCase()}`
}

/** As those of a linked browser begin. */
const presetStart = '3EB0'
const shape = /^3EB0[0-9A-F]{18}$/

/** Whether an id can be one of ours; a browser linked to the same phone makes such ids, too. */
export const mayBePreset = (id: string): boolean => shape.test(id)

/** Where a message to the customer goes; null when there is nowhere. */
export function jidOf({ phone, userId }: Recipient): string | null {
  return phone === null ? lidOf(userId) : phoneJid(phone)
}

/** Where the network expects to hear that the customer's message was read: the chat is named by the hidden id where there is one. */
export function chatJidOf({ phone, userId }: Recipient): string | null {
  return lidOf(userId) ?? (phone === null ? null : phoneJid(phone))
}

const phoneJid = (phone: string) => `${phone}@s.whatsapp.net`
const lidOf = (userId: string | null) => (userId?.endsWith('@lid') === true ? userId : null)
