import { createHash, timingSafeEqual } from 'node:crypto'
import type { Sql } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { isInProgress, isSendSettled } from '../conversation/dispatches.ts'
import { requireConversation } from '../conversation/queries.ts'
import type { ParsedSend, SendDeps, SendResponse } from './send-deps.ts'
import { IdempotencyKeyReused, outcomeUnknownYet } from './send-errors.ts'
import { responseOf, type StoredResponseRow, settleSend } from './settle-parts.ts'

// Real time, not the service's clock: limits how long a request hangs.
const maxWaitMs = 20_000
const pollMs = 250

/**
 * Returns the first response for a used key; waits for it while the first send is in progress, on any node. Throws 404
 * if the sender cannot see the conversation, 422 if the key was used for another message, 409 NOT_RETRYABLE if the
 * sending process has died or takes longer than 20 s.
 */
export async function replay(deps: SendDeps, send: ParsedSend): Promise<SendResponse> {
  const { sender, conversationId, key } = send
  const keyring = await deps.keyStore.keyring(sender.workspaceId)
  await requireConversation(deps.db.sql, sender, conversationId)
  const deadline = performance.now() + maxWaitMs
  let woken = Promise.resolve()
  for (;;) {
    const row = await findSend(deps.db.sql, sender.workspaceId, sender.actor.id, key)
    if (row === undefined) throw outcomeUnknownYet()
    if (!isSameSend(keyring, row, send)) throw new IdempotencyKeyReused()
    const answer = responseOf(row.message_id, row)
    if (answer !== null) return { ...answer, isReplay: true }
    if (!row.is_alive) return settleAbandoned(deps, sender.workspaceId, row)
    if (performance.now() > deadline) throw outcomeUnknownYet()
    await woken
    woken = deps.wakeups.next(row.conversation_id, pollMs)
  }
}

// The platform may have reported the result since.
async function settleAbandoned(deps: SendDeps, workspaceId: string, row: SendRow): Promise<SendResponse> {
  const { conversation_id: conversationId, message_id: messageId } = row
  const answer = await settleSend(deps, { workspaceId, conversationId, messageId }, 'abandoned')
  if (answer === null) throw outcomeUnknownYet()
  return { ...answer, isReplay: true }
}

interface SendRow extends StoredResponseRow {
  message_id: string
  fingerprint: Buffer
  conversation_id: string
  /** Whether a process is working on it. */
  is_alive: boolean
}

async function findSend(sql: Sql, workspaceId: string, senderId: string, key: string): Promise<SendRow | undefined> {
  const [row] = await sql<SendRow[]>`
    select
      s.fingerprint,
      s.conversation_id,
      s.message_id,
      s.answer_status,
      s.answer_body,
      ${isSendSettled(sql, workspaceId, sql`s.message_id`)} as is_settled,
      ${isInProgress(sql, workspaceId, sql`s.message_id`)} as is_alive
    from sends s
    where s.workspace_id = ${workspaceId}
      and s.sender_id = ${senderId}
      and s.idempotency_key = ${key}`
  return row
}

type SendContent = Pick<ParsedSend, 'conversationId' | 'command' | 'identity'>

const encryptionContext = (messageId: string) => ({ table: 'sends', row: messageId, column: 'fingerprint' })

/** Encrypts the digest that is compared for sends with the same key: it would reveal short texts. */
export function fingerprintOf(keyring: Keyring, messageId: string, send: SendContent): Buffer {
  return keyring.encrypt(encryptionContext(messageId), digest(send))
}

function isSameSend(keyring: Keyring, stored: { message_id: string; fingerprint: Uint8Array }, send: SendContent) {
  const before = keyring.decrypt(encryptionContext(stored.message_id), stored.fingerprint)
  return timingSafeEqual(before, digest(send))
}

function digest({ conversationId, command, identity = command }: SendContent): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([conversationId, sortKeys(identity)]))
    .digest()
}

// The order of object keys is ignored; the order of lists is not.
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return entries.map(([key, member]) => [key, sortKeys(member)])
}
