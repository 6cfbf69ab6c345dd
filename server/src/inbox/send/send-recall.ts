import type { Sql } from '../../base/db.ts'
import { isSameSend } from './fingerprint.ts'
import type { SendAnswer, SendAttempt, SendDeps } from './send-deps.ts'
import { keyUsedOtherwise, outcomeNotKnown } from './send-errors.ts'
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
  const { sender, key, keyring, conversationId, command } = attempt
  const giveUpAt = performance.now() + maxWaitMs
  let woken = Promise.resolve()
  for (;;) {
    const row = await findSend(deps.db.sql, sender.workspaceId, sender.actor.id, key)
    if (row === undefined) return null
    if (!isSameSend(keyring, row, conversationId, command)) throw keyUsedOtherwise()
    const { answer_status: status, answer_body: body } = row
    if (status !== null && body !== null) return { status, body, isReplay: true }
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

interface SendRow {
  message_id: string
  fingerprint: Buffer
  conversation_id: string
  answer_status: number | null
  answer_body: string | null
  /** Whether a process is at work on it. */
  is_alive: boolean
}

export async function findSend(
  sql: Sql,
  workspaceId: string,
  senderId: string,
  key: string,
): Promise<SendRow | undefined> {
  const [row] = await sql<SendRow[]>`
    select
      s.fingerprint,
      s.conversation_id,
      s.message_id,
      s.answer_status,
      s.answer_body,
      coalesce(d.alive_until > clock_timestamp(), false) as is_alive
    from sends s
    left join dispatches d
      on d.workspace_id = s.workspace_id
      and d.message_id = s.message_id
    where s.workspace_id = ${workspaceId}
      and s.sender_id = ${senderId}
      and s.idempotency_key = ${key}`
  return row
}
