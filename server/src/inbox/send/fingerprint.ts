import { createHash, timingSafeEqual } from 'node:crypto'
import type { Keyring } from '../../base/sealing/keyring.ts'
import type { ReadSend } from './send-deps.ts'

type SendContent = Pick<ReadSend, 'conversationId' | 'command' | 'identity'>

const place = (messageId: string) => ({ table: 'sends', row: messageId, column: 'fingerprint' })

/** What makes two sends of one key the same: the conversation and the message. Sealed, as short texts can be guessed. */
export function fingerprintOf(keyring: Keyring, messageId: string, send: SendContent): Buffer {
  return keyring.seal(place(messageId), digest(send))
}

export function isSameSend(
  keyring: Keyring,
  stored: { message_id: string; fingerprint: Uint8Array },
  send: SendContent,
): boolean {
  const before = keyring.open(place(stored.message_id), stored.fingerprint)
  return timingSafeEqual(before, digest(send))
}

function digest({ conversationId, command, identity = command }: SendContent): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([conversationId, sorted(identity)]))
    .digest()
}

// The order of an object's keys says nothing; that of a list does.
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return entries.map(([key, member]) => [key, sorted(member)])
}
