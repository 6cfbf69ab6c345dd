import { createHash, timingSafeEqual } from 'node:crypto'
import type { Keyring } from '../../base/sealing/keyring.ts'
import type { ReadSend, SendAnswer, SendAttempt, SendDeps } from './send-deps.ts'
import { KeyUsedOtherwise, outcomeNotKnown } from './send-errors.ts'
import { answerOf, findSend, type SendRow } from './send-queries.ts'
import { settleSend } from './send-settle.ts'

// Real time, whatever the service's clock says: this is about how long a request hangs.
const maxWaitMs = 20_000
const pollMs = 250

/**
 * The first answer to this key, or null when the key is new. While the first send is on its way, on any node, waits for
 * it. Throws 422 when the key stands for another message, 409 NOT_RETRYABLE when the sending process has died or takes
 * longer than 20 s.
 */
export async function recallAnswer(deps: SendDeps, attempt: SendAttempt): Promise<SendAnswer | null> {
  const { sender, key, keyring } = attempt
  const giveUpAt = performance.now() + maxWaitMs
  let woken = Promise.resolve()
  for (;;) {
    const row = await findSend(deps.db.sql, sender.workspaceId, sender.actor.id, key)
    if (row === undefined) return null
    if (!isSameSend(keyring, row, attempt)) throw new KeyUsedOtherwise()
    const answer = answerOf(row.message_id, row)
    if (answer !== null) return { ...answer, isReplay: true }
    if (!row.is_alive) return settleDead(deps, attempt, row)
    if (performance.now() > giveUpAt) throw outcomeNotKnown()
    await woken
    woken = deps.wakes.next(row.conversation_id, pollMs)
  }
}

// The platform may have told since what became of it.
async function settleDead(deps: SendDeps, { sender, keyring }: SendAttempt, row: SendRow): Promise<SendAnswer> {
  const { conversation_id: conversationId, message_id: messageId } = row
  const send = { workspaceId: sender.workspaceId, conversationId, messageId }
  const answer = await settleSend(deps, keyring, send, 'abandoned')
  if (answer === null) throw outcomeNotKnown()
  return { ...answer, isReplay: true }
}

const place = (messageId: string) => ({ table: 'sends', row: messageId, column: 'fingerprint' })

/** What makes two sends of one key the same: the conversation and the message. Sealed, as short texts can be guessed. */
export function fingerprintOf(
  keyring: Keyring,
  messageId: string,
  send: Pick<ReadSend, 'conversationId' | 'command' | 'identity'>,
): Buffer {
  return keyring.seal(place(messageId), digest(send))
}

function isSameSend(
  keyring: Keyring,
  stored: { message_id: string; fingerprint: Uint8Array },
  send: ReadSend,
): boolean {
  const before = keyring.open(place(stored.message_id), stored.fingerprint)
  return timingSafeEqual(before, digest(send))
}

function digest({
  conversationId,
  command,
  identity = command,
}: Pick<ReadSend, 'conversationId' | 'command' | 'identity'>): Buffer {
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
