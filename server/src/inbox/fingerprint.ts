import { timingSafeEqual } from 'node:crypto'
import type { Keyring } from '../base/keyring.ts'
import type { Wish } from './send-input.ts'

const label = 'inbox.send'

/** What makes two sends of one key the same: the conversation and the message. A keyed digest, as the text is secret. */
export function fingerprintOf(keyring: Keyring, conversationId: string, wish: Wish): Buffer {
  return keyring.exact(label, canonical(conversationId, wish))
}

export function isSameSend(keyring: Keyring, stored: Uint8Array, conversationId: string, wish: Wish): boolean {
  const text = canonical(conversationId, wish)
  // The index key may have been rotated since.
  return keyring.indexVersions.some((version) => {
    const digest = keyring.exact(label, text, version)
    return digest.length === stored.length && timingSafeEqual(digest, stored)
  })
}

function canonical(conversationId: string, wish: Wish): string {
  return JSON.stringify([conversationId, sorted(wish)])
}

// The order of an object's keys says nothing; that of a list does.
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return entries.map(([key, member]) => [key, sorted(member)])
}
